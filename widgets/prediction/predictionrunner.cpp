// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "prediction/predictionrunner.h"

#include "models/numbertext.h"

#include <QtConcurrent>

#include <atomic>

namespace kvw::gui {

/// What the two threads share.
struct PredictionRunner::Job
{
    std::atomic<bool> cancelled = false;
    std::atomic<qint64> steps = 0;
    std::atomic<qint64> done = 0;
    std::atomic<qint64> offered = 0;
};

PredictionRunner::PredictionRunner(PlanDocument& document, QObject* parent)
    : QObject(parent)
    , m_document(document)
{
    m_ticks.setInterval(100);
    connect(&m_ticks, &QTimer::timeout, this, &PredictionRunner::progressed);
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &PredictionRunner::done);
    connect(&m_document, &PlanDocument::reset, this, [this] {
        m_silent = isRunning();
        cancel();
    });
}

PredictionRunner::~PredictionRunner()
{
    disconnect(&m_watcher, nullptr, this, nullptr);
    if (m_job)
        m_job->cancelled = true;
    m_watcher.waitForFinished();
}

PredictionRunner::Outcome PredictionRunner::work(const Plan& plan, Job& job)
{
    Result<RunSetup> setup = setUpStatedRun(plan, 1);
    if (!setup)
        return setup.error();
    job.offered = static_cast<qint64>(setup->workload.requests.size());
    auto result = std::make_shared<PredictionResult>();
    std::size_t seen = 0;
    RunOptions options;
    options.created = isoNow();
    options.events = [&](const EventLog& log) {
        for (; seen < log.events().size(); ++seen) {
            if (log.events()[seen].kind >= EventKind::Complete)
                ++job.done;
        }
    };
    options.progress = [&](const StepSample&) {
        ++job.steps;
        return !job.cancelled;
    };
    std::unique_ptr<EventLog> events;
    Result<RunRecord> record = predict(*setup, options, &events);
    if (!record)
        return record.error();
    result->setup = std::move(*setup);
    result->record = std::move(*record);
    result->events = std::move(events);
    return Outcome(std::shared_ptr<const PredictionResult>(std::move(result)));
}

void PredictionRunner::start()
{
    if (!m_document.commitPending())
        return;
    if (isRunning()) {
        m_again = true;
        m_job->cancelled = true;
        return;
    }
    m_job = std::make_shared<Job>();
    m_silent = false;
    m_clock.start();
    m_watcher.setFuture(QtConcurrent::run([plan = m_document.plan(), job = m_job] {
        return std::make_shared<Outcome>(work(plan, *job)); //
    }));
    m_ticks.start();
    emit started();
}

void PredictionRunner::cancel()
{
    m_again = false;
    if (isRunning())
        m_job->cancelled = true;
}

bool PredictionRunner::isRunning() const
{
    return m_watcher.isRunning();
}

qint64 PredictionRunner::steps() const
{
    return m_job ? m_job->steps.load() : 0;
}

qint64 PredictionRunner::requestsDone() const
{
    return m_job ? m_job->done.load() : 0;
}

qint64 PredictionRunner::requestsOffered() const
{
    return m_job ? m_job->offered.load() : 0;
}

qint64 PredictionRunner::elapsedMs() const
{
    return m_clock.isValid() ? m_clock.elapsed() : 0;
}

void PredictionRunner::done()
{
    m_ticks.stop();
    const std::shared_ptr<Outcome> outcome = m_watcher.result();
    if (m_job->cancelled) {
        if (!m_again && !m_silent)
            emit message(tr("The prediction was stopped after %1; what is shown is as before.")
                             .arg(counted(m_job->steps, tr("step"), tr("steps"))));
    } else if (!*outcome) {
        emit message(tr("No prediction: %1").arg(QString::fromStdString(outcome->error().text())));
    } else {
        m_document.setPrediction(**outcome);
    }
    emit finished();
    if (m_again) {
        m_again = false;
        start();
    }
}

} // namespace kvw::gui
