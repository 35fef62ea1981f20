// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "workload/workloadpreview.h"

#include "serving/run_setup.h"

#include <QLocale>
#include <QtConcurrent>

namespace kvw::gui {

namespace {

constexpr std::int64_t bins = 40;
/// What is more is not drawn while somebody types: it would take seconds and gigabytes.
constexpr std::int64_t mostRequests = 200'000;

} // namespace

WorkloadFacts workloadFacts(const Plan& plan)
{
    WorkloadFacts out;
    if (plan.workload.requests.value_or(0) > mostRequests) {
        out.tooMany = true;
        out.error = WorkloadPreview::tr("No preview of more than %1 requests; a prediction runs them all.")
                        .arg(QLocale().toString(static_cast<qlonglong>(mostRequests)));
        return out;
    }
    Result<RunSetup> setup = setUpRun(plan, 1);
    if (!setup) {
        out.error = QString::fromStdString(setup.error().text());
        return out;
    }
    std::vector<std::uint32_t> domains;
    for (const SharingDomain& domain : setup->domains)
        domains.push_back(domain.id);
    out.workload = std::move(setup->workload);
    out.sha256 = QString::fromStdString(out.workload.sha256());
    out.promptTokens = promptTokensOf(out.workload);
    out.shareable = shareablePromptTokens(out.workload, domains);
    out.shareableByAll = shareablePromptTokens(out.workload, {});
    std::vector<std::int64_t> prompts;
    std::vector<std::int64_t> outputs;
    std::vector<std::int64_t> arrivals;
    for (const Request& request : out.workload.requests) {
        prompts.push_back(request.promptTokens());
        outputs.push_back(request.outputTokens);
        arrivals.push_back(request.arrivalStep);
        out.outputTokens += request.outputTokens;
    }
    out.prompts = histogramOf(prompts, bins);
    out.outputs = histogramOf(outputs, bins);
    out.arrivals = histogramOf(arrivals, bins);
    return out;
}

WorkloadPreview::WorkloadPreview(QObject* parent)
    : QObject(parent)
    , m_facts(std::make_shared<WorkloadFacts>())
{
    connect(&m_watcher, &QFutureWatcherBase::finished, this, &WorkloadPreview::finished);
}

WorkloadPreview::~WorkloadPreview()
{
    m_watcher.disconnect(this);
    m_watcher.waitForFinished();
}

void WorkloadPreview::setPlan(const Plan& plan)
{
    if (m_watcher.isRunning())
        m_next = std::make_unique<Plan>(plan);
    else
        start(plan);
}

bool WorkloadPreview::isBusy() const
{
    return m_watcher.isRunning() || m_next;
}

const std::shared_ptr<const WorkloadFacts>& WorkloadPreview::facts() const
{
    return m_facts;
}

void WorkloadPreview::start(const Plan& plan)
{
    m_watcher.setFuture(QtConcurrent::run([plan]() -> std::shared_ptr<const WorkloadFacts> {
        return std::make_shared<const WorkloadFacts>(workloadFacts(plan));
    }));
}

void WorkloadPreview::finished()
{
    if (m_next) {
        const std::unique_ptr<Plan> next = std::move(m_next);
        start(*next);
        return;
    }
    m_facts = m_watcher.result();
    emit changed();
}

} // namespace kvw::gui
