// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "prediction/predictionpage.h"

#include "document/plandocument.h"
#include "models/celltablemodel.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "models/tableview.h"
#include "plot/plotview.h"
#include "plot/stateseries.h"
#include "prediction/predictionheadline.h"
#include "prediction/predictionrunner.h"
#include "prediction/predictiontables.h"
#include "serving/explain_record.h"
#include "style/tokens.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <QTimer>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int busyMs = 1000; ///< a run shorter than that shows no progress
constexpr int tenantTableRows = 3; ///< more are scrolled to

/// The names of the plan's tenants, to see when one changes.
QStringList tenantNames(const PlanDocument& document)
{
    QStringList out;
    for (const Tenant& tenant : document.plan().tenants)
        out.push_back(QString::fromStdString(tenant.name));
    return out;
}

QVBoxLayout* column(QWidget* parent)
{
    auto* out = new QVBoxLayout(parent);
    out->setContentsMargins(0, 0, 0, 0);
    out->setSpacing(4);
    return out;
}

} // namespace

PredictionPage::PredictionPage(PlanDocument& document, PredictionRunner& runner, QWidget* parent)
    : Page(QStringLiteral("prediction"), tr("Prediction"),
        tr("What the planned engine would do with the workload, event by event"), parent)
    , m_document(document)
    , m_runner(runner)
    , m_run(new QPushButton(this))
    , m_progress(new QProgressBar(this))
    , m_stack(new QStackedWidget(this))
    , m_empty(new QLabel(this))
    , m_figures(new PredictionHeadline(this))
    , m_outcomes(new QLabel(this))
    , m_stateTitle(paneTitle({}, this))
    , m_state(new PlotView(this))
    , m_tenantModel(new CellTableModel(tenantHeaders(), this))
    , m_hits(new PlotView(this))
    , m_distributionModel(new CellTableModel(distributionHeaders(), this))
    , m_distributionTitle(paneTitle({}, this))
    , m_distribution(new PlotView(this))
    , m_requestModel(new CellTableModel(requestHeaders(), this))
    , m_requestOrder(new QSortFilterProxyModel(this))
    , m_requestTitle(paneTitle({}, this))
{
    headerActions()->addWidget(m_run);
    connect(m_run, &QPushButton::clicked, this, [this] {
        if (m_runner.isRunning())
            m_runner.cancel();
        else
            m_runner.start();
    });
    m_progress->setFixedHeight(3);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the prediction"));
    QSizePolicy keep = m_progress->sizePolicy();
    keep.setRetainSizeWhenHidden(true); // no pane moves when it comes
    m_progress->setSizePolicy(keep);
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_requestModel->setHeaderTips(requestHeaderTips());
    m_requestOrder->setSourceModel(m_requestModel);
    m_requestOrder->setSortRole(SortRole);

    auto* results = new QWidget(m_stack);
    auto* layout = column(results);
    layout->setSpacing(8);
    layout->addWidget(m_figures);
    auto* split = new QSplitter(Qt::Vertical, results);
    split->addWidget(makeCharts());
    split->addWidget(makeRequests());
    split->setStretchFactor(0, 3);
    split->setStretchFactor(1, 2);
    split->setChildrenCollapsible(false);
    layout->addWidget(split, 1);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(results);
    content()->setSpacing(4);
    content()->addWidget(m_progress);
    content()->addWidget(m_stack, 1);

    connect(m_figures, &PredictionHeadline::figureSelected, this, &Page::figureSelected);
    connect(&document, &PlanDocument::predictionChanged, this, &PredictionPage::refresh);
    connect(&document, &PlanDocument::planChanged, this, [this] {
        if (m_document.prediction() && m_names != tenantNames(m_document))
            refresh(); // a tenant has another name
        m_tenantModel->setStale(m_document.isPredictionStale());
        m_distributionModel->setStale(m_document.isPredictionStale());
        m_requestModel->setStale(m_document.isPredictionStale());
        refreshFigures();
        emit badgeChanged();
    });
    connect(&runner, &PredictionRunner::started, this, &PredictionPage::refreshRunning);
    connect(&runner, &PredictionRunner::progressed, this, &PredictionPage::refreshRunning);
    connect(&runner, &PredictionRunner::finished, this, [this] {
        refreshRunning();
        emit selectionText({});
    });
    connect(&runner, &PredictionRunner::message, this, &Page::message);
    refresh();
    refreshRunning();
}

QStringList PredictionPage::fieldPrefixes() const
{
    return {QStringLiteral("workload."), QStringLiteral("admission."), QStringLiteral("engine."),
        QStringLiteral("limits.")};
}

QString PredictionPage::badge() const
{
    if (m_runner.isRunning())
        return QStringLiteral("▶");
    return m_document.isPredictionStale() ? tr("stale") : QString();
}

QString PredictionPage::sourceText() const
{
    if (!m_document.prediction())
        return tr("no prediction yet");
    return m_document.isPredictionStale() ? tr("~ prediction of an earlier plan") : tr("prediction of this plan");
}

TableView* PredictionPage::makeTable(QAbstractItemModel* model, const QString& name)
{
    auto* view = new TableView(this);
    view->setModel(model);
    view->setAccessibleName(name);
    view->setShowGrid(false);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    connect(view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this, view](const QModelIndex& index) {
        if (view->hasFocus()) // else nobody chose it
            emit figureSelected(index.data(FigureRole).toString());
        emit selectionText(index.data(ExactRole).toString());
    });
    return view;
}

/// As high as so many rows, as wide as its pane.
void PredictionPage::fitRows(QTableView* view, int rows)
{
    const int row = fontMetrics().height() + 6;
    QFont small = view->font();
    small.setPointSizeF(small.pointSizeF() * 0.92);
    view->setFont(small);
    view->horizontalHeader()->setFont(small);
    view->horizontalHeader()->setFixedHeight(2 * QFontMetrics(small).height() + 6); // titles have two lines
    view->setFixedHeight(rows * row + view->horizontalHeader()->height() + 2 * view->frameWidth() + 2);
    view->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    view->horizontalHeader()->setMinimumSectionSize(20);
    view->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
    view->horizontalHeader()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
}

QWidget* PredictionPage::makeCharts()
{
    auto* charts = new QSplitter(Qt::Horizontal, m_stack);
    charts->setChildrenCollapsible(false);
    charts->setHandleWidth(8);

    auto* state = new QWidget(charts);
    QVBoxLayout* layout = column(state);
    layout->addWidget(m_stateTitle);
    layout->addWidget(m_state, 1);
    m_state->setAxisTitles(tr("step"), tr("blocks"));

    auto* hits = new QWidget(charts);
    layout = column(hits);
    layout->addWidget(paneTitle(tr("Hits by tenant; first misses by cause"), hits));
    layout->addWidget(m_hits, 1);
    m_hits->setAxisTitles(tr("prompt tokens of admitted requests"), {});
    QTableView* tenants = makeTable(m_tenantModel, tr("Hits by tenant, misses by cause"));
    fitRows(tenants, tenantTableRows);
    tenants->horizontalHeader()->setSectionResizeMode(1, QHeaderView::ResizeToContents); // a percentage is read whole
    layout->addWidget(tenants);

    auto* latencies = new QWidget(charts);
    layout = column(latencies);
    layout->addWidget(m_distributionTitle);
    layout->addWidget(m_distribution, 1);
    m_distributionView = makeTable(m_distributionModel, tr("Steps that requests took, cold and warm"));
    fitRows(m_distributionView, distributionCount);
    connect(m_distributionView->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
        &PredictionPage::refreshDistribution);
    layout->addWidget(m_distributionView);

    charts->addWidget(state);
    charts->addWidget(hits);
    charts->addWidget(latencies);
    charts->setSizes({275, 310, 355});
    charts->setStretchFactor(0, 4);
    charts->setStretchFactor(1, 3);
    charts->setStretchFactor(2, 4);
    return charts;
}

QWidget* PredictionPage::makeRequests()
{
    auto* out = new QWidget(m_stack);
    QVBoxLayout* layout = column(out);
    auto* head = new QHBoxLayout;
    head->addWidget(m_requestTitle);
    head->addStretch(1);
    m_outcomes->setTextFormat(Qt::RichText); // its figures open
    m_outcomes->setForegroundRole(QPalette::PlaceholderText);
    m_outcomes->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse);
    connect(m_outcomes, &QLabel::linkActivated, this, &Page::figureSelected);
    head->addWidget(m_outcomes);
    m_requestView = makeTable(m_requestOrder, tr("Requests"));
    m_requestView->setSortingEnabled(true);
    m_requestView->sortByColumn(0, Qt::AscendingOrder);
    m_requestView->setColumnsFitted();
    m_requestView->setToolTip(tr("A double click shows the request in the block map"));
    connect(m_requestView, &QTableView::activated, this,
        [this](const QModelIndex& index) { emit requestActivated(index.siblingAtColumn(0).data(SortRole).toUInt()); });
    layout->addLayout(head);
    layout->addWidget(m_requestView, 1);
    return out;
}

std::optional<Explanation> PredictionPage::explanationOf(const QString& figure) const
{
    const QString begin = QStringLiteral("prediction.");
    const std::shared_ptr<const PredictionResult>& prediction = m_document.prediction();
    if (!prediction || !figure.startsWith(begin))
        return std::nullopt;
    std::optional<Explanation> out
        = explainRecord(prediction->setup, prediction->record, figure.mid(begin.size()).toStdString());
    if (out)
        out->stale = m_document.isPredictionStale();
    return out;
}

void PredictionPage::refresh()
{
    const std::shared_ptr<const PredictionResult>& prediction = m_document.prediction();
    const std::string hash = prediction ? prediction->setup.planHash : std::string();
    if (hash != m_shownHash) {
        m_before = hash.empty() || m_shownHash.empty() ? QStringList() : m_shownFigures;
        m_shownHash = hash;
    }
    m_shownFigures = prediction ? PredictionHeadline::plainFigures(prediction->record) : QStringList();
    m_stack->setCurrentIndex(prediction ? 1 : 0);
    m_empty->setText(tr("No prediction yet. Predict (F5)."));
    m_names = tenantNames(m_document);
    if (prediction) {
        const RunRecord& record = prediction->record;
        const TenantText tenantText = tenantTextOf(m_document.plan());
        m_requestModel->setRows(requestRows(record, tenantText));
        m_tenantModel->setRows(tenantRows(record, tenantText));
        m_distributionModel->setRows(distributionRows(record));
        m_requestView->fitColumns();
        for (CellTableModel* model : {m_requestModel, m_tenantModel, m_distributionModel})
            model->setStale(m_document.isPredictionStale());
        if (!m_distributionView->currentIndex().isValid())
            m_distributionView->setCurrentIndex(m_distributionModel->index(1, 0));
        refreshPlots();
    }
    refreshFigures();
    emit badgeChanged();
}

void PredictionPage::refreshFigures()
{
    const std::shared_ptr<const PredictionResult>& prediction = m_document.prediction();
    if (!prediction)
        return;
    const RunRecord& record = prediction->record;
    const bool stale = m_document.isPredictionStale();
    const QString mark = stale ? QStringLiteral("~ ") : QString();
    const Assumptions& assumed = prediction->setup.assumptions;
    const auto fallback = std::find_if(assumed.begin(), assumed.end(),
        [](const Assumption& one) { return one.id == "run.shape_pool" || one.id == "run.engine"; });
    const bool other = fallback != assumed.end() && !m_document.plan().engine.name.empty()
        && m_document.plan().engine.name != "none";
    setHeadline(other ? QStringLiteral("◇ ") + tr("not by the chosen engine's rules: shape only") : QString());
    m_figures->setRecord(record, stale, m_before);
    m_outcomes->setText(mark + outcomesText(record, true));
    m_requestTitle->setText(mark + tr("Requests"));
    m_stateTitle->setText(mark + tr("Blocks over steps, of %1").arg(poolBlocksText(prediction->setup.layout)));
    m_stateTitle->setToolTip(QString::fromStdString(prediction->setup.behaviour.rule));
}

void PredictionPage::refreshPlots()
{
    const std::shared_ptr<const PredictionResult>& prediction = m_document.prediction();
    if (!prediction)
        return;
    const Tokens& tokens = tokensFor(palette());
    const RunRecord& record = prediction->record;
    const TenantText tenantText = tenantTextOf(m_document.plan());
    m_state->setSeries(stateSeries(record.samples, prediction->setup.layout, tokens));

    QVector<PlotBar> bars;
    for (const TenantRecord& tenant : record.tenants) {
        const auto hit = static_cast<double>(tenant.hitTokens);
        bars.push_back({tenantText(tenant.id),
            {{tr("prefix hits"), 0, hit, tokens.sequential[4], Qt::SolidPattern, tr("hits")},
                {tr("computed"), hit, static_cast<double>(tenant.promptTokens), tokens.sequential[1], Qt::SolidPattern,
                    tr("computed")}}});
    }
    m_hits->setBars(bars);
    refreshDistribution();
}

void PredictionPage::refreshDistribution()
{
    const std::shared_ptr<const PredictionResult>& prediction = m_document.prediction();
    if (!prediction)
        return;
    const Tokens& tokens = tokensFor(palette());
    const int row = std::max(0, m_distributionView->currentIndex().row());
    QVector<PlotSeries> series;
    qsizetype counts[2] = {};
    for (const bool warm : {false, true}) {
        const StepDistribution distribution = distributionOf(prediction->record, row, warm);
        PlotSeries one {warm ? tr("warm") : tr("cold"), {0.0}, {0.0}, warm ? tokens.tenants[5] : tokens.tenants[0]};
        one.style = warm ? Qt::DashLine : Qt::SolidLine;
        one.step = true;
        const auto count = static_cast<double>(distribution.sorted.size());
        for (std::size_t i = 0; i < distribution.sorted.size(); ++i) {
            one.x.push_back(static_cast<double>(distribution.sorted[i]));
            one.y.push_back(100.0 * static_cast<double>(i + 1) / count);
        }
        counts[warm ? 1 : 0] = static_cast<qsizetype>(distribution.sorted.size());
        if (!distribution.sorted.empty())
            series.push_back(one);
    }
    m_distributionTitle->setText(
        tr("Steps %1: %2 cold, %3 warm").arg(distributionTitle(row), countText(counts[0]), countText(counts[1])));
    m_distributionTitle->setToolTip(tr("Completed requests. Cold: no prefix hit at first admission; "
                                       "warm: some. Steps are not seconds: no coefficients are stated."));
    m_distribution->setAxisTitles(tr("steps %1").arg(distributionTitle(row)), tr("% of requests"));
    m_distribution->setSeries(series);
}

void PredictionPage::refreshRunning()
{
    const bool running = m_runner.isRunning();
    m_run->setText(running ? tr("Stop (Esc)") : tr("Predict (F5)"));
    m_run->setDefault(!running);
    m_progress->setVisible(running && m_runner.elapsedMs() > busyMs);
    m_progress->setRange(0, static_cast<int>(m_runner.requestsOffered()));
    m_progress->setValue(static_cast<int>(m_runner.requestsDone()));
    if (running && m_runner.elapsedMs() > busyMs) {
        emit selectionText(tr("Predicting: %1 of %2 requests, %3 steps, %4 s. Esc stops.")
                               .arg(countText(m_runner.requestsDone()), countText(m_runner.requestsOffered()),
                                   countText(m_runner.steps()), countText(m_runner.elapsedMs() / 1000)));
    }
    emit badgeChanged();
}

void PredictionPage::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange) {
        refreshPlots();
        QTimer::singleShot(0, this, &PredictionPage::refreshFigures); // its parts have the new palette then
    }
    Page::changeEvent(event);
}

} // namespace kvw::gui
