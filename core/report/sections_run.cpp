// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kvw {

namespace {

std::string percent(std::int64_t part, std::int64_t whole)
{
    return whole == 0 ? "–" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string number(const std::optional<Number>& value, Unit unit)
{
    if (!value)
        return "–";
    if (unit == Unit::BytesPerSecond)
        return formatRate(toDouble(*value));
    if (const auto* integer = std::get_if<std::int64_t>(&*value))
        return unit == Unit::Byte ? grouped(*integer) + " B" : grouped(*integer);
    return fmt::format("{:.2f}", toDouble(*value));
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

Table tenantTable(const RunRecord& record)
{
    Table out;
    out.columns = {{"Tenant"}, {"Requests", true}, {"Completed", true}, {"Prompt tokens", true},
        {"From the cache", true}, {"Share", true}, {"Misses: never seen", true}, {"evicted", true},
        {"not eligible", true}, {"below unit", true}};
    for (const TenantRecord& tenant : record.tenants) {
        std::int64_t requests = 0;
        for (const std::int64_t count : tenant.outcomes)
            requests += count;
        const auto cause = [&](MissCause which) { return grouped(tenant.missCauses[static_cast<std::size_t>(which)]); };
        out.rows.push_back({tenant.id, grouped(requests),
            grouped(tenant.outcomes[static_cast<std::size_t>(Outcome::Completed)]), grouped(tenant.promptTokens),
            grouped(tenant.hitTokens), percent(tenant.hitTokens, tenant.promptTokens), cause(MissCause::NeverSeen),
            cause(MissCause::Evicted), cause(MissCause::IdentityDiffers), cause(MissCause::BelowUnit)});
    }
    out.caption = "Prefix hits by tenant, over admitted requests; misses count first admissions by the cause of the "
                  "first token that was not served.";
    return out;
}

Table latencyTable(const RunRecord& record)
{
    Table out;
    out.columns = {{"Steps"}, {"Requests", true}, {"median", true}, {"90 %", true}, {"99 %", true}, {"most", true}};
    const auto add = [&](const char* title, const StepDistribution& distribution) {
        out.rows.push_back({title, grouped(static_cast<std::int64_t>(distribution.sorted.size())),
            grouped(distribution.quantile(0.5)), grouped(distribution.quantile(0.9)),
            grouped(distribution.quantile(0.99)), grouped(distribution.quantile(1))});
    };
    for (const bool warm : {false, true}) {
        add(warm ? "queue, warm" : "queue, cold", record.queueSteps(warm));
        add(warm ? "to first token, warm" : "to first token, cold", record.firstTokenSteps(warm));
        add(warm ? "per output token, warm" : "per output token, cold", record.perTokenSteps(warm));
        add(warm ? "end to end, warm" : "end to end, cold", record.endToEndSteps(warm));
    }
    out.caption = "Completed requests; cold: nothing served from the cache at first admission, warm: something was. "
                  "Steps are not seconds.";
    return out;
}

Figure blocksFigure(const RunRecord& record)
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
    out.caption = fmt::format("Blocks by state after each of {} steps, all pools together; held blocks are not drawn. "
                              "Most active: {} at step {}.",
        grouped(static_cast<std::int64_t>(record.samples.size())), grouped(mostActive), grouped(record.peakStep()));
    return out;
}

} // namespace

Section workloadSection(const Plan& plan, const RunSetup& setup)
{
    Section out {"workload", "Workload", {},
        "The reader may generate the same requests again and compare the hash. Not that real traffic is like them."};
    std::int64_t prompt = 0;
    std::int64_t output = 0;
    std::int64_t longest = 0;
    for (const Request& request : setup.workload.requests) {
        prompt += request.promptTokens();
        output += request.outputTokens;
        longest = std::max(longest, request.promptTokens() + request.outputTokens);
    }
    Facts facts;
    facts.rows = {{"Name", plan.workload.name.empty() ? "not stated" : plan.workload.name},
        {"Requests", grouped(static_cast<std::int64_t>(setup.workload.requests.size()))},
        {"Prompt tokens", grouped(prompt)}, {"Output tokens", grouped(output)},
        {"Longest request", grouped(longest) + " tokens"}, {"Frozen, SHA-256", setup.workload.sha256()}};
    out.blocks.emplace_back(std::move(facts));
    return out;
}

Section predictionSection(const RunSetup& setup, const RunRecord& record)
{
    Section out {"prediction", "Prediction", {},
        "The reader may conclude what these cache and scheduling rules do with this workload, counted in steps, tokens "
        "and "
        "blocks. No time is predicted, and no warm hit is credited with faster decoding."};
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
        {"Tokens served from hits",
            fmt::format("{} of {} ({})", grouped(hits), grouped(prompt), percent(hits, prompt))},
        {"Steps", grouped(record.steps)}, {"Rules", setup.behaviour.rule},
        {"Pool fraction", fmt::format("{:.4f} of the planned blocks", record.poolFraction)}};
    for (std::size_t p = 0; p < setup.layout.pools.size(); ++p) {
        const PoolSpec& pool = setup.layout.pools[p];
        facts.rows.emplace_back(fmt::format("Pool {}", p),
            fmt::format(
                "{} blocks of {}, {} held", grouped(pool.blocks.value), format(pool.blockBytes), pool.held.value));
    }
    facts.rows.emplace_back("Blocks at the end",
        fmt::format("{} active + {} cached + {} free + {} held", grouped(record.finalActive),
            grouped(record.finalCached), grouped(record.finalFree), grouped(record.finalHeld)));
    if (!record.complete)
        facts.rows.emplace_back("Stopped early", record.stopReason);
    out.blocks.emplace_back(std::move(facts));
    out.blocks.emplace_back(tenantTable(record));
    out.blocks.emplace_back(latencyTable(record));
    out.blocks.emplace_back(blocksFigure(record));
    return out;
}

Section evidenceSection(const std::vector<EvidenceRow>& rows, const RunSetup& setup, const LiveRun* live)
{
    Section out {"evidence", "Evidence", {},
        "Agreement holds for one rank at this pool fraction, on this device; no weights and no projections ran."};
    Table table;
    table.columns = {{"Row"}, {"Estimate", true}, {"Prediction", true}, {"Measured", true}, {"Difference", true},
        {"Verdict"}, {"Instrument"}};
    Bullets notes;
    notes.items.emplace_back(
        "Tolerance 0 where nothing else is said: a count has no spread, any difference would be an error.");
    for (const EvidenceRow& row : rows) {
        const bool timed = row.unit == Unit::BytesPerSecond;
        std::string difference = row.difference && !timed ? fmt::format("{:+.0f}", *row.difference) : "–";
        if (difference == "+0" || difference == "-0")
            difference = "0";
        table.rows.push_back({row.title, number(row.estimated, row.unit), number(row.predicted, row.unit),
            number(row.measured, row.unit), difference, verdictName(row.verdict), row.instrument});
        if (row.above != 0 || row.below != 0)
            notes.items.push_back(fmt::format("{}: tolerance {:.0f} below, {:.0f} above ({}).", row.title, row.below,
                row.above, row.toleranceReason));
        if (!row.reason.empty())
            notes.items.push_back(fmt::format("{}: {}, since {}.", row.title, verdictName(row.verdict), row.reason));
    }
    const VerdictCounts counts = countVerdicts(rows);
    table.caption = fmt::format("{} agree, {} differ, {} not comparable, {} same counter. All of the same scaled plan: "
                                "{:.4f} of the planned blocks.",
        counts.agrees, counts.differs, counts.notComparable, counts.sameCounter, setup.poolFraction);
    out.blocks.emplace_back(std::move(table));
    out.blocks.emplace_back(std::move(notes));
    if (live) {
        const DeviceInfo& device = live->readings.device;
        out.blocks.emplace_back(Facts {
            {{"Device", device.id + ", " + device.name}, {"Rank", fmt::format("{} of the plan", setup.layout.rank)},
                {"Memory of the device",
                    fmt::format("{} available of {} ({})", format(Bytes(device.availableBytes)),
                        format(Bytes(device.totalBytes)), device.memorySource)}}});
        if (!live->status)
            out.blocks.emplace_back(Paragraph {"The run stopped early: " + live->status.error().text(), true});
    }
    return out;
}

Section storedEvidenceSection(const Plan& plan)
{
    Section out {"evidence", "Evidence", {},
        "Agreement holds for one rank at the run's pool fraction, on its device; no weights and no projections ran."};
    if (plan.evidence.empty()) {
        out.blocks.emplace_back(
            Paragraph {"No live run has been made for this plan: nothing in it has been measured."});
        return out;
    }
    const std::string hash = planHash(plan);
    for (const RunReference& run : plan.runs) {
        out.blocks.emplace_back(
            Facts {{{"Run", run.id + ", " + run.kind + " on " + run.device + (run.at.empty() ? "" : ", " + run.at)},
                {"Plan", run.planHash == hash ? "current for this plan" : "~ stale: the plan was edited after the run"},
                {"Pool fraction", run.poolFraction ? fmt::format("{:.4f}", *run.poolFraction) : "not stated"}}});
    }
    Table table;
    table.columns = {{"Row"}, {"Estimate", true}, {"Prediction", true}, {"Measured", true}, {"Difference", true},
        {"Unit"}, {"Verdict"}, {"Tolerance", false, {}, {}, 1}, {"Instrument", false, {}, {}, 1},
        {"Reason", false, {}, {}, 1}};
    const auto real = [](const std::optional<double>& value) {
        return value ? (*value == static_cast<double>(static_cast<std::int64_t>(*value))
                       ? grouped(static_cast<std::int64_t>(*value))
                       : fmt::format("{:.2f}", *value))
                     : "–";
    };
    if (plan.runs.empty())
        out.blocks.emplace_back(
            Paragraph {"The plan names no run for these rows: they cannot be traced and prove nothing.", true});
    // What differs must be seen first.
    std::vector<EvidenceSummary> rows = plan.evidence;
    std::stable_partition(rows.begin(), rows.end(),
        [](const EvidenceSummary& row) { return row.verdict == verdictName(Verdict::Differs); });
    const auto isStale = [&](const EvidenceSummary& row) {
        return std::any_of(plan.runs.begin(), plan.runs.end(),
            [&](const RunReference& run) { return run.id == row.run && run.planHash != hash; });
    };
    std::map<std::string, int> verdicts;
    for (const EvidenceSummary& row : rows) {
        const bool rate = row.unit == unitName(Unit::BytesPerSecond);
        const auto value
            = [&](const std::optional<double>& number) { return rate && number ? formatRate(*number) : real(number); };
        table.rows.push_back({row.title, value(row.estimated), value(row.predicted), value(row.measured),
            value(row.difference), rate ? "–" : row.unit, (isStale(row) ? "~ " : "") + row.verdict, row.tolerance,
            row.instrument, row.reason});
        ++verdicts[row.verdict];
    }
    for (const auto& [verdict, count] : verdicts)
        table.caption += fmt::format("{}{} {}", table.caption.empty() ? "" : ", ", count, verdict);
    table.caption += ". Measured is read by the instrument that the row names; a row whose two figures come from one "
                     "counter gets no verdict.";
    out.blocks.emplace_back(std::move(table));
    return out;
}

} // namespace kvw
