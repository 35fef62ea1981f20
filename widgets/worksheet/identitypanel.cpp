// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/identitypanel.h"

#include "document/plandocument.h"
#include "models/numbertext.h"
#include "plan/identity.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QEvent>
#include <QGridLayout>
#include <QToolButton>

namespace kvw::gui {

namespace {

constexpr int columns = 4;
constexpr int lowWindow = 800;

std::vector<IdentityRow> factsOf(const Plan& plan)
{
    std::vector<IdentityRow> rows = identityOf(plan);
    std::optional<std::string> loaded;
    if (plan.loaded.weightBytes)
        loaded = format(Bytes(*plan.loaded.weightBytes)) + " of weights";
    if (loaded && plan.limits.concurrentSequences)
        *loaded += "; " + grouped(*plan.limits.concurrentSequences) + " sequences active";
    rows.push_back({"loaded", "Loaded and active", loaded, {"loaded.weightBytes"}});
    return rows;
}

} // namespace

IdentityPanel::IdentityPanel(PlanDocument& document, QWidget* parent)
    : QFrame(parent)
    , m_document(document)
    , m_fold(new QToolButton(this))
    , m_line(new ElidedLabel({}, this))
    , m_missing(new ElidedLabel({}, this))
    , m_grid(new QWidget(this))
{
    setObjectName(QStringLiteral("identity"));
    setFrameShape(QFrame::StyledPanel);
    m_fold->setAutoRaise(true);
    m_fold->setIconSize({8, 8});
    m_fold->setAccessibleName(tr("Identity, folded or open"));
    m_line->setInk(QPalette::PlaceholderText);
    auto* title = new ElidedLabel(tr("Identity"), this);
    title->setFont(strongFont(font()));
    title->setMinimumWidth(title->sizeHint().width());

    auto* head = new QHBoxLayout;
    head->setSpacing(6);
    head->addWidget(m_fold);
    head->addWidget(title);
    head->addWidget(m_line, 1);
    head->addWidget(m_missing);
    auto* grid = new QGridLayout(m_grid);
    grid->setContentsMargins(4, 0, 4, 2);
    grid->setHorizontalSpacing(16);
    grid->setVerticalSpacing(0);
    const std::vector<IdentityRow> rows = factsOf(document.plan());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Fact fact;
        fact.path = QString::fromStdString(rows[i].paths.front());
        fact.title = new ElidedLabel(QString::fromStdString(rows[i].title), m_grid);
        fact.title->setFont(smallFont(font()));
        fact.title->setInk(QPalette::PlaceholderText);
        fact.value = new ElidedLabel({}, m_grid);
        fact.value->setCursor(Qt::PointingHandCursor);
        fact.value->installEventFilter(this);
        const int row = static_cast<int>(i) / columns * 2;
        const int column = static_cast<int>(i) % columns;
        grid->addWidget(fact.title, row, column);
        grid->addWidget(fact.value, row + 1, column);
        grid->setColumnStretch(column, 1);
        m_facts.push_back(fact);
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 2, 8, 2);
    layout->setSpacing(2);
    layout->addLayout(head);
    layout->addWidget(m_grid);
    connect(m_fold, &QToolButton::clicked, this, [this] {
        m_chosen = true;
        setFolded(!isFolded());
    });
    connect(&document, &PlanDocument::planChanged, this, &IdentityPanel::refresh);
    setFolded(false);
}

bool IdentityPanel::isFolded() const
{
    return m_grid->isHidden();
}

void IdentityPanel::setFolded(bool folded)
{
    m_grid->setVisible(!folded);
    m_line->setInk(QPalette::PlaceholderText); // keeps its place, so that what is missing stays at the right
    refresh();
    m_fold->setArrowType(folded ? Qt::RightArrow : Qt::DownArrow);
}

void IdentityPanel::foldFor(int windowHeight)
{
    if (!m_chosen)
        setFolded(windowHeight < lowWindow);
}

void IdentityPanel::refresh()
{
    const Tokens& tokens = tokensFor(palette());
    const std::vector<IdentityRow> rows = factsOf(m_document.plan());
    QStringList line;
    int missing = 0;
    if (!m_document.plan().model.name.empty())
        line.push_back(QString::fromStdString(m_document.plan().model.name));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool stated = rows[i].text.has_value();
        const QString text = stated ? QString::fromStdString(*rows[i].text) : QStringLiteral("⚠ ") + tr("not stated");
        ElidedLabel* value = m_facts[static_cast<int>(i)].value;
        value->setText(text);
        value->setInk(QPalette::WindowText, stated ? QColor() : tokens.warning);
        if (stated && rows[i].id != "model_revision" && rows[i].id != "tokenizer_revision")
            line.push_back(text);
        missing += !stated && rows[i].id != "loaded";
    }
    // Open, the facts stand below; of what model they are is none of them.
    m_line->setText(
        isFolded() ? line.join(QStringLiteral(" · ")) : QString::fromStdString(m_document.plan().model.name));
    m_missing->setText(missing == 0 ? tr("all 11 stated") : tr("⚠ %1 of 11 not stated").arg(missing));
    m_missing->setInk(QPalette::PlaceholderText, missing == 0 ? QColor() : tokens.warning);
}

bool IdentityPanel::eventFilter(QObject* object, QEvent* event)
{
    if (event->type() == QEvent::MouseButtonRelease) {
        for (const Fact& fact : std::as_const(m_facts)) {
            if (fact.value == object)
                emit goToField(fact.path);
        }
    }
    return QFrame::eventFilter(object, event);
}

void IdentityPanel::changeEvent(QEvent* event)
{
    QFrame::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refresh();
}

} // namespace kvw::gui
