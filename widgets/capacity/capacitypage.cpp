// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "capacity/capacitypage.h"

#include "capacity/budgetview.h"
#include "document/plandocument.h"
#include "estimate/explain_capacity.h"
#include "models/celltablemodel.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "models/tableview.h"
#include "plan/field_table.h"
#include "plot/plotview.h"
#include "style/tokens.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QTimer>
#include <QVBoxLayout>

namespace kvw::gui {

namespace {

QVBoxLayout* column(QWidget* parent)
{
    auto* out = new QVBoxLayout(parent);
    out->setContentsMargins(0, 0, 0, 0);
    out->setSpacing(4);
    return out;
}

QLabel* note(QWidget* parent)
{
    auto* out = new QLabel(parent);
    out->setWordWrap(true);
    out->setForegroundRole(QPalette::PlaceholderText);
    out->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return out;
}

} // namespace

CapacityPage::CapacityPage(PlanDocument& document, QWidget* parent)
    : Page(QStringLiteral("capacity"), tr("Capacity"),
        tr("How many sequences of which length fit, and what sets the limit"), parent)
    , m_document(document)
    , m_use(new QPushButton(tr("Use as plan"), this))
    , m_map(new CapacityMap(this))
    , m_mapNote(note(this))
    , m_chosen(note(this))
    , m_model(new CellTableModel({tr("Tokens"), tr("Engine"), tr("Ideal"), tr("Lost"), tr("Blocks")}, this))
    , m_table(new TableView(this))
    , m_reasons(note(this))
    , m_budget(new BudgetView(this))
    , m_budgetNote(note(this))
    , m_bytes(new PlotView(this))
{
    headerActions()->addWidget(m_use);
    m_use->setToolTip(tr("Makes the chosen length and number of sequences the plan's; one undo step"));
    auto* upper = new QSplitter(Qt::Horizontal, this);
    upper->setChildrenCollapsible(false);
    upper->setHandleWidth(8);
    upper->addWidget(makeMap());
    upper->addWidget(makeTable());
    upper->setSizes({600, 380});
    upper->setStretchFactor(0, 3);
    upper->setStretchFactor(1, 2);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->setChildrenCollapsible(false);
    split->setHandleWidth(8);
    split->addWidget(upper);
    split->addWidget(makeLower());
    split->setSizes({440, 210});
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 1);
    content()->addWidget(split, 1);

    connect(m_use, &QPushButton::clicked, this, &CapacityPage::useAsPlan);
    connect(m_map, &CapacityMap::selectionChanged, this, &CapacityPage::refreshSelection);
    connect(m_map, &CapacityMap::figureSelected, this, &CapacityPage::figureSelected);
    connect(m_budget, &BudgetView::figureSelected, this, &CapacityPage::figureSelected);
    connect(&document, &PlanDocument::planChanged, this, &CapacityPage::planChanged);
    connect(&document, &PlanDocument::reset, this, [this] { m_map->select({}); });
    planChanged();
}

QStringList CapacityPage::fieldPrefixes() const
{
    return {
        QStringLiteral("budget."), QStringLiteral("limits."), QStringLiteral("deployment."), QStringLiteral("loaded.")};
}

std::optional<Explanation> CapacityPage::explanationOf(const QString& figure) const
{
    const QString begin = QStringLiteral("capacity.");
    if (!figure.startsWith(begin))
        return std::nullopt;
    return explainCapacity(m_document.plan(), figure.mid(begin.size()).toStdString());
}

CapacityMap& CapacityPage::map()
{
    return *m_map;
}

QWidget* CapacityPage::makeMap()
{
    auto* out = new QWidget(this);
    QVBoxLayout* layout = column(out);
    layout->addWidget(paneTitle(tr("Length and concurrency: every sequence at that length, no prefix shared"), out));
    layout->addWidget(m_map, 1);
    m_mapNote->setAlignment(Qt::AlignCenter);
    m_mapNote->setTextFormat(Qt::RichText);
    m_mapNote->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(m_mapNote, &QLabel::linkActivated, this, &Page::fieldRequested);
    layout->addWidget(m_mapNote, 1);
    layout->addWidget(m_chosen);
    return out;
}

QWidget* CapacityPage::makeTable()
{
    auto* out = new QWidget(this);
    QVBoxLayout* layout = column(out);
    layout->addWidget(paneTitle(tr("Most sequences at once"), out));
    m_table->setModel(m_model);
    m_table->setAccessibleName(tr("Most sequences at once, by length"));
    m_table->setShowGrid(false);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->horizontalHeader()->setSectionResizeMode(3, QHeaderView::ResizeToContents); // a percentage is read whole
    m_model->setHeaderTips({tr("Tokens in each sequence"), tr("Sequences that find blocks, by the engine's rules"),
        tr("Sequences whose ideal need fits into what is available on all ranks"),
        tr("What the engine's rules take of the ideal"), tr("Blocks of one sequence")});
    connect(m_table->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (!index.isValid() || !m_table->hasFocus())
            return;
        const LengthCapacity& row = m_lengths[static_cast<std::size_t>(index.row())];
        if (row.engineSequences)
            m_map->select(CapacityMap::Point {row.length, std::max<std::int64_t>(1, row.engineSequences->integer())});
        emit selectionText(index.data(ExactRole).toString());
        emit figureSelected(index.data(FigureRole).toString());
    });
    layout->addWidget(m_table, 1);
    m_reasons->setTextFormat(Qt::RichText);
    m_reasons->setForegroundRole(QPalette::WindowText);
    m_reasons->setTextInteractionFlags(
        Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(m_reasons, &QLabel::linkActivated, this, &Page::figureSelected);
    layout->addWidget(m_reasons);
    return out;
}

QWidget* CapacityPage::makeLower()
{
    auto* out = new QSplitter(Qt::Horizontal, this);
    out->setChildrenCollapsible(false);
    out->setHandleWidth(8);
    auto* budget = new QWidget(out);
    QVBoxLayout* layout = column(budget);
    layout->addWidget(paneTitle(tr("Device budget, by rank; outlined: the pool"), budget));
    layout->addWidget(m_budget, 1);
    layout->addWidget(m_budgetNote);
    auto* bytes = new QWidget(out);
    layout = column(bytes);
    layout->addWidget(paneTitle(tr("Planned sequences: ideal bytes over tokens, by layer group"), bytes));
    layout->addWidget(m_bytes, 1);
    m_bytes->setAxisTitles(tr("tokens in each sequence"), tr("GiB"));
    out->addWidget(budget);
    out->addWidget(bytes);
    out->setSizes({560, 420});
    out->setStretchFactor(0, 3);
    out->setStretchFactor(1, 2);
    return out;
}

void CapacityPage::planChanged()
{
    m_dirty = true;
    if (isVisible())
        refresh();
}

void CapacityPage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (m_dirty)
        refresh();
}

void CapacityPage::refresh()
{
    m_dirty = false;
    refreshMap();
    refreshTable();
    refreshReasons();
    refreshBytes();
    const Estimate* estimate = m_document.estimate();
    Budget budget;
    if (estimate)
        budget = estimate->budget;
    else
        budget.missing = m_document.estimateError().toStdString();
    QStringList missing;
    for (const std::string& part : budget.notStated)
        missing.push_back(QString::fromStdString(part));
    m_budgetNote->setText(missing.isEmpty()
            ? QString()
            : QStringLiteral("⚠ ") + tr("Not stated: %1.").arg(missing.join(QStringLiteral(", "))));
    m_budgetNote->setVisible(!missing.isEmpty());
    m_budget->setBudget(std::move(budget));
    refreshSelection();
}

void CapacityPage::refreshSelection()
{
    const std::optional<CapacityMap::Point> point = m_map->selected();
    QString text = tr("Click a cell or choose a row of the table to try it.");
    bool usable = false;
    if (point) {
        const Result<LengthCapacity> capacity = capacityAt(m_document.plan(), point->length);
        const std::optional<double> share = capacity ? capacity->shareOf(point->sequences) : std::nullopt;
        if (share) {
            usable = true;
            text = tr("%1 × %2 tokens: %3 × %4 of %5 usable blocks = %6 %, %7 (most %8)")
                       .arg(countText(point->sequences), countText(point->length), countText(point->sequences),
                           countText(capacity->blocksEach->integer()), countText(capacity->usableBlocks->integer()),
                           QLocale().toString(*share * 100, 'f', 1), *share <= 1 ? tr("fits") : tr("does not fit"),
                           countText(capacity->engineSequences->integer()));
        }
        emit selectionText(text);
    }
    m_use->setEnabled(usable);
    m_chosen->setText(text);
    m_chosen->setVisible(m_map->isVisibleTo(this));
}

void CapacityPage::useAsPlan()
{
    const std::optional<CapacityMap::Point> point = m_map->selected();
    if (!point)
        return;
    m_document.edit(
        tr("Plan %1 × %2 tokens").arg(countText(point->sequences), countText(point->length)), [&](Plan& plan) {
            (void)setField(plan, "limits.maxModelLen", std::to_string(point->length));
            (void)setField(plan, "limits.concurrentSequences", std::to_string(point->sequences));
        });
}

void CapacityPage::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange && !m_dirty)
        QTimer::singleShot(0, this, &CapacityPage::refresh); // its parts have the new palette then
    Page::changeEvent(event);
}

} // namespace kvw::gui
