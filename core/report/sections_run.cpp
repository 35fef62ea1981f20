// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_words.h"
#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

std::string percent(std::int64_t part, std::int64_t whole)
{
    return whole == 0 ? "–" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string outcomesText(const std::array<std::int64_t, outcomeCount>& outcomes)
{
    std::string out;
    for (const Outcome outcome :
        {Outcome::Completed, Outcome::Rejected, Outcome::Cancelled, Outcome::Failed, Outcome::Unfinished}) {
        out += (out.empty() ? "" : " + ")
            + fmt::format("{} {}", grouped(outcomes[static_cast<std::size_t>(outcome)]), outcomeName(outcome));
    }
    return out;
}

Table tenantTable(const RunRecord& record, const Plan* plan)
{
    Table out;
    out.columns
        = {{"Tenant"}, {"Requests", true}, {"Completed", true}, {"Prompt tokens", true}, {"Served from hits", true},
            {"Share", true}, {"Never seen", true, "Misses by cause"}, {"Evicted", true, "Misses by cause"},
            {"Not eligible", true, "Misses by cause"}, {"Below unit", true, "Misses by cause"}};
    for (const TenantRecord& tenant : record.tenants) {
        std::int64_t requests = 0;
        for (const std::int64_t count : tenant.outcomes)
            requests += count;
        const auto cause = [&](MissCause which) { return grouped(tenant.missCauses[static_cast<std::size_t>(which)]); };
        out.rows.push_back({tenantName(plan, tenant.id), grouped(requests),
            grouped(tenant.outcomes[static_cast<std::size_t>(Outcome::Completed)]), grouped(tenant.promptTokens),
            grouped(tenant.hitTokens), percent(tenant.hitTokens, tenant.promptTokens), cause(MissCause::NeverSeen),
            cause(MissCause::Evicted), cause(MissCause::IdentityDiffers), cause(MissCause::BelowUnit)});
    }
    out.caption = "Tokens of prompts by tenant, over admitted requests; misses count first admissions by the cause of "
                  "the first token that was not served. Below unit: less than a whole block.";
    return out;
}

Table latencyTable(const RunRecord& record)
{
    Table out;
    out.columns = {{"Steps"}, {"Requests", true}, {"Median", true}, {"90 %", true}, {"99 %", true}, {"Most", true}};
    const auto add = [&](const char* title, const StepDistribution& distribution) {
        out.rows.push_back({title, grouped(static_cast<std::int64_t>(distribution.sorted.size())),
            grouped(distribution.quantile(0.5)), grouped(distribution.quantile(0.9)),
            grouped(distribution.quantile(0.99)), grouped(distribution.quantile(1))});
    };
    for (const bool warm : {false, true}) {
        add(warm ? "Queue, warm" : "Queue, cold", record.queueSteps(warm));
        add(warm ? "To first token, warm" : "To first token, cold", record.firstTokenSteps(warm));
        add(warm ? "Per output token, warm" : "Per output token, cold", record.perTokenSteps(warm));
        add(warm ? "End to end, warm" : "End to end, cold", record.endToEndSteps(warm));
    }
    out.caption = "Completed requests; cold: nothing served from the cache at first admission, warm: something was. "
                  "Steps are not seconds.";
    return out;
}

Figure blocksFigure(const RunSetup& setup, const RunRecord& record)
{
    Figure out {"blocks_over_steps", "Blocks over steps", "step", "blocks", {}};
    Figure::Series active {"active", {}};
    Figure::Series cached {"cached", {}};
    Figure::Series free {"free", {}};
    std::int64_t mostActive = 0;
    for (const StepSample& sample : record.samples) {
        const auto x = static_cast<double>(sample.step);
        mostActive = std::max(mostActive, sample.active);
        active.points.emplace_back(x, static_cast<double>(sample.active));
        cached.points.emplace_back(x, static_cast<double>(sample.cached));
        free.points.emplace_back(x, static_cast<double>(sample.free));
    }
    out.series = {std::move(active), std::move(cached), std::move(free)};
    std::int64_t blocks = 0;
    std::int64_t held = 0;
    for (const PoolSpec& pool : setup.layout.pools) {
        blocks += pool.blocks.value;
        held += pool.held.value;
    }
    const bool one = setup.layout.pools.size() == 1;
    out.limit = blocks;
    out.limitName = fmt::format("{}: {} blocks", one ? "pool" : "all pools", grouped(blocks));
    out.caption = fmt::format("Blocks by state after each of {} steps{}. Most active: {} at step {}.",
        grouped(static_cast<std::int64_t>(record.samples.size())), one ? "" : ", all pools together",
        grouped(mostActive), grouped(record.peakStep()));
    if (held > 0)
        out.caption
            += fmt::format(" {} {} held and not drawn.", counted(held, "block", "blocks"), held == 1 ? "is" : "are");
    return out;
}

/// Pools of a plan without engine are assumed: nothing plans them.
bool poolsAreAssumed(const RunSetup& setup)
{
    return std::any_of(setup.assumptions.begin(), setup.assumptions.end(),
        [](const Assumption& assumption) { return assumption.id == "run.shape_pool"; });
}

std::string predictionConclusion(bool assumedPools)
{
    const std::string rest
        = ", counted in steps, tokens and blocks. No time is predicted, and no warm hit is credited with faster "
          "decoding.";
    if (assumedPools)
        return "The reader may conclude what this workload does to pools of the size that the planned sequences need, "
               "under an assumed order of eviction"
            + rest + " Not what any engine would do: none is chosen.";
    return "The reader may conclude what these cache and scheduling rules do with this workload" + rest;
}

} // namespace

Section workloadSection(const Plan& plan, const RunSetup& setup)
{
    Section out {"workload", "Workload", {},
        "The reader may generate the same requests again and compare the hash. Not that real traffic is like them."};
    const bool assumed = isAssumed(plan, "workload.requests");
    if (assumed)
        out.conclusion += " Nobody stated these lengths and this sharing: they are a first workload's.";
    std::int64_t prompt = 0;
    std::int64_t output = 0;
    std::int64_t longest = 0;
    for (const Request& request : setup.workload.requests) {
        prompt += request.promptTokens();
        output += request.outputTokens;
        longest = std::max(longest, request.promptTokens() + request.outputTokens);
    }
    Facts facts;
    const std::string mark = assumed ? "◇ " : "";
    facts.rows
        = {{"Name", plan.workload.name.empty() ? "not stated" : marked(plan, "workload.name", plan.workload.name)},
            {"Requests", mark + grouped(static_cast<std::int64_t>(setup.workload.requests.size()))},
            {"Prompt tokens", mark + grouped(prompt)}, {"Output tokens", mark + grouped(output)},
            {"Longest request", mark + grouped(longest) + " tokens"}, {"Frozen, SHA-256", setup.workload.sha256()}};
    facts.caption = assumed ? "The generated requests. ◇ follows from the first workload that a new plan is given."
                            : "The generated requests.";
    out.blocks.emplace_back(std::move(facts));
    return out;
}

Section predictionSection(const RunSetup& setup, const RunRecord& record, const Plan* plan)
{
    const bool assumedPools = poolsAreAssumed(setup);
    const std::string mark = assumedPools ? "◇ " : "";
    Section out {"prediction", "Prediction", {}, predictionConclusion(assumedPools)};
    std::int64_t prompt = 0;
    std::int64_t hits = 0;
    for (const TenantRecord& tenant : record.tenants) {
        prompt += tenant.promptTokens;
        hits += tenant.hitTokens;
    }
    Facts facts;
    facts.rows = {{"Preemptions", grouped(record.preemptions)},
        {"Requests",
            fmt::format("{} = {}", grouped(static_cast<std::int64_t>(record.requests.size())),
                outcomesText(record.outcomes()))},
        {"Tokens computed again", grouped(record.recomputedTokens)}, {"Evictions", grouped(record.evictions)},
        {"Prompt tokens by prefix hits",
            fmt::format("{} of {} ({})", grouped(hits), grouped(prompt), percent(hits, prompt))},
        {"Steps", grouped(record.steps)}, {"Rules", mark + setup.behaviour.rule},
        {"Pool fraction",
            assumedPools ? "– no blocks are planned without an engine"
                         : percentText(record.poolFraction) + " of the planned blocks"}};
    for (std::size_t p = 0; p < setup.layout.pools.size(); ++p) {
        const PoolSpec& pool = setup.layout.pools[p];
        facts.rows.emplace_back(setup.layout.pools.size() == 1 ? "Pool" : fmt::format("Pool {}", p),
            fmt::format("{}{} blocks of {}, {} held", mark, grouped(pool.blocks.value), format(pool.blockBytes),
                pool.held.value));
    }
    facts.rows.emplace_back("Blocks at the end",
        fmt::format("{} active + {} cached + {} free + {} held", grouped(record.finalActive),
            grouped(record.finalCached), grouped(record.finalFree), grouped(record.finalHeld)));
    if (!record.complete)
        facts.rows.emplace_back("Stopped early", record.stopReason);
    facts.caption = "The run, event by event."
        + std::string(assumedPools ? " ◇ is assumed: the pools are what the planned sequences need." : "");
    out.blocks.emplace_back(std::move(facts));
    out.blocks.emplace_back(blocksFigure(setup, record));
    out.blocks.emplace_back(tenantTable(record, plan));
    out.blocks.emplace_back(latencyTable(record));
    return out;
}

} // namespace kvw
