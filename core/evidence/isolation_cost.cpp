// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/isolation_cost.h"

#include "evidence/runs.h"

#include <algorithm>
#include <array>
#include <set>

namespace kvw {

namespace {

/// For each tenant the first one that it shares with: the same for two policies by which the same tenants share.
std::vector<std::size_t> partition(const Plan& plan)
{
    const std::vector<SharingDomain> domains = resolveDomains(plan);
    std::vector<std::size_t> out;
    for (const SharingDomain& domain : domains) {
        const auto first = std::find_if(
            domains.begin(), domains.end(), [&](const SharingDomain& other) { return other.id == domain.id; });
        out.push_back(static_cast<std::size_t>(first - domains.begin()));
    }
    return out;
}

} // namespace

const char* sharingPolicyTitle(SharingPolicy policy)
{
    static constexpr std::array titles {"all tenants share", "as planned", "every tenant alone"};
    return titles[static_cast<std::size_t>(policy)];
}

Plan withPolicy(const Plan& plan, SharingPolicy policy)
{
    Plan out = plan;
    if (policy == SharingPolicy::AsPlanned)
        return out;
    for (Tenant& tenant : out.tenants) {
        tenant.eligibility = policy == SharingPolicy::Alone ? Eligibility::Tenant : Eligibility::Group;
        tenant.sharingGroup = policy == SharingPolicy::Alone ? "" : "all";
    }
    return out;
}

Result<IsolationCost> isolationCost(const Plan& plan, SharingPolicy policy, const CostProgress& progress)
{
    const Result<RunSetup> setup = setUpStatedRun(withPolicy(plan, policy), 1);
    if (!setup)
        return setup.error();
    bool stopped = false;
    RunOptions options;
    options.progress = [&](const StepSample&) {
        stopped = stopped || (progress && !progress());
        return !stopped;
    };
    std::unique_ptr<EventLog> log;
    const Result<RunRecord> record = predict(*setup, options, &log);
    if (!record)
        return record.error();
    if (stopped)
        return Error {"run.stopped", "the prediction was stopped"};
    IsolationCost out;
    out.policy = policy;
    std::set<std::uint32_t> domains;
    for (const SharingDomain& domain : setup->domains)
        domains.insert(domain.id);
    out.domains = static_cast<std::int64_t>(domains.size());
    const RunTotals totals = record->totals();
    out.offered = totals.offered;
    out.completed = totals.completed;
    out.promptTokens = totals.promptTokens;
    out.hitTokens = totals.hitTokens;
    for (const RequestRecord& request : record->requests) {
        if (request.admitStep >= 0)
            out.computedPromptTokens += request.promptTokens - request.neverComputed;
    }
    for (const StepSample& sample : record->samples)
        out.peakBlocks = std::max(out.peakBlocks, sample.active);
    out.keys = static_cast<std::int64_t>(std::set<BlockKey>(log->digests().begin(), log->digests().end()).size());
    out.preemptions = record->preemptions;
    out.steps = record->steps;
    return out;
}

Result<std::vector<IsolationCost>> isolationCosts(const Plan& plan, const CostProgress& progress)
{
    std::vector<IsolationCost> out;
    std::vector<std::vector<std::size_t>> known;
    for (const SharingPolicy policy : {SharingPolicy::Together, SharingPolicy::AsPlanned, SharingPolicy::Alone}) {
        const std::vector<std::size_t> now = partition(withPolicy(plan, policy));
        const auto same = std::find(known.begin(), known.end(), now);
        if (same != known.end()) {
            out.push_back(out[static_cast<std::size_t>(same - known.begin())]);
            out.back().policy = policy;
        } else {
            Result<IsolationCost> cost = isolationCost(plan, policy, progress);
            if (!cost)
                return cost.error();
            out.push_back(*cost);
        }
        known.push_back(now);
    }
    return out;
}

} // namespace kvw
