// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/run_record.h"

#include <algorithm>
#include <cmath>

namespace kvw {

namespace {

template <typename Value>
StepDistribution distribution(const RunRecord& record, bool warm, Value value)
{
    StepDistribution out;
    for (const RequestRecord& request : record.requests) {
        if (request.outcome == Outcome::Completed && request.warm == warm)
            out.sorted.push_back(value(request));
    }
    std::sort(out.sorted.begin(), out.sorted.end());
    return out;
}

} // namespace

const char* outcomeName(Outcome outcome)
{
    static constexpr std::array<const char*, outcomeCount> names {
        "unfinished", "completed", "rejected", "cancelled", "failed"};
    return names[static_cast<std::size_t>(outcome)];
}

std::int64_t StepDistribution::quantile(double share) const
{
    if (sorted.empty())
        return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::array<std::int64_t, outcomeCount> RunRecord::outcomes() const
{
    std::array<std::int64_t, outcomeCount> out {};
    for (const RequestRecord& request : requests)
        ++out[static_cast<std::size_t>(request.outcome)];
    return out;
}

RunTotals RunRecord::totals() const
{
    const std::array<std::int64_t, outcomeCount> ends = outcomes();
    const auto count = [&](Outcome outcome) { return ends[static_cast<std::size_t>(outcome)]; };
    RunTotals out;
    out.offered = static_cast<std::int64_t>(requests.size());
    out.completed = count(Outcome::Completed);
    out.refused = count(Outcome::Rejected) + count(Outcome::Failed);
    for (const TenantRecord& tenant : tenants) {
        out.promptTokens += tenant.promptTokens;
        out.hitTokens += tenant.hitTokens;
    }
    return out;
}

std::int64_t RunRecord::peakStep() const
{
    const auto peak = std::max_element(
        samples.begin(), samples.end(), [](const StepSample& a, const StepSample& b) { return a.active < b.active; });
    return peak == samples.end() ? 0 : peak->step;
}

StepDistribution RunRecord::queueSteps(bool warm) const
{
    return distribution(*this, warm, [](const RequestRecord& r) { return r.admitStep - r.arrivalStep; });
}

StepDistribution RunRecord::firstTokenSteps(bool warm) const
{
    return distribution(*this, warm, [](const RequestRecord& r) { return r.firstTokenStep - r.arrivalStep; });
}

StepDistribution RunRecord::perTokenSteps(bool warm) const
{
    return distribution(*this, warm, [](const RequestRecord& r) {
        const std::int64_t more = r.outputTokens - 1;
        return more > 0 ? (r.endStep - r.firstTokenStep + more - 1) / more : 0;
    });
}

StepDistribution RunRecord::endToEndSteps(bool warm) const
{
    return distribution(*this, warm, [](const RequestRecord& r) { return r.endStep - r.arrivalStep; });
}

} // namespace kvw
