// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tenants/tenantspage.h"

#include "document/plandocument.h"
#include "models/elementmodel.h"
#include "models/explainpath.h"
#include "models/numberdelegate.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "models/tableview.h"
#include "plan/elements.h"
#include "plan/field_table.h"
#include "problems/problemlist.h"
#include "problems/problemspanel.h"
#include "serving/run_setup.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"
#include "tenants/isolationpane.h"
#include "tenants/trustmodel.h"
#include "tenants/trustview.h"

#include <QAction>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

/// The tenant's letter on a chip of its colour, before its id.
class TenantDelegate final : public NumberDelegate
{
public:
    using NumberDelegate::NumberDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        if (index.column() != 0) {
            NumberDelegate::paint(painter, option, index);
            return;
        }
        const int chip = option.rect.height() - 6;
        QStyleOptionViewItem rest = option;
        rest.rect.setLeft(option.rect.left() + chip + 8);
        painter->fillRect(option.rect,
            option.state.testFlag(QStyle::State_Selected) ? option.palette.brush(QPalette::Highlight)
                                                          : option.palette.brush(QPalette::Base));
        NumberDelegate::paint(painter, rest, index);
        const QColor color = tokensFor(option.palette).tenants[static_cast<std::size_t>(index.row()) % 8];
        const QRect box(option.rect.left() + 5, option.rect.top() + 3, chip, chip);
        painter->save();
        painter->fillRect(box, color);
        painter->setPen(color.lightnessF() < 0.55F ? Qt::white : Qt::black);
        painter->setFont(smallFont(option.font));
        painter->drawText(box, Qt::AlignCenter, tenantLetter(index.row()));
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QSize size = NumberDelegate::sizeHint(option, index);
        if (index.column() == 0)
            size.rwidth() += size.height() + 2; // the chip
        return size;
    }
};

const QStringList columns {QStringLiteral("name"), QStringLiteral("sharingGroup"), QStringLiteral("eligibility"),
    QStringLiteral("identitySource"), QStringLiteral("saltSource"), QStringLiteral("retention"),
    QStringLiteral("retentionSeconds"), QStringLiteral("tiers"), QStringLiteral("loggingBoundary"),
    QStringLiteral("guaranteedBlocks"), QStringLiteral("maximumBlocks")};

} // namespace

TenantsPage::TenantsPage(PlanDocument& document, QWidget* parent)
    : Page(
        QStringLiteral("tenants"), tr("Tenants"), tr("Who may reuse whose state, and whether the policy holds"), parent)
    , m_document(document)
    , m_tenants(new ElementModel(document, QStringLiteral("tenants"), tr("Tenant"), columns, this))
    , m_table(new TableView(this))
    , m_trust(new TrustModel(document, this))
    , m_matrix(new TrustView(*m_trust, this))
    , m_sentence(new ElidedLabel({}, this))
    , m_findings(new ProblemList(this))
    , m_findingsAbout(new ElidedLabel({}, this))
    , m_cost(new IsolationPane(document, this))
{
    m_table->setModel(m_tenants);
    m_table->setItemDelegate(new TenantDelegate(m_table));
    m_table->setAccessibleName(tr("Tenants"));
    m_sentence->setInk(QPalette::PlaceholderText);
    m_sentence->setContentsMargins(8, 0, 8, 0);
    m_findings->setAccessibleName(tr("Policy findings"));
    auto* salt = new QLabel(
        tr("A salt separates; it does not authenticate, encrypt or complete isolation. A stated rule is no proof."),
        this);
    salt->setWordWrap(true);
    salt->setMargin(8);
    salt->setFont(smallFont(font()));
    salt->setAutoFillBackground(true);
    salt->setBackgroundRole(QPalette::Base);

    auto* lower = new QSplitter(Qt::Horizontal, this);
    lower->setObjectName(QStringLiteral("tenantsLower"));
    lower->setChildrenCollapsible(false);
    auto* about = new ElidedLabel(tr("may the row hit what the column stored? A click or Space changes a cell"), this);
    lower->addWidget(pane(tr("Trust matrix"), about, m_matrix, m_sentence));
    lower->addWidget(pane(tr("Policy findings"), m_findingsAbout, m_findings, salt));
    lower->setStretchFactor(0, 1);
    lower->setStretchFactor(1, 1);
    auto* costAbout = new ElidedLabel({}, this);
    connect(m_cost, &IsolationPane::aboutChanged, costAbout, &ElidedLabel::setText);
    connect(m_cost, &IsolationPane::message, this, &TenantsPage::message);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->setObjectName(QStringLiteral("tenantsSplit"));
    split->setChildrenCollapsible(false);
    split->addWidget(m_table);
    split->addWidget(lower);
    split->addWidget(pane(tr("Cost of isolation"), costAbout, m_cost, nullptr));
    split->setStretchFactor(0, 0);
    split->setStretchFactor(1, 2);
    split->setStretchFactor(2, 1);
    split->setSizes({130, 270, 180});
    content()->addWidget(split, 1);
    makeActions();

    connect(
        m_tenants, &ElementModel::editRefused, this, [this](const QString&, const QString& why) { emit message(why); });
    connect(m_tenants, &QAbstractItemModel::modelReset, m_table, &TableView::fitColumns);
    connect(m_tenants, &QAbstractItemModel::dataChanged, m_table, &TableView::fitColumns);
    connect(m_findings, &ProblemList::goToField, this, &TenantsPage::showField);
    connect(m_matrix->selectionModel(), &QItemSelectionModel::currentChanged, this, &TenantsPage::cellSelected);
    connect(m_trust, &QAbstractItemModel::dataChanged, this, &TenantsPage::cellSelected);
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        emit figureSelected(explainPath(index));
        emit selectionText(index.isValid() ? m_tenants->headerData(index.column(), Qt::Horizontal).toString()
                    + QStringLiteral(": ") + index.data().toString()
                                           : QString());
    });
    connect(&document, &PlanDocument::planChanged, this, &TenantsPage::refresh);
    refresh();
    m_table->setColumnsFitted();
}

void TenantsPage::makeActions()
{
    const auto button = [this](const QString& text, void (TenantsPage::*slot)()) {
        auto* action = new QAction(text, this);
        connect(action, &QAction::triggered, this, slot);
        addAction(action); // found by the command field
        auto* out = new QToolButton(this);
        out->setDefaultAction(action);
        headerActions()->addWidget(out);
    };
    button(tr("Add tenant"), &TenantsPage::addTenant);
    button(tr("Remove tenant"), &TenantsPage::removeTenant);
}

QStringList TenantsPage::fieldPrefixes() const
{
    return {QStringLiteral("tenants.")};
}

void TenantsPage::predict()
{
    m_cost->start();
}

bool TenantsPage::showField(const QString& path)
{
    const QModelIndex index = m_tenants->indexOfField(path);
    if (!index.isValid())
        return false;
    m_table->setCurrentIndex(index);
    m_table->scrollTo(index);
    m_table->setFocus(Qt::OtherFocusReason);
    return true;
}

void TenantsPage::addTenant()
{
    const std::string id = freeElementId(m_document.plan(), "tenants", "tenant");
    m_document.edit(tr("Add tenant %1").arg(QString::fromStdString(id)), [&](Plan& plan) {
        const Result<std::string> path = addElement(plan, "tenants", id);
        if (!path) {
            emit message(QString::fromStdString(path.error().text()));
            return;
        }
        (void)setField(plan, *path + ".eligibility", "tenant"); // alone until somebody says otherwise
    });
    showField(QStringLiteral("tenants.%1.name").arg(QString::fromStdString(id)));
}

void TenantsPage::removeTenant()
{
    int row = m_table->currentIndex().row();
    if (row < 0)
        row = m_matrix->currentIndex().row();
    const QString id = m_tenants->idAt(row);
    if (id.isEmpty()) {
        emit message(tr("Select the tenant that shall be removed."));
        return;
    }
    m_document.edit(tr("Remove tenant %1").arg(id), [&](Plan& plan) {
        if (const Result<void> removed = removeElement(plan, "tenants." + id.toStdString()); !removed)
            emit message(QString::fromStdString(removed.error().text()));
    });
}

void TenantsPage::refresh()
{
    Diagnostics findings;
    for (const Diagnostic& diagnostic : m_document.diagnostics()) {
        if (diagnostic.path.starts_with("tenants."))
            findings.push_back(diagnostic);
    }
    std::stable_sort(findings.begin(), findings.end(),
        [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
    m_findings->setProblems(m_document, findings);
    const auto tenants = static_cast<std::int64_t>(m_document.plan().tenants.size());
    m_findingsAbout->setText(
        tr("%1 of %2").arg(countProblems(findings, {}).text(), counted(tenants, tr("tenant"), tr("tenants"))));
    std::vector<SharingDomain> domains = resolveDomains(m_document.plan());
    std::sort(domains.begin(), domains.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    const auto last
        = std::unique(domains.begin(), domains.end(), [](const auto& a, const auto& b) { return a.id == b.id; });
    const auto different = static_cast<std::int64_t>(last - domains.begin());
    setHeadline(tr("%1 in %2")
                    .arg(counted(tenants, tr("tenant"), tr("tenants")),
                        counted(different, tr("sharing domain"), tr("sharing domains"))));
    cellSelected();
}

void TenantsPage::cellSelected()
{
    const QString sentence = m_matrix->currentIndex().data(TrustModel::SentenceRole).toString();
    m_sentence->setText(
        sentence.isEmpty() ? tr("◣ stated, not enforced: the client can be taken for another tenant") : sentence);
    if (!sentence.isEmpty() && m_matrix->hasFocus())
        emit selectionText(sentence);
}

} // namespace kvw::gui
