// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "capacity/capacitypage.h"

#include "capacity/budgetview.h"
#include "document/plandocument.h"
#include "models/celltablemodel.h"
#include "models/numberdelegate.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/field_table.h"
#include "plot/plotview.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSplitter>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>

#include <cmath>

namespace kvw::gui {

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr int curvePoints = 96;

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

QString sized(const Quantity& bytes)
{
    const NumberText text = numberText(bytes);
    return text.unit.isEmpty() ? text.number : text.number + QLatin1Char(' ') + text.unit;
}

/// The figure with how it came about in its tooltip.
Cell figure(const std::optional<Quantity>& quantity)
{
    if (!quantity || !quantity->ok())
        return Cell::count(0, true);
    Cell out = Cell::count(quantity->integer());
    out.exact = QStringLiteral("%1 = %2\n= %3")
                    .arg(QString::fromStdString(quantity->name()),
                        QString::fromStdString(formulaInWords(quantity->derivation())),
                        QString::fromStdString(formulaInNumbers(quantity->derivation())));
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
    , m_table(new QTableView(this))
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
    connect(&document, &PlanDocument::planChanged, this, &CapacityPage::planChanged);
    connect(&document, &PlanDocument::reset, this, [this] { m_map->select({}); });
    planChanged();
}

QStringList CapacityPage::fieldPrefixes() const
{
    return {
        QStringLiteral("budget."), QStringLiteral("limits."), QStringLiteral("deployment."), QStringLiteral("loaded.")};
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
    m_table->setItemDelegate(new NumberDelegate(m_table));
    m_table->setAccessibleName(tr("Most sequences at once, by length"));
    m_table->setTabKeyNavigation(false);
    m_table->setAlternatingRowColors(true);
    m_table->setShowGrid(false);
    m_table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_table->setSelectionBehavior(QAbstractItemView::SelectRows);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->verticalHeader()->hide();
    m_table->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    m_table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    m_table->horizontalHeader()->setHighlightSections(false);
    m_model->setHeaderTips({tr("Tokens in each sequence"), tr("Sequences that find blocks, by the engine's rules"),
        tr("Sequences whose ideal need fits into what is available on all ranks"),
        tr("What the engine's rules take of the ideal"), tr("Blocks of one sequence")});
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& index) {
        if (!index.isValid() || !m_table->hasFocus())
            return;
        const LengthCapacity& row = m_lengths[static_cast<std::size_t>(index.row())];
        if (row.engineSequences)
            m_map->select(CapacityMap::Point {row.length, std::max<std::int64_t>(1, row.engineSequences->integer())});
        emit selectionText(index.siblingAtColumn(1).data(ExactRole).toString().section(QLatin1Char('\n'), 0, 0));
    });
    layout->addWidget(m_table, 1);
    m_reasons->setTextFormat(Qt::RichText);
    m_reasons->setForegroundRole(QPalette::WindowText);
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
        budget = budgetOf(m_document.plan(), *estimate);
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

void CapacityPage::refreshMap()
{
    const Plan& plan = m_document.plan();
    const std::vector<std::int64_t> lengths = capacityLengths(plan);
    std::vector<LengthCapacity> columns;
    QString missing;
    if (lengths.empty())
        missing = tr("neither a configured maximum nor the model's longest sequence is stated");
    for (const std::int64_t length :
        CapacityMap::columnLengths(lengths.empty() ? 0 : lengths.front(), lengths.empty() ? 0 : lengths.back())) {
        Result<LengthCapacity> capacity = capacityAt(plan, length);
        if (!capacity)
            missing = QString::fromStdString(capacity.error().text());
        else if (!capacity->engineSequences)
            missing = QString::fromStdString(capacity->missing);
        if (!missing.isEmpty())
            break;
        columns.push_back(std::move(*capacity));
    }
    m_map->setVisible(missing.isEmpty());
    m_mapNote->setVisible(!missing.isEmpty());
    m_mapNote->setText(tr("No capacity map: %1.").arg(missing));
    if (!missing.isEmpty())
        columns.clear();
    std::optional<CapacityMap::Point> mark;
    if (plan.limits.maxModelLen && plan.limits.concurrentSequences)
        mark = CapacityMap::Point {*plan.limits.maxModelLen, *plan.limits.concurrentSequences};
    m_map->setCapacity(std::move(columns), mark);
}

void CapacityPage::refreshTable()
{
    const Plan& plan = m_document.plan();
    m_lengths.clear();
    QVector<QVector<Cell>> rows;
    for (const std::int64_t length : capacityLengths(plan)) {
        Result<LengthCapacity> capacity = capacityAt(plan, length);
        if (!capacity || !capacity->engineSequences)
            continue;
        Cell tokens = Cell::count(length);
        tokens.strong = length == plan.limits.maxModelLen;
        Cell engine = figure(capacity->engineSequences);
        engine.strong = true;
        Cell lost = Cell::count(0, true);
        if (capacity->idealSequences && capacity->idealSequences->ok() && capacity->idealSequences->integer() > 0) {
            const std::int64_t ideal = capacity->idealSequences->integer();
            const std::int64_t less = ideal - capacity->engineSequences->integer();
            lost.text = (less > 0 ? QStringLiteral("−") : QString()) + percentText(less, ideal);
            lost.sort = static_cast<double>(less) / static_cast<double>(ideal);
        }
        rows.push_back({tokens, engine, figure(capacity->idealSequences), lost, figure(capacity->blocksEach)});
        m_lengths.push_back(std::move(*capacity));
    }
    m_model->setRows(rows);
}

void CapacityPage::refreshReasons()
{
    const Plan& plan = m_document.plan();
    const Estimate* estimate = m_document.estimate();
    QString headline;
    QString text;
    if (estimate && plan.limits.maxModelLen) {
        const EngineSizing& engine = estimate->engine;
        QStringList parts;
        for (const NeedDifference& difference : engine.differences) {
            if (difference.bytes.ok() && difference.bytes.integer() != 0)
                parts.push_back(
                    QStringLiteral("%1 %2").arg(QString::fromStdString(difference.title), sized(difference.bytes)));
        }
        const Result<LengthCapacity> here = capacityAt(plan, *plan.limits.maxModelLen);
        if (here && here->heldBlocks && here->heldBlocks->integer() > 0)
            parts.push_back(tr("%1 block of the pool is never given away").arg(countText(here->heldBlocks->integer())));
        if (engine.engineNeedBytes)
            text += tr("<b>Why the lines part</b><br>At %1 tokens, for the planned sequences: %2.")
                        .arg(countText(*plan.limits.maxModelLen),
                            parts.isEmpty() ? tr("they do not") : parts.join(QStringLiteral(", ")));
        if (engine.availableBytes && engine.blocks)
            headline = tr("Limit: pool of each rank, %1 blocks").arg(countText(engine.blocks->integer()));
        QString two;
        if (engine.availableBytes)
            two += tr("<br>Available memory %1, per rank").arg(sized(*engine.availableBytes));
        if (engine.largestLength)
            two += tr("<br>Longest request %1 tokens, of one request alone").arg(sized(*engine.largestLength));
        if (!two.isEmpty())
            text += tr("<p><b>Two figures, two reasons</b>%1</p>").arg(two);
        const std::vector<LimitMove> moves = limitMoves(plan);
        if (!moves.empty()) {
            text += tr("<b>What would move the limit at %1 tokens</b><table width='100%'>")
                        .arg(countText(*plan.limits.maxModelLen));
            for (const LimitMove& move : moves)
                text += QStringLiteral("<tr><td>%1</td><td align='right'><b>%2</b></td></tr>")
                            .arg(QString::fromStdString(move.title), countText(move.sequences));
            text += QStringLiteral("</table>");
        }
    }
    setHeadline(headline);
    m_reasons->setText(text);
    m_reasons->setVisible(!text.isEmpty());
}

void CapacityPage::refreshBytes()
{
    const Plan& plan = m_document.plan();
    const Tokens& tokens = tokensFor(palette());
    const Estimate* estimate = m_document.estimate();
    const std::vector<std::int64_t> known = capacityLengths(plan);
    const std::int64_t most = plan.limits.maxModelLen.value_or(known.empty() ? 0 : known.back());
    std::vector<std::int64_t> lengths;
    for (int i = 0; most > 0 && i <= curvePoints; ++i)
        lengths.push_back(static_cast<std::int64_t>(static_cast<double>(most) * i / curvePoints));
    const Result<std::vector<std::vector<std::int64_t>>> bytes = bytesOverTokens(plan, lengths);
    if (!bytes || lengths.empty()) {
        m_bytes->clear();
        return;
    }
    const std::array colors {tokens.tenants[0], tokens.tenants[5], tokens.tenants[4], tokens.tenants[6]};
    QVector<PlotSeries> series;
    for (std::size_t g = 0; g < bytes->size(); ++g) {
        if (plan.worksheet.groups[g].tensors.empty())
            continue;
        PlotSeries one {QString::fromStdString(plan.worksheet.groups[g].name.empty() ? plan.worksheet.groups[g].id
                                                                                     : plan.worksheet.groups[g].name),
            {}, {}, colors[g % colors.size()]};
        one.filled = true;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            one.x.push_back(static_cast<double>(lengths[i]));
            one.y.push_back(static_cast<double>((*bytes)[g][i]) / gib);
        }
        series.push_back(one);
    }
    QVector<PlotLimit> limits;
    if (plan.limits.maxModelLen)
        limits.push_back({tr("┄ configured"), static_cast<double>(*plan.limits.maxModelLen), true});
    if (plan.worksheet.retainedTokens)
        limits.push_back({tr("■ retained"), static_cast<double>(*plan.worksheet.retainedTokens), true});
    if (estimate && estimate->reservedBytes)
        limits.push_back(
            {tr("▣ reserved %1").arg(sized(*estimate->reservedBytes)), estimate->reservedBytes->real() / gib, false});
    m_bytes->setSeries(series, limits);
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
        refreshBytes();
    Page::changeEvent(event);
}

} // namespace kvw::gui
