// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/run_setup.h"

#include "units/format.h"
#include "workload/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kvw {

namespace {

/// Most blocks of a pool: some 2 GiB of accounts.
constexpr std::int64_t mostBlocks = std::int64_t {1} << 25;

std::int64_t scaled(std::int64_t value, double fraction, std::int64_t least)
{
    return std::max(least, static_cast<std::int64_t>(std::floor(static_cast<double>(value) * fraction)));
}

void scaleField(std::optional<std::int64_t>& field, double fraction, std::int64_t least)
{
    if (field && *field > 0)
        field = scaled(*field, fraction, std::min(least, *field));
}

Result<GeneratorSettings> generatorSettings(const Plan& plan)
{
    const WorkloadFields& fields = plan.workload;
    GeneratorSettings out;
    out.name = fields.name;
    out.seed = static_cast<std::uint64_t>(fields.seed.value_or(1));
    out.requests = fields.requests.value_or(16);
    for (const Tenant& tenant : plan.tenants)
        out.tenants.push_back(tenant.id);
    if (out.tenants.empty())
        out.tenants.emplace_back("all");
    out.commonPrefixTokens = fields.commonPrefixTokens.value_or(0);
    out.sharedPrefixes = fields.sharedPrefixes.value_or(0);
    out.sharedPrefixTokens = fields.sharedPrefixTokens.value_or(0);
    out.promptTokensMin = fields.promptTokensMin.value_or(fields.promptTokensMax.value_or(64));
    out.promptTokensMax = fields.promptTokensMax.value_or(out.promptTokensMin);
    out.outputTokensMin = fields.outputTokensMin.value_or(fields.outputTokensMax.value_or(16));
    out.outputTokensMax = fields.outputTokensMax.value_or(out.outputTokensMin);
    out.burstRequests = fields.burstRequests.value_or(1);
    out.burstGapSteps = fields.burstGapSteps.value_or(1);
    const auto contradiction = [](const char* path, std::int64_t least, std::int64_t most) {
        return Error {
            "plan.workload", "the least is more than the most", {{}, path}, fmt::format("{} and {}", least, most)};
    };
    if (out.promptTokensMin > out.promptTokensMax)
        return contradiction("workload.promptTokensMin", out.promptTokensMin, out.promptTokensMax);
    if (out.outputTokensMin > out.outputTokensMax)
        return contradiction("workload.outputTokensMin", out.outputTokensMin, out.outputTokensMax);
    const std::int64_t longest
        = out.commonPrefixTokens + out.sharedPrefixTokens + out.promptTokensMax + out.outputTokensMax;
    if (longest >= (std::int64_t {1} << 31) || out.requests >= (std::int64_t {1} << 31))
        return Error {
            "plan.workload", "a run takes requests of fewer than 2^31 tokens", {{}, "workload.promptTokensMax"}};
    return out;
}

std::string engineOf(const Plan& plan)
{
    return plan.engine.name.empty() ? "none" : plan.engine.name;
}

SchedulerSettings schedulerSettings(const Plan& plan, const EngineRules& rules, Assumptions& assumptions)
{
    SchedulerSettings out;
    out.maxBatchedTokens = plan.engine.maxBatchedTokens.value_or(rules.defaultMaxBatchedTokens());
    out.maxSequences
        = plan.engine.maxSequences.value_or(plan.limits.concurrentSequences.value_or(rules.defaultMaxSequences()));
    out.maxLength = plan.limits.maxModelLen;
    out.maxWaitSteps = plan.admission.maxWaitSteps;
    if (plan.admission.whenExhausted == WhenExhausted::NotStated)
        assumptions.push_back({"run.when_exhausted",
            "If no state can be had: not stated, so the run preempts and recomputes.", "admission.whenExhausted"});
    else
        out.whenExhausted = plan.admission.whenExhausted;
    if (plan.admission.reservation != Reservation::NotStated)
        out.reservation = plan.admission.reservation;
    else
        assumptions.push_back({"run.reservation", "Reservation: not stated, so blocks are taken as they are needed.",
            "admission.reservation"});
    if (!plan.engine.maxSequences && !plan.limits.concurrentSequences)
        assumptions.push_back({"run.max_sequences",
            fmt::format("Sequences per batch: not stated, so at most {} run at a time.", grouped(out.maxSequences)),
            "engine.maxSequences"});
    if (plan.reuse.prefixCaching == Switch::NotStated)
        assumptions.push_back(
            {"run.prefix_caching", "Prefix cache: not stated, so equal prefixes of one sharing domain are used again.",
                "reuse.prefixCaching"});
    return out;
}

/// Each pool's blocks at the fraction: never fewer than one request of the run's configured maximum needs (windows do
/// not scale, so the share alone could leave a pool in which nothing runs), the held ones, and one more.
std::vector<std::int64_t> fractionOf(
    const PoolLayout& planned, double fraction, const Plan& run, const EngineRules& rules)
{
    Plan one = run;
    one.budget = {};
    one.limits.concurrentSequences = 1;
    PlanInputs inputs(one);
    const Result<std::vector<std::int64_t>> need = rules.plannedBlocks(one, inputs);
    std::vector<std::int64_t> out;
    for (std::size_t p = 0; p < planned.pools.size(); ++p) {
        const PoolSpec& pool = planned.pools[p];
        std::int64_t least = pool.held.value + 1;
        if (fraction < 1 && need && p < need->size())
            least = std::max(least, (*need)[p]);
        out.push_back(scaled(pool.blocks.value, fraction, std::min(least, pool.blocks.value)));
    }
    return out;
}

Result<PoolLayout> plannedLayout(const Plan& plan, const EngineRules& rules, Assumptions& assumptions)
{
    PlanInputs inputs(plan);
    const Result<std::vector<std::int64_t>> blocks = rules.plannedBlocks(plan, inputs);
    if (!blocks)
        return blocks.error();
    assumptions.insert(assumptions.end(), inputs.assumptions().begin(), inputs.assumptions().end());
    if (plan.cache.elementType == ElementType::NotStated)
        return Error {"estimate.not_stated", "the cache element type is not stated", {{}, "cache.elementType"}};
    return rules.layout(plan, *blocks);
}

} // namespace

std::vector<SharingDomain> resolveDomains(const Plan& plan)
{
    std::map<std::string, std::uint32_t> known;
    std::vector<SharingDomain> out;
    for (const Tenant& tenant : plan.tenants) {
        const bool group = tenant.eligibility == Eligibility::Group && !tenant.sharingGroup.empty();
        const std::string key = group ? "group:" + tenant.sharingGroup : "tenant:" + tenant.id;
        const auto id = known.emplace(key, static_cast<std::uint32_t>(known.size() + 1)).first->second;
        out.push_back({id, key});
    }
    if (out.empty())
        out.push_back({1, "tenant:all"});
    return out;
}

Plan scaledPlan(const Plan& plan, double fraction)
{
    Plan out = plan;
    const std::int64_t block = plan.engine.blockTokens.value_or(16);
    scaleField(out.limits.maxModelLen, fraction, block);
    if (fraction < 1) {
        const Result<const EngineRules*> rules = engineRules(engineOf(plan));
        if (rules && !out.engine.maxBatchedTokens)
            out.engine.maxBatchedTokens = (*rules)->defaultMaxBatchedTokens();
    }
    scaleField(out.engine.maxBatchedTokens, fraction, block);
    WorkloadFields& workload = out.workload;
    for (std::optional<std::int64_t>* field :
        {&workload.commonPrefixTokens, &workload.sharedPrefixTokens, &workload.promptTokensMin,
            &workload.promptTokensMax, &workload.outputTokensMin, &workload.outputTokensMax})
        scaleField(*field, fraction, 1);
    return out;
}

Result<RunSetup> setUpRun(const Plan& plan, double fraction)
{
    const Result<const EngineRules*> rules = engineRules(engineOf(plan));
    if (!rules)
        return rules.error();
    RunSetup out;
    Result<PoolLayout> planned = plannedLayout(plan, **rules, out.assumptions);
    if (!planned)
        return planned.error();
    const Result<Bytes> plannedBytes = planned->totalBytes();
    if (!plannedBytes)
        return plannedBytes.error();
    out.plannedPoolBytes = plannedBytes->value;
    for (const PoolSpec& pool : planned->pools) {
        if (pool.blocks.value <= pool.held.value) {
            return Error {"run.too_small", "the plan's own pool has no block to give away",
                {{}, "budget.kvBytesPerRank"},
                fmt::format("{} blocks of {}", pool.blocks.value, format(pool.blockBytes))};
        }
    }
    out.planHash = planHash(plan);
    out.scale = fraction;
    const Plan run = scaledPlan(plan, fraction);
    const Result<PoolLayout> layout = (*rules)->layout(run, fractionOf(*planned, fraction, run, **rules));
    if (!layout)
        return layout.error();
    out.layout = *layout;
    for (const PoolSpec& pool : out.layout.pools) {
        if (pool.blocks.value <= pool.held.value)
            return Error {"run.too_small", "the pool has no block to give away", {{}, "budget.kvBytesPerRank"},
                fmt::format("{} blocks", pool.blocks.value)};
        if (pool.blocks.value > mostBlocks)
            return Error {"run.too_large", "a run keeps an account of every block, and takes pools of fewer blocks",
                {{}, "budget.kvBytesPerRank"}, fmt::format("{} blocks", grouped(pool.blocks.value)),
                fmt::format("at most {}; a smaller --fraction, budget or concurrency", grouped(mostBlocks))};
    }
    const Result<Bytes> bytes = out.layout.totalBytes();
    if (!bytes)
        return bytes.error();
    out.poolFraction = static_cast<double>(bytes->value) / static_cast<double>(out.plannedPoolBytes);
    out.behaviour = (*rules)->behaviour(run);
    out.scheduler = schedulerSettings(run, **rules, out.assumptions);
    if (!plan.engine.maxBatchedTokens) {
        out.assumptions.push_back({"run.max_batched_tokens",
            fmt::format("Tokens per batch: not stated, so the run computes at most {} tokens in a step.",
                grouped(out.scheduler.maxBatchedTokens)),
            "engine.maxBatchedTokens"});
    }
    const Result<GeneratorSettings> settings = generatorSettings(run);
    if (!settings)
        return settings.error();
    out.workload = generate(*settings);
    out.domains = resolveDomains(plan);
    return out;
}

Result<double> fractionFor(const Plan& plan, std::int64_t bytes)
{
    const Result<RunSetup> whole = setUpRun(plan, 1);
    if (!whole)
        return whole.error();
    const auto total = static_cast<double>(whole->plannedPoolBytes);
    double fraction = std::min(1.0, static_cast<double>(bytes) / total);
    // Rounding and least sizes can leave the pools a little above the wish: step down until they are not.
    for (int i = 0; i < 64; ++i) {
        const Result<RunSetup> setup = setUpRun(plan, fraction);
        if (!setup)
            return setup.error();
        const Result<Bytes> reserved = setup->layout.totalBytes();
        if (reserved && reserved->value <= bytes)
            return fraction;
        fraction *= 0.95;
    }
    const Result<RunSetup> least = setUpRun(plan, fraction);
    const Result<Bytes> needed = least ? least->layout.totalBytes() : Result<Bytes>(least.error());
    return Error {"run.too_small", "no part of the plan is that small: a pool has at least one block to give away",
        {{}, "budget.kvBytesPerRank"}, format(Bytes(bytes)), needed ? "at least " + format(*needed) : std::string()};
}

} // namespace kvw
