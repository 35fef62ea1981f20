// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/liveprobepage.h"

#include "live/devicepane.h"
#include "live/evidencepane.h"
#include "live/livecharts.h"
#include "live/phasestrip.h"
#include "live/runsmodel.h"
#include "models/numberdelegate.h"
#include "models/numbertext.h"
#include "style/icons.h"
#include "units/format.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QShowEvent>
#include <QSplitter>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int deviceWidth = 264;
constexpr int topHeight = 320;

void setUpTable(QTableView* view, const QString& name)
{
    view->setAccessibleName(name);
    view->setAlternatingRowColors(true);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->setTabKeyNavigation(false);
    view->setShowGrid(false);
    view->setWordWrap(false);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().height() + 6);
    view->horizontalHeader()->setHighlightSections(false);
}

QWidget* titledPane(QWidget* parent, QWidget* title, QWidget* main)
{
    auto* out = new QWidget(parent);
    auto* layout = new QVBoxLayout(out);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    layout->addWidget(title);
    layout->addWidget(main, 1);
    return out;
}

} // namespace

LiveProbePage::LiveProbePage(PlanDocument& document, QWidget* parent, ClientSettings settings)
    : Page(QStringLiteral("liveprobe"), tr("Live probe"),
        tr("Does the plan hold on this device, by instruments that do not ask the engine"), parent)
    , m_document(document)
    , m_controller(document, std::move(settings))
    , m_preview(document)
    , m_run(new QAction(icon(QStringLiteral("run")), tr("&Run live"), this))
    , m_stop(new QAction(icon(QStringLiteral("stop")), tr("&Stop"), this))
    , m_runButton(new QPushButton(icon(QStringLiteral("run")), tr("Run"), this))
    , m_stopButton(new QPushButton(icon(QStringLiteral("stop")), tr("Cancel"), this))
    , m_phases(new PhaseStrip(this))
    , m_device(new DevicePane(this))
    , m_blocks(new BlocksChart(this))
    , m_rates(new RatesChart(this))
    , m_evidence(new EvidencePane(document, this))
    , m_runs(new RunsModel(document, this))
    , m_runsView(new QTableView(this))
{
    m_run->setShortcut(Qt::Key_F6);
    m_stop->setShortcut(Qt::Key_Escape);
    m_runButton->setObjectName(QStringLiteral("runLive"));
    m_stopButton->setObjectName(QStringLiteral("cancelRun"));
    headerActions()->addWidget(m_runButton);
    headerActions()->addWidget(m_stopButton);
    content()->addWidget(m_phases);
    auto* split = new QSplitter(Qt::Vertical, this);
    split->addWidget(makeTop());
    split->addWidget(m_evidence);
    split->setStretchFactor(0, 1);
    split->setStretchFactor(1, 1);
    split->setSizes({topHeight, topHeight}); // whatever stands in the panes at first
    content()->addWidget(split, 1);
    makeRuns();
    connectAll();
    m_preview.setOptions(m_device->options());
    refresh();
}

LiveProbePage::~LiveProbePage() = default;

QWidget* LiveProbePage::makeTop()
{
    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(m_device);
    scroll->viewport()->setAutoFillBackground(false);
    m_device->setAutoFillBackground(false);
    auto* top = new QSplitter(Qt::Horizontal, this);
    top->addWidget(titledPane(top, paneTitle(tr("Device and size"), top), scroll));
    top->addWidget(m_blocks);
    top->addWidget(m_rates);
    top->setStretchFactor(0, 0);
    top->setStretchFactor(1, 3);
    top->setStretchFactor(2, 2);
    top->setSizes({deviceWidth, 420, 320});
    return top;
}

void LiveProbePage::makeRuns()
{
    m_runsView->setModel(m_runs);
    m_runsView->setObjectName(QStringLiteral("runsTable"));
    setUpTable(m_runsView, tr("Runs"));
    m_runsView->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_runsView->horizontalHeader()->setSectionResizeMode(RunsModel::ResultColumn, QHeaderView::Stretch);
    m_runsView->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    m_runsView->hide();
}

void LiveProbePage::connectAll()
{
    connect(m_run, &QAction::triggered, this, &LiveProbePage::startRun);
    connect(m_runButton, &QPushButton::clicked, m_run, &QAction::trigger);
    connect(m_stop, &QAction::triggered, &m_controller, &LiveController::cancel);
    connect(m_stopButton, &QPushButton::clicked, m_stop, &QAction::trigger);
    connect(&m_controller, &LiveController::message, this, &Page::message);
    connect(&m_controller, &LiveController::changed, this, [this] {
        // After a run its device has another reading.
        if (std::exchange(m_wasRunning, m_controller.isRunning()) && !m_wasRunning
            && m_controller.client().state() != WorkerState::Dead)
            m_controller.client().askDevices();
        refresh();
        emit statusChanged(m_controller.statusText());
        emit badgeChanged();
    });
    connect(&m_controller.client(), &WorkerClient::devicesChanged, this, [this] {
        m_device->setDevices(m_controller.client().devices());
        refresh();
    });
    connect(&m_preview, &LivePreview::changed, this, &LiveProbePage::refresh);
    connect(m_device, &DevicePane::optionsChanged, this, [this] {
        m_preview.setOptions(m_device->options());
        refresh();
    });
    connect(&m_document, &PlanDocument::planChanged, this, &LiveProbePage::refresh);
    connect(&m_document, &PlanDocument::reset, this, [this] { m_shown.clear(); });
    connect(m_evidence, &EvidencePane::figureSelected, this, &Page::figureSelected);
    connect(m_evidence, &EvidencePane::selectionText, this, &Page::selectionText);
    connect(m_runsView->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
        if (index.isValid())
            showRun(m_runs->idAt(index.row()));
    });
}

QString LiveProbePage::badge() const
{
    return m_controller.isRunning() ? QStringLiteral("▶") : QString();
}

LiveController& LiveProbePage::controller()
{
    return m_controller;
}

QAction* LiveProbePage::runAction() const
{
    return m_run;
}

QAction* LiveProbePage::stopAction() const
{
    return m_stop;
}

QWidget* LiveProbePage::side() const
{
    return m_runsView;
}

QString LiveProbePage::sideTitle() const
{
    return tr("Runs");
}

void LiveProbePage::showEvent(QShowEvent* event)
{
    Page::showEvent(event);
    if (event->spontaneous())
        return;
    m_preview.setWanted(true);
    if (m_controller.client().devices().empty())
        m_controller.client().askDevices();
    refresh();
}

void LiveProbePage::hideEvent(QHideEvent* event)
{
    Page::hideEvent(event);
    if (event->spontaneous())
        return;
    m_preview.setWanted(false);
}

void LiveProbePage::changeEvent(QEvent* event)
{
    Page::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_runs) {
        refresh();
    }
}

void LiveProbePage::startRun()
{
    if (!m_run->isEnabled() || !m_document.commitPending())
        return;
    m_shown.clear();
    m_controller.start(m_device->options());
}

void LiveProbePage::showRun(const QString& id)
{
    if (m_shown == id)
        return;
    m_shown = id;
    refresh();
}

QString LiveProbePage::shownRun() const
{
    if (const auto run = shown())
        return run->id;
    const RunReference* reference = shownReference();
    return reference ? QString::fromStdString(reference->id) : QString();
}

QString LiveProbePage::sourceText() const
{
    const QString run = shownRun();
    if (run.isEmpty())
        return tr("prediction of what would run");
    const auto here = shown();
    const RunReference* reference = shownReference();
    const std::string hash = here ? here->planHash : reference->planHash;
    const QString device = here ? here->device : QString::fromStdString(reference->device);
    return (hash == m_document.hash() ? tr("%1, live on %2") : tr("~ %1, live on %2, of an earlier plan"))
        .arg(runTitle(run), device);
}

/// The run of this session that is shown: the chosen one, else the newest.
std::shared_ptr<const LiveResult> LiveProbePage::shown() const
{
    const auto& runs = m_document.runs();
    const auto chosen = std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return run->id == m_shown; });
    if (chosen != runs.end())
        return *chosen;
    return m_shown.isEmpty() && !runs.empty() ? runs.back() : nullptr;
}

/// The run that only the plan file knows, when that is what is shown.
const RunReference* LiveProbePage::shownReference() const
{
    const std::vector<RunReference>& runs = m_document.plan().runs;
    if (shown() || runs.empty())
        return nullptr;
    const auto chosen = std::find_if(
        runs.begin(), runs.end(), [&](const RunReference& run) { return run.id == m_shown.toStdString(); });
    return chosen != runs.end() ? &*chosen : &runs.back();
}

void LiveProbePage::refresh()
{
    const std::shared_ptr<const LiveResult> run = shown();
    const std::shared_ptr<const RunProgress> progress = run ? m_controller.progressOf(run->id) : nullptr;
    const PreviewResult* preview = m_preview.result().get();
    const bool running = m_controller.isRunning();
    m_phases->setProgress(progress, m_device->options().ceilings);
    const Result<Bytes> bytes = preview ? preview->setup.layout.totalBytes() : Result<Bytes>(Bytes {});
    m_phases->setReservation(
        preview && preview->error.isEmpty() && bytes ? QString::fromStdString(format(*bytes)) : QString());
    m_device->setShown(preview, running ? progress.get() : nullptr);
    m_device->setRunning(running);
    refreshActions();
    m_blocks->setRun(run.get(), progress.get());
    m_rates->setRun(run.get(), progress.get());
    refreshEvidence();
    emit sourceTextChanged();
}

void LiveProbePage::refreshActions()
{
    const bool running = m_controller.isRunning();
    const PreviewResult* preview = m_preview.isCurrent() ? m_preview.result().get() : nullptr;
    QString why;
    if (running)
        why = tr("A run goes already; one at a time.");
    else if (preview && !preview->error.isEmpty())
        why = preview->error;
    else
        why = m_device->refusal(preview);
    for (QAction* action : {m_run}) {
        action->setEnabled(why.isEmpty());
        action->setToolTip(why.isEmpty() ? tr("Run the plan's workload on the device (F6)") : why);
        action->setStatusTip(why);
    }
    m_runButton->setEnabled(why.isEmpty());
    m_runButton->setToolTip(m_run->toolTip());
    const bool cancelling = m_controller.isCancelling();
    m_stop->setEnabled(running && !cancelling);
    m_stop->setToolTip(cancelling ? tr("The run ends after its present step or phase.")
            : running             ? tr("End the run with what it has (Esc)")
                                  : tr("No run goes."));
    m_stopButton->setEnabled(m_stop->isEnabled());
    m_stopButton->setText(cancelling ? tr("Cancelling…") : tr("Cancel"));
    m_stopButton->setToolTip(m_stop->toolTip());
    m_runButton->setDefault(!running);
    m_stopButton->setDefault(running);
    setHeadline(headlineText(why).toHtmlEscaped());
}

void LiveProbePage::refreshEvidence()
{
    const RunReference* reference = shownReference();
    const std::shared_ptr<const LiveResult> run = shown();
    const bool running = run && stateOf(*run) == RunState::Running;
    // A run keeps the columns of its own plan, whatever is edited meanwhile.
    if (running && m_preview.isCurrent() && m_preview.result()->planHash == run->planHash)
        m_ofRun = m_preview.result();
    else if (!m_controller.isRunning() || (m_ofRun && running && m_ofRun->planHash != run->planHash))
        m_ofRun.reset();
    m_evidence->setShown(
        {run, reference, running ? m_ofRun : m_preview.result(), running, run ? endingOf(*run) : QString()});
}

/// How a run ended, if it did not come to its end; without a full stop.
QString LiveProbePage::endingOf(const LiveResult& run) const
{
    const RunState state = stateOf(run);
    if (state != RunState::Cancelled && state != RunState::Stopped)
        return {};
    QString out = run.state;
    while (out.endsWith(QLatin1Char('.')))
        out.chop(1);
    return out;
}

/// In the header: why nothing can be run, or what is to be known of the run that is shown.
QString LiveProbePage::headlineText(const QString& refusal) const
{
    const std::shared_ptr<const LiveResult> run = shown();
    if (!m_controller.isRunning() && !refusal.isEmpty())
        return QStringLiteral("✗ ") + refusal;
    if (!run)
        return {};
    if (const QString ending = endingOf(*run); !ending.isEmpty())
        return stateOf(*run) == RunState::Cancelled ? tr("%1 %2").arg(runTitle(run->id), ending)
                                                    : tr("✗ %1: %2").arg(runTitle(run->id), ending);
    return m_document.isStale(*run) ? tr("~ %1 is of an earlier plan").arg(runTitle(run->id)) : QString();
}

std::optional<Explanation> LiveProbePage::explanationOf(const QString& figure) const
{
    return m_evidence->explanationOf(figure);
}

} // namespace kvw::gui
