// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/json_output.h"

#include <nlohmann/json.hpp>

namespace kvw {

namespace {

OrderedJson number(const std::optional<Number>& value)
{
    if (!value)
        return nullptr;
    return std::visit([](auto plain) { return OrderedJson(plain); }, *value);
}

OrderedJson outcomesJson(const std::array<std::int64_t, outcomeCount>& outcomes)
{
    OrderedJson out;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
        out[outcomeName(static_cast<Outcome>(i))] = outcomes[i];
    return out;
}

OrderedJson quantiles(const StepDistribution& distribution)
{
    return {{"count", distribution.sorted.size()}, {"median", distribution.quantile(0.5)},
        {"p90", distribution.quantile(0.9)}, {"p99", distribution.quantile(0.99)}, {"max", distribution.quantile(1)}};
}

OrderedJson latencies(const RunRecord& record, bool warm)
{
    return {{"queueSteps", quantiles(record.queueSteps(warm))},
        {"firstTokenSteps", quantiles(record.firstTokenSteps(warm))},
        {"perTokenSteps", quantiles(record.perTokenSteps(warm))},
        {"endToEndSteps", quantiles(record.endToEndSteps(warm))}};
}

OrderedJson tenantJson(const TenantRecord& tenant)
{
    OrderedJson causes;
    for (std::size_t i = 0; i < tenant.missCauses.size(); ++i)
        causes[missCauseName(static_cast<MissCause>(i))] = tenant.missCauses[i];
    return {{"id", tenant.id}, {"outcomes", outcomesJson(tenant.outcomes)}, {"promptTokens", tenant.promptTokens},
        {"hitTokens", tenant.hitTokens}, {"neverComputed", tenant.neverComputed}, {"missCauses", causes}};
}

OrderedJson layoutJson(const RunSetup& setup)
{
    OrderedJson pools = OrderedJson::array();
    for (const PoolSpec& pool : setup.layout.pools)
        pools.push_back(
            {{"blocks", pool.blocks.value}, {"held", pool.held.value}, {"blockBytes", pool.blockBytes.value}});
    OrderedJson groups = OrderedJson::array();
    for (const GroupLayout& group : setup.layout.groups)
        groups.push_back({{"id", group.id}, {"pool", group.pool}, {"blockTokens", group.blockTokens},
            {"bytesPerToken", group.bytesPerToken()}});
    OrderedJson domains = OrderedJson::array();
    for (std::size_t t = 0; t < setup.workload.tenants.size(); ++t)
        domains.push_back(
            {{"tenant", setup.workload.tenants[t]}, {"domain", setup.domains[t].id}, {"key", setup.domains[t].key}});
    return {{"rank", setup.layout.rank}, {"pools", pools}, {"groups", groups}, {"domains", domains}};
}

OrderedJson recordJson(const RunRecord& record)
{
    OrderedJson tenants = OrderedJson::array();
    for (const TenantRecord& tenant : record.tenants)
        tenants.push_back(tenantJson(tenant));
    OrderedJson requests = OrderedJson::array();
    for (const RequestRecord& request : record.requests) {
        requests.push_back({{"id", request.id},
            {"tenant", record.tenants.empty() ? "" : record.tenants[request.tenant].id},
            {"outcome", outcomeName(request.outcome)}, {"reason", request.reason},
            {"promptTokens", request.promptTokens}, {"outputTokens", request.outputTokens},
            {"arrivalStep", request.arrivalStep}, {"admitStep", request.admitStep},
            {"firstTokenStep", request.firstTokenStep}, {"endStep", request.endStep}, {"hitTokens", request.hitTokens},
            {"neverComputed", request.neverComputed}, {"recomputedTokens", request.recomputedTokens},
            {"preemptions", request.preemptions}, {"mostBlocks", request.mostBlocks},
            {"missCause", missCauseName(request.missCause)}, {"warm", request.warm}});
    }
    OrderedJson samples = OrderedJson::array();
    for (const StepSample& sample : record.samples) {
        samples.push_back(
            {{"step", sample.step}, {"running", sample.running}, {"waiting", sample.waiting}, {"active", sample.active},
                {"cached", sample.cached}, {"free", sample.free}, {"activeBytes", sample.activeBytes},
                {"cachedBytes", sample.cachedBytes}, {"reservedBytes", sample.reservedBytes}});
    }
    return {{"kind", record.kind}, {"device", record.device}, {"complete", record.complete},
        {"stopReason", record.stopReason}, {"steps", record.steps}, {"outcomes", outcomesJson(record.outcomes())},
        {"preemptions", record.preemptions}, {"recomputedTokens", record.recomputedTokens},
        {"computedTokens", record.computedTokens}, {"appendedBytes", record.appendedBytes},
        {"evictions", record.evictions}, {"readBackEntries", record.readBackEntries}, {"peakStep", record.peakStep()},
        {"final",
            {{"active", record.finalActive}, {"cached", record.finalCached}, {"free", record.finalFree},
                {"held", record.finalHeld}}},
        {"tenants", tenants}, {"cold", latencies(record, false)}, {"warm", latencies(record, true)},
        {"requests", requests}, {"samples", samples}};
}

} // namespace

OrderedJson predictionJson(const RunSetup& setup, const RunRecord& record)
{
    return {{"planHash", setup.planHash}, {"workloadHash", record.workloadHash}, {"poolFraction", setup.poolFraction},
        {"rules", setup.behaviour.rule}, {"layout", layoutJson(setup)},
        {"assumptions", assumptionsJson(setup.assumptions)}, {"prediction", recordJson(record)}};
}

OrderedJson evidenceJson(const std::vector<EvidenceRow>& rows)
{
    OrderedJson out = OrderedJson::array();
    for (const EvidenceRow& row : rows) {
        out.push_back({{"id", row.id}, {"title", row.title}, {"unit", unitName(row.unit)},
            {"estimated", number(row.estimated)}, {"predicted", number(row.predicted)},
            {"measured", number(row.measured)}, {"instrument", row.instrument},
            {"difference", row.difference ? OrderedJson(*row.difference) : OrderedJson(nullptr)},
            {"tolerance", {{"below", row.below}, {"above", row.above}, {"reason", row.toleranceReason}}},
            {"verdict", verdictName(row.verdict)}, {"reason", row.reason}});
    }
    return out;
}

OrderedJson probeJson(
    const RunSetup& setup, const RunRecord& prediction, const LiveRun& live, const std::vector<EvidenceRow>& rows)
{
    OrderedJson out = predictionJson(setup, prediction);
    out["live"] = recordJson(live.record);
    const DeviceInfo& device = live.readings.device;
    out["device"] = {{"id", device.id}, {"name", device.name}, {"totalBytes", device.totalBytes},
        {"availableBytes", device.availableBytes}, {"memorySource", device.memorySource}};
    OrderedJson domains = OrderedJson::array();
    if (live.readings.last) {
        for (const std::uint16_t domain : live.readings.last->domains)
            domains.push_back(domain);
    }
    out["domainsInPool"] = std::move(domains);
    out["bytesReadBack"] = live.readings.verified.bytesRead;
    out["evidence"] = evidenceJson(rows);
    const VerdictCounts counts = countVerdicts(rows);
    out["verdicts"] = {{"agrees", counts.agrees}, {"differs", counts.differs}, {"notComparable", counts.notComparable},
        {"sameCounter", counts.sameCounter}, {"notTested", counts.notTested}};
    if (!live.status)
        out["stopped"] = errorJson(live.status.error())["error"];
    return out;
}

namespace {

OrderedJson barsJson(const Figure& figure)
{
    OrderedJson out = OrderedJson::array();
    for (const Figure::Bar& bar : figure.bars)
        out.push_back({{"name", bar.name}, {"from", bar.from}, {"to", bar.to}});
    return out;
}

/// Blocks by number as runs of one state: [["free", 12], …].
OrderedJson poolsJson(const Figure& figure)
{
    OrderedJson out = OrderedJson::array();
    for (const Figure::Pool& pool : figure.pools) {
        OrderedJson runs = OrderedJson::array();
        for (const Figure::Run& run : pool.runs)
            runs.push_back(OrderedJson::array({run.state, run.blocks}));
        out.push_back({{"title", pool.title}, {"runs", std::move(runs)}});
    }
    return out;
}

OrderedJson coverJson(const Cover& cover)
{
    OrderedJson strip = OrderedJson::array();
    for (const Cover::Headline& one : cover.strip)
        strip.push_back({{"title", one.title}, {"value", one.value}, {"unit", one.unit}, {"note", one.note}});
    return {{"classification", cover.classification}, {"line", cover.line}, {"strip", std::move(strip)}};
}

} // namespace

OrderedJson documentJson(const Document& document)
{
    OrderedJson sections = OrderedJson::array();
    for (const Section& section : document.sections) {
        OrderedJson blocks = OrderedJson::array();
        for (const ReportBlock& block : section.blocks) {
            if (const auto* table = std::get_if<Table>(&block)) {
                OrderedJson columns = OrderedJson::array();
                for (const Table::Column& column : table->columns)
                    columns.push_back(column.title);
                blocks.push_back(
                    {{"table", {{"columns", columns}, {"rows", table->rows}, {"caption", table->caption}}}});
            } else if (const auto* facts = std::get_if<Facts>(&block)) {
                OrderedJson rows = OrderedJson::array();
                for (const auto& [name, value] : facts->rows)
                    rows.push_back({{"name", name}, {"value", value}});
                blocks.push_back({{"facts", rows}});
            } else if (const auto* bullets = std::get_if<Bullets>(&block)) {
                blocks.push_back({{"bullets", bullets->items}});
            } else if (const auto* paragraph = std::get_if<Paragraph>(&block)) {
                blocks.push_back({{"paragraph", paragraph->text}});
            } else if (const auto* formula = std::get_if<Formula>(&block)) {
                OrderedJson inputs = OrderedJson::array();
                for (const auto& [input, source] : formula->inputs)
                    inputs.push_back({{"input", input}, {"source", source}});
                blocks.push_back({{"formula",
                    {{"label", formula->label}, {"title", formula->title}, {"words", formula->words},
                        {"numbers", formula->numbers}, {"result", formula->result}, {"inputs", inputs},
                        {"excludes", formula->excludes}, {"rule", formula->rule}, {"assumed", formula->assumed}}}});
            } else if (const auto* figure = std::get_if<Figure>(&block)) {
                OrderedJson series = OrderedJson::array();
                for (const Figure::Series& one : figure->series)
                    series.push_back({{"name", one.name}, {"points", one.points}});
                blocks.push_back({{"figure",
                    {{"id", figure->id}, {"title", figure->title}, {"x", figure->xTitle}, {"y", figure->yTitle},
                        {"series", series}, {"bars", barsJson(*figure)}, {"pools", poolsJson(*figure)},
                        {"caption", figure->caption}}}});
            }
        }
        sections.push_back(
            {{"id", section.id}, {"title", section.title}, {"blocks", blocks}, {"conclusion", section.conclusion}});
    }
    return {{"title", document.title}, {"subtitle", document.subtitle}, {"cover", coverJson(document.cover)},
        {"sections", sections}, {"footer", document.footer}};
}

} // namespace kvw
