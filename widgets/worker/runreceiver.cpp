// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worker/runreceiver.h"

#include "worker/endings.h"
#include "worker/request_json.h"
#include "worker/runstore.h"

#include <QDateTime>
#include <QDir>
#include <QFile>

#include <algorithm>
#include <type_traits>

namespace kvw::gui {

namespace {

Error unexpected(const worker::Message& message)
{
    return {"protocol.order", "this message is not expected now", {}, worker::messageName(worker::typeOf(message))};
}

/// A folder of its own for the run, named after the time.
Result<QString> makeFolder(const QString& runsFolder, const QString& id)
{
    const QString stem = QDateTime::currentDateTimeUtc().toString(QStringLiteral("yyyyMMdd-HHmmss-")) + id;
    if (!QDir().mkpath(runsFolder))
        return Error {"io.folder", "the folder of the runs cannot be made", {runsFolder.toStdString(), {}}};
    for (int i = 1; i < 1000; ++i) {
        const QString name = i == 1 ? stem : stem + QStringLiteral("-%1").arg(i);
        if (QDir(runsFolder).mkdir(name))
            return QDir(runsFolder).filePath(name);
        if (!QFile::exists(QDir(runsFolder).filePath(name)))
            break;
    }
    return Error {"io.folder", "the folder of the run cannot be made", {runsFolder.toStdString(), {}}};
}

} // namespace

RunReceiver::RunReceiver(std::uint64_t request, RunProgress progress, std::unique_ptr<worker::RunSpool> spool)
    : m_request(request)
    , m_progress(std::move(progress))
    , m_spool(std::move(spool))
{}

Result<std::unique_ptr<RunReceiver>> RunReceiver::begin(
    const RunOrder& order, std::uint64_t request, const QString& runsFolder)
{
    Plan plan = order.plan;
    Result<RunSetup> setup = setUpProbe(plan, order.options);
    if (!setup)
        return setup.error();
    const Result<QString> folder = makeFolder(runsFolder, order.id);
    if (!folder)
        return folder.error();
    RunRecord about;
    about.kind = "live run";
    about.device = order.options.device;
    about.planHash = setup->planHash;
    about.workloadHash = setup->workload.sha256();
    about.poolFraction = setup->poolFraction;
    Result<std::unique_ptr<worker::RunSpool>> spool = worker::RunSpool::create(folder->toStdString(), about, *setup);
    if (!spool)
        return spool.error();
    RunProgress progress;
    progress.id = order.id;
    progress.planHash = order.planHash;
    progress.setup = std::make_shared<const RunSetup>(std::move(*setup));
    std::unique_ptr<RunReceiver> out(new RunReceiver(request, std::move(progress), std::move(*spool)));
    out->m_lock = std::make_unique<QLockFile>(*folder + QLatin1Char('/') + runLockName());
    out->m_lock->setStaleLockTime(0);
    (void)out->m_lock->tryLock(0); // a new folder: only a file system without locks refuses
    return out;
}

std::uint64_t RunReceiver::request() const
{
    return m_request;
}

bool RunReceiver::ended() const
{
    return m_ended;
}

const std::optional<Error>& RunReceiver::trouble() const
{
    return m_trouble;
}

const RunProgress& RunReceiver::progress() const
{
    return m_progress;
}

RunProgress RunReceiver::snapshot() const
{
    RunProgress out = m_progress;
    out.samples = m_trace.samples();
    return out;
}

void RunReceiver::setCancelling()
{
    m_progress.cancelling = true;
}

void RunReceiver::log(const QByteArray& text)
{
    QFile file(QString::fromStdString(m_spool->files().folder) + QStringLiteral("/worker.log"));
    if (file.size() < (qint64 {1} << 20) && file.open(QIODevice::Append))
        file.write(text);
}

Result<void> RunReceiver::take(const worker::Message& message)
{
    if (const auto* accepted = std::get_if<worker::Accepted>(&message))
        return takeAccepted(*accepted);
    if (const auto* failed = std::get_if<worker::Failed>(&message)) {
        m_failed = failed->error;
        m_ended = true;
        return {};
    }
    if (!m_accepted)
        return unexpected(message);
    if (const auto* phase = std::get_if<worker::Phase>(&message))
        return takePhase(*phase);
    if (const auto* samples = std::get_if<worker::Samples>(&message)) {
        for (const StepSample& sample : samples->samples)
            m_trace.add(sample);
        if (!samples->samples.empty())
            m_progress.step = samples->samples.back().step;
        return spooled(m_spool->take(*samples));
    }
    if (const auto* header = std::get_if<worker::LogHeader>(&message))
        return spooled(m_spool->take(*header));
    if (const auto* digests = std::get_if<worker::Digests>(&message))
        return spooled(m_trouble ? Result<void>() : m_spool->take(*digests));
    if (const auto* events = std::get_if<worker::Events>(&message)) {
        Result<void> taken = spooled(m_trouble ? Result<void>() : m_spool->take(*events));
        m_progress.events = static_cast<std::int64_t>(m_spool->events());
        return taken;
    }
    if (const auto* evidence = std::get_if<worker::Evidence>(&message))
        return takeEvidence(*evidence);
    if (const auto* done = std::get_if<worker::Done>(&message))
        return takeDone(*done);
    return unexpected(message);
}

/// Lets through what is wrong with the message; what is wrong with the disk becomes the run's trouble.
Result<void> RunReceiver::spooled(Result<void> taken)
{
    if (taken || !taken.error().code.starts_with("io."))
        return taken;
    if (!m_trouble)
        m_trouble = taken.error();
    return {};
}

Result<void> RunReceiver::takeAccepted(const worker::Accepted& message)
{
    if (m_accepted)
        return unexpected(message);
    m_accepted = true;
    for (const std::string& name : message.phases) {
        const std::optional<ProbePhase> phase = phaseFromName(name);
        const bool known = phase && (m_progress.phases.empty() || m_progress.phases.back().phase < *phase);
        if (!known)
            return Error {"protocol.format", "the phases are not those of a probe", {}, name};
        m_progress.phases.push_back({*phase, PhaseStatus::State::Waiting, 0});
    }
    return {};
}

Result<void> RunReceiver::takePhase(const worker::Phase& message)
{
    const auto status = std::find_if(m_progress.phases.begin(), m_progress.phases.end(),
        [&](const PhaseStatus& one) { return one.phase == message.phase; });
    const PhaseStatus::State before = message.begins ? PhaseStatus::State::Waiting : PhaseStatus::State::Running;
    const std::optional<ProbePhase> running = runningPhase(m_progress);
    if (status == m_progress.phases.end() || status->state != before || (message.begins && running))
        return Error {
            "protocol.order", "a phase begins or ends out of order", {}, std::string(phaseName(message.phase))};
    status->state = message.begins ? PhaseStatus::State::Running : PhaseStatus::State::Done;
    status->seconds = message.seconds;
    if (message.reservation) {
        m_progress.reservation = message.reservation;
        m_progress.predictedSteps = message.reservation->predictedSteps;
        compareReservation(*message.reservation);
    }
    if (message.memory)
        m_progress.memory = message.memory;
    if (message.ceilings)
        m_progress.ceilings = message.ceilings;
    if (!message.begins)
        m_overflow = message.overflow.events;
    return {};
}

void RunReceiver::compareReservation(const PoolReservation& reservation)
{
    const std::vector<PoolSpec>& mine = m_progress.setup->layout.pools;
    const bool same = std::equal(mine.begin(), mine.end(), reservation.pools.begin(), reservation.pools.end(),
        [](const PoolSpec& a, const PoolSpec& b) {
            return a.blocks == b.blocks && a.held == b.held && a.blockBytes == b.blockBytes;
        });
    if (!same && !m_trouble)
        m_trouble = Error {"run.setup", "the worker would reserve other pools than this program worked out"};
}

Result<void> RunReceiver::takeEvidence(const worker::Evidence& message)
{
    Result<std::optional<std::string>> text = m_evidenceText.add(message.id, message.text, message.more);
    if (!text)
        return text.error();
    if (!*text)
        return {};
    Result<std::vector<EvidenceRow>> rows = worker::evidenceFromJson(**text, "evidence");
    if (!rows)
        return rows.error();
    m_rows = std::move(*rows);
    return {};
}

Result<void> RunReceiver::takeDone(const worker::Done& message)
{
    Result<std::optional<std::string>> text = m_resultText.add(message.id, message.text, message.more);
    if (!text)
        return text.error();
    if (!*text)
        return {};
    m_ended = true;
    (void)spooled(m_spool->takeResult(**text));
    Result<worker::ProbeOutcome> outcome = worker::probeOutcomeFromJson(**text, "result");
    if (outcome)
        m_outcome = std::move(*outcome);
    else
        m_unread = outcome.error();
    return {};
}

RunEnd RunReceiver::end(const QString& death)
{
    using How = RunEnd::How;
    RunEnd out;
    if (!death.isEmpty() && !m_ended) {
        out.how = How::Died;
        out.sentence = death;
    } else if (m_failed || m_unread) {
        const Error& error = m_failed ? *m_failed : *m_unread;
        out.how = error.code == "run.cancelled" ? How::Cancelled : How::Failed;
        out.sentence = errorClause(error) + QLatin1Char('.');
    } else if (m_outcome && m_outcome->stopped) {
        const Error& stopped = *m_outcome->stopped;
        out.how = stopped.code == "run.cancelled" ? How::Cancelled : How::Failed;
        out.sentence = errorClause(stopped) + QLatin1Char('.');
    } else if (m_outcome && !m_outcome->live.complete) {
        out.sentence = QString::fromStdString(m_outcome->live.stopReason);
    }
    if (m_trouble && out.how != How::Died) {
        out.how = How::Failed;
        out.sentence = errorClause(*m_trouble) + QLatin1Char('.');
    }
    if (!out.sentence.isEmpty())
        out.sentence[0] = out.sentence[0].toUpper();
    out.complete = out.how == How::Done && m_outcome && m_outcome->live.complete;
    if (out.how != How::Died && m_outcome && !m_trouble && m_overflow == 0)
        (void)spooled(m_spool->finish(m_outcome->live));
    for (PhaseStatus& phase : m_progress.phases) {
        if (phase.state == PhaseStatus::State::Running)
            phase.state = PhaseStatus::State::CutShort;
    }
    out.progress = snapshot();
    out.rows = m_rows;
    out.outcome = m_outcome;
    out.files = m_spool->files();
    out.hasLog = m_spool->hasLog();
    return out;
}

} // namespace kvw::gui
