// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/livepreview.h"

#include "plan/identity.h"
#include "worker/endings.h"

#include <QFutureWatcher>
#include <QtConcurrentRun>

namespace kvw::gui {

namespace {

constexpr int delayTime = 200; // after the last edit

} // namespace

PreviewResult makePreview(Plan plan, const ProbeOptions& options, const std::atomic<bool>& cancelled)
{
    PreviewResult out;
    out.planHash = planHash(plan);
    const auto failed = [&](const Error& error) {
        out.error = errorClause(error) + QLatin1Char('.');
        return out;
    };
    Result<RunSetup> setup = setUpProbe(plan, options);
    if (!setup)
        return failed(setup.error());
    out.plan = std::move(plan);
    out.setup = std::move(*setup);
    RunOptions watched;
    watched.progress = [&](const StepSample&) { return !cancelled; };
    const Result<RunRecord> prediction = predict(out.setup, watched);
    if (!prediction)
        return failed(prediction.error());
    if (cancelled)
        return out;
    out.predictedSteps = prediction->steps;
    Result<std::vector<EvidenceRow>> rows = expectedRows(out.plan, out.setup, *prediction);
    if (!rows)
        return failed(rows.error());
    out.rows = std::move(*rows);
    return out;
}

LivePreview::LivePreview(PlanDocument& document, QObject* parent)
    : QObject(parent)
    , m_document(document)
{
    m_delay.setSingleShot(true);
    m_delay.setInterval(delayTime);
    connect(&m_delay, &QTimer::timeout, this, &LivePreview::start);
    connect(&document, &PlanDocument::planChanged, this, &LivePreview::invalidate);
}

LivePreview::~LivePreview()
{
    if (m_cancelled)
        *m_cancelled = true;
}

void LivePreview::setWanted(bool wanted)
{
    m_wanted = wanted;
    if (m_wanted && !m_current && !m_cancelled)
        m_delay.start(0);
}

void LivePreview::setOptions(const ProbeOptions& options)
{
    m_options = options;
    invalidate();
}

const std::shared_ptr<const PreviewResult>& LivePreview::result() const
{
    return m_result;
}

bool LivePreview::isCurrent() const
{
    return m_current;
}

void LivePreview::invalidate()
{
    m_current = false;
    if (m_cancelled)
        *m_cancelled = true;
    m_cancelled.reset();
    if (m_wanted)
        m_delay.start(delayTime);
    emit changed();
}

void LivePreview::start()
{
    auto cancelled = std::make_shared<std::atomic<bool>>(false);
    m_cancelled = cancelled;
    auto* watcher = new QFutureWatcher<std::shared_ptr<const PreviewResult>>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, cancelled] {
        watcher->deleteLater();
        if (*cancelled)
            return;
        m_cancelled.reset();
        m_result = watcher->result();
        m_current = true;
        emit changed();
    });
    watcher->setFuture(QtConcurrent::run(
        [plan = m_document.plan(), options = m_options, cancelled]() -> std::shared_ptr<const PreviewResult> {
            return std::make_shared<const PreviewResult>(makePreview(plan, options, *cancelled));
        }));
}

} // namespace kvw::gui
