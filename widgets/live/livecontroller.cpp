// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/livecontroller.h"

#include "models/numbertext.h"
#include "report/report_words.h"
#include "settings/preferences.h"
#include "worker/endings.h"
#include "worker/runstore.h"

#include <QFileInfo>
#include <QFutureWatcher>
#include <QtConcurrentRun>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr qint64 mostEventBytes = qint64 {256} << 20; // a longer event log stays on disk

int numberIn(const std::string& id)
{
    const QString text = QString::fromStdString(id);
    return text.startsWith(QLatin1String("run")) ? text.mid(3).toInt() : 0;
}

std::shared_ptr<LiveResult> resultOf(const RunProgress& progress, const QString& device)
{
    auto out = std::make_shared<LiveResult>();
    out->id = progress.id;
    out->device = device;
    out->state = QStringLiteral("running");
    out->planHash = progress.planHash;
    out->samples = progress.samples;
    if (progress.setup)
        out->setup = *progress.setup;
    return out;
}

} // namespace

QString runTitle(const QString& id)
{
    return QString::fromStdString(runText(id.toStdString()));
}

QString cancelledText(const RunProgress& progress)
{
    if (progress.predictedSteps > 0 && !progress.samples.empty())
        return LiveController::tr("cancelled at step %1 of %2")
            .arg(countText(progress.step), countText(progress.predictedSteps));
    for (auto phase = progress.phases.rbegin(); phase != progress.phases.rend(); ++phase) {
        if (phase->state == PhaseStatus::State::CutShort)
            return LiveController::tr("cancelled in the phase \"%1\"").arg(phaseTitle(phase->phase));
    }
    return LiveController::tr("cancelled");
}

RunState stateOf(const LiveResult& run)
{
    if (run.state == QLatin1String("running"))
        return RunState::Running;
    if (run.state == QLatin1String("done"))
        return RunState::Done;
    return run.state.startsWith(QLatin1String("cancelled")) ? RunState::Cancelled : RunState::Stopped;
}

LiveController::LiveController(PlanDocument& document, ClientSettings settings, QObject* parent)
    : QObject(parent)
    , m_document(document)
    , m_runsFolder(settings.runsFolder)
    , m_client(std::move(settings))
{
    connect(&m_client, &WorkerClient::progressChanged, this, &LiveController::progressed);
    connect(&m_client, &WorkerClient::runEnded, this, &LiveController::ended);
    connect(&m_client, &WorkerClient::devicesChanged, this, &LiveController::changed);
    connect(&m_client, &WorkerClient::stateChanged, this, [this](WorkerState state, const QString& sentence) {
        // While a run goes, its end says it.
        if (state == WorkerState::Dead && !m_client.isRunning() && !sentence.isEmpty() && m_id.isEmpty())
            emit message(sentence);
        emit changed();
    });
    connect(&document, &PlanDocument::reset, this, [this] {
        m_progress.clear();
        m_id.clear();
        m_orphan = m_client.isRunning();
        cancel();
        emit changed();
    });
}

WorkerClient& LiveController::client()
{
    return m_client;
}

bool LiveController::isRunning() const
{
    return m_client.isRunning();
}

const QString& LiveController::currentId() const
{
    return m_id;
}

QString LiveController::nextId() const
{
    int most = 0;
    for (const RunReference& run : m_document.plan().runs)
        most = std::max(most, numberIn(run.id));
    for (const auto& run : m_document.runs())
        most = std::max(most, numberIn(run->id.toStdString()));
    return QStringLiteral("run%1").arg(most + 1);
}

QString LiveController::start(const ProbeOptions& options)
{
    if (m_client.isRunning())
        return m_id;
    RunOrder order;
    order.id = nextId();
    order.plan = m_document.plan();
    order.planHash = m_document.hash();
    order.options = options;
    m_id = order.id;
    m_device = QString::fromStdString(options.device);
    m_orphan = false;
    RunProgress begun;
    begun.id = order.id;
    begun.planHash = order.planHash;
    m_progress[m_id] = std::make_shared<const RunProgress>(begun);
    m_client.run(order);
    m_document.setRun(resultOf(begun, m_device));
    emit changed();
    return m_id;
}

void LiveController::cancel()
{
    if (!m_client.isRunning() || m_cancelling)
        return;
    m_cancelling = true;
    m_client.cancel();
    emit changed();
}

bool LiveController::isCancelling() const
{
    return m_cancelling;
}

std::shared_ptr<const RunProgress> LiveController::progressOf(const QString& id) const
{
    const auto found = m_progress.find(id);
    return found == m_progress.end() ? nullptr : found->second;
}

QString LiveController::statusText() const
{
    const WorkerState state = m_client.state();
    QString out = tr("Worker: %1").arg(stateName(state));
    if (m_client.isRunning())
        out += QStringLiteral(", ") + m_device + (m_cancelling ? tr(", cancelling") : QString());
    return out;
}

void LiveController::progressed()
{
    const std::shared_ptr<const RunProgress> progress = m_client.progress();
    if (m_orphan || !progress)
        return;
    m_progress[progress->id] = progress;
    m_document.setRun(resultOf(*progress, m_device));
    emit changed();
}

void LiveController::ended(const std::shared_ptr<const RunEnd>& end)
{
    m_cancelling = false;
    if (std::exchange(m_orphan, false)) {
        emit changed();
        return;
    }
    m_progress[end->progress.id] = std::make_shared<const RunProgress>(end->progress);
    std::shared_ptr<LiveResult> run = resultOf(end->progress, m_device);
    run->rows = end->rows;
    run->state = end->how == RunEnd::How::Done ? QStringLiteral("done")
        : end->how == RunEnd::How::Cancelled   ? cancelledText(end->progress)
                                               : end->sentence;
    if (end->files) {
        run->recordFile = QString::fromStdString(end->files->record);
        run->eventsFile = end->hasLog ? QString::fromStdString(end->files->events) : QString();
    }
    m_document.setRun(run);
    const bool stored = end->complete && !m_document.isStale(*run);
    if (stored)
        m_document.storeEvidence(*run, QString::fromStdString(isoNow()));
    tellEnd(*end, stored);
    loadEvents(run);
    removeOldRuns();
    emit changed();
}

/// Of those on disk, as many stay as the settings say. In the background: logs may be large.
void LiveController::removeOldRuns()
{
    const QString folder = m_runsFolder.isEmpty() ? Preferences::instance().runsFolder() : m_runsFolder;
    const int kept = Preferences::instance().keptRuns();
    const QStringList inUse = runFoldersOf(m_document);
    (void)QtConcurrent::run([folder, kept, inUse] { removeRuns(oldRuns(storedRuns(folder), kept, inUse)); });
}

void LiveController::tellEnd(const RunEnd& end, bool stored)
{
    const QString id = runTitle(end.progress.id);
    if (end.how == RunEnd::How::Failed || end.how == RunEnd::How::Died)
        emit message(end.progress.samples.empty()
                ? tr("%1 did not run: %2").arg(id, end.sentence)
                : tr("%1 stopped: %2 Its steps and events up to there are kept, without evidence.")
                      .arg(id, end.sentence));
    else if (end.complete && !stored)
        emit message(
            tr("%1 is of an earlier plan: the plan was edited while it ran, so its evidence is not stored.").arg(id));
    else if (end.how == RunEnd::How::Done && !end.complete)
        emit message(tr("%1 ended before every request did: %2").arg(id, end.sentence));
}

void LiveController::loadEvents(const std::shared_ptr<const LiveResult>& run)
{
    if (run->eventsFile.isEmpty() || QFileInfo(run->eventsFile).size() > mostEventBytes)
        return;
    using Loaded = std::shared_ptr<const EventLog>;
    auto* watcher = new QFutureWatcher<Loaded>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, run] {
        watcher->deleteLater();
        const Loaded log = watcher->result();
        const auto& runs = m_document.runs();
        // The same run still: the document may be another one by now.
        if (!log || std::find(runs.begin(), runs.end(), run) == runs.end())
            return;
        auto whole = std::make_shared<LiveResult>(*run);
        whole->events = log;
        m_document.setRun(whole);
    });
    watcher->setFuture(QtConcurrent::run([file = run->eventsFile.toStdString()]() -> Loaded {
        Result<std::unique_ptr<EventLog>> log = EventLog::open(file);
        return log ? Loaded(std::move(*log)) : nullptr;
    }));
}

} // namespace kvw::gui
