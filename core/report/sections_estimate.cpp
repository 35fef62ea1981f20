// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "units/format.h"

#include <fmt/format.h>

#include <set>

namespace kvw {

namespace {

std::string show(const Quantity& quantity)
{
    return formatQuantity(quantity);
}

std::string showOr(const std::optional<Quantity>& quantity)
{
    return quantity ? formatQuantity(*quantity) : "–";
}

/// Rounded and exact: "6.51 GiB (6,990,069,760 B)".
std::string showExact(const std::optional<Quantity>& quantity)
{
    if (!quantity)
        return "–";
    std::string out = formatQuantity(*quantity);
    if (quantity->ok() && quantity->isInteger() && isByteUnit(quantity->unit()) && quantity->integer() >= 1024)
        out += " (" + grouped(quantity->integer()) + " B)";
    return out;
}

std::string headsText(const LayerGroup& group)
{
    std::string out;
    for (const StateTensor& tensor : group.tensors) {
        const std::string part = fmt::format("{} × {}", tensor.heads, tensor.width);
        if (out.find(part) == std::string::npos)
            out += (out.empty() ? "" : " + ") + part;
    }
    return out.empty() ? "–" : out;
}

std::string growthOf(const LayerGroup& group)
{
    std::set<std::string> texts;
    for (const StateTensor& tensor : group.tensors)
        texts.insert(growthText(tensor.growth));
    return texts.empty() ? "–" : fmt::format("{}", fmt::join(texts, "; "));
}

std::string typesOf(const Plan& plan, const LayerGroup& group)
{
    std::string out;
    for (const StateTensor& tensor : group.tensors) {
        const ElementType type
            = tensor.elementType == ElementType::NotStated ? plan.cache.elementType : tensor.elementType;
        const std::string name(type == ElementType::NotStated ? "not stated" : factsOf(type).name);
        if (out.find(name) == std::string::npos)
            out += (out.empty() ? "" : " + ") + name;
    }
    return out.empty() ? "–" : out;
}

std::string shardOf(const LayerGroup& group)
{
    std::set<std::string> rules;
    for (const StateTensor& tensor : group.tensors)
        rules.insert(std::string(shardRuleNames()[static_cast<std::size_t>(tensor.shard)]));
    return rules.empty() ? "–" : fmt::format("{}", fmt::join(rules, "; "));
}

const char* retainedOrigin(const Plan& plan)
{
    switch (plan.worksheet.retainedFrom) {
    case RetainedFrom::NotStated:
        break;
    case RetainedFrom::Entered:
        return "entered";
    case RetainedFrom::Prediction:
        return "from a prediction";
    case RetainedFrom::LiveRun:
        return "from a live run";
    case RetainedFrom::EngineMetrics:
        return "from the engine's metrics";
    }
    return "of unstated origin";
}

void addColumn(std::vector<std::string>& row, const std::optional<TokenColumn>& column)
{
    row.push_back(column ? show(column->tokens) : "–");
    row.push_back(column ? show(column->bytes) : "–");
}

void addRankColumns(Table& table, const Estimate& estimate)
{
    if (estimate.engine.ranks.empty()) {
        table.columns.push_back({"Per rank"});
        for (std::vector<std::string>& row : table.rows)
            row.emplace_back("no sharding rule chosen");
        return;
    }
    // Many equal ranks would make a table that nobody can read: the first few stand for themselves, a row below says
    // so.
    constexpr std::size_t shown = 8;
    for (std::size_t r = 0; r < std::min(shown, estimate.engine.ranks.size()); ++r) {
        table.columns.push_back({fmt::format("Rank {}, B/token", r), true});
        for (std::size_t g = 0; g < estimate.groups.size(); ++g)
            table.rows[g].push_back(formatQuantity(estimate.engine.ranks[r].groupBytesPerToken[g]));
        table.rows.back().push_back(formatQuantity(estimate.engine.ranks[r].bytesPerToken));
    }
}

} // namespace

Section worksheetSection(const Plan& plan, const Estimate& estimate)
{
    Section out {"worksheet", "Worksheet", {}, {}};
    Table table;
    table.columns
        = {{"Layer group"}, {"Layers", true}, {"Kind"}, {"Heads × width"}, {"Type"}, {"Growth, limit"}, {"Placement"},
            {"Shard"}, {"B/token", true}, {"Fixed B/seq", true}, {"Configured tokens", true}, {"Configured", true},
            {"Retained tokens", true}, {"Retained", true}, {"Reserved tokens", true}, {"Reserved", true}};
    for (const GroupEstimate& group : estimate.groups) {
        const LayerGroup& facts = *group.group;
        std::vector<std::string> row {facts.name, grouped(facts.layers),
            std::string(layerKindNames()[static_cast<std::size_t>(facts.kind)]),
            facts.kind == LayerKind::Shared ? "reads " + facts.readsGroup : headsText(facts), typesOf(plan, facts),
            growthOf(facts),
            fmt::format("stage {}, {}", facts.pipelineStage, tierNames()[static_cast<std::size_t>(facts.tier)]),
            shardOf(facts), show(group.bytesPerToken), show(group.fixedBytes)};
        addColumn(row, group.configured);
        addColumn(row, group.retained);
        addColumn(row, group.reserved);
        table.rows.push_back(std::move(row));
    }
    table.rows.push_back({"Total", "", "", "", "", "", "", "", show(estimate.bytesPerToken), show(estimate.fixedBytes),
        "per group", showOr(estimate.idealBytes), "per group", showOr(estimate.retainedBytes), "per group",
        showOr(estimate.reservedBytes)});
    table.lastRowIsTotal = true;
    addRankColumns(table, estimate);
    table.caption = fmt::format("Three token columns, never one: configured maximum, presently retained ({}), reserved "
                                "by pool or admission. Totals exclude {}.",
        plan.worksheet.retainedTokens ? fmt::format("{} tokens a sequence, {} at {}",
            grouped(*plan.worksheet.retainedTokens), retainedOrigin(plan),
            plan.worksheet.retainedAt.empty() ? "a time that is not stated" : plan.worksheet.retainedAt)
                                      : "not stated",
        fmt::join(estimate.excludes, ", "));
    out.blocks.emplace_back(std::move(table));
    if (estimate.engine.ranks.size() > 8)
        out.blocks.emplace_back(Paragraph {
            fmt::format("All {} ranks keep the same; the first 8 are shown.", estimate.engine.ranks.size())});
    if (!estimate.label.empty())
        out.blocks.emplace_back(Paragraph {"This is " + estimate.label + ".", true});
    return out;
}

Section needSection(const Estimate& estimate)
{
    Section out {"need", "From ideal need to engine need", {}, {}};
    Table table;
    table.columns = {{"Step"}, {"Bytes", true}, {"Exact", true}};
    const auto add = [&](const std::string& name, const std::optional<Quantity>& quantity) {
        table.rows.push_back({name, showOr(quantity),
            quantity && quantity->ok() && quantity->isInteger() ? grouped(quantity->integer()) : "–"});
    };
    add("Ideal need, planned sequences at the configured maximum", estimate.idealBytes);
    for (const NeedDifference& difference : estimate.engine.differences)
        add("+ " + difference.title, difference.bytes);
    add("Engine need, all ranks", estimate.engine.engineNeedBytes);
    table.lastRowIsTotal = true;
    out.blocks.emplace_back(std::move(table));
    if (!estimate.engine.engineNeedBytes) {
        out.blocks.emplace_back(
            Paragraph {estimate.engine.refusal.empty() ? "There is no engine need: "
                        + (estimate.engine.unstated.empty() ? std::string("no engine is chosen")
                                                            : estimate.engine.unstated.front())
                        + "."
                                                       : "There is no engine need: " + estimate.engine.refusal + ".",
                true});
    }
    return out;
}

Section engineSection(const Plan& plan, const Estimate& estimate)
{
    const EngineSizing& engine = estimate.engine;
    Section out {"engine", "Engine and budget", {}, {}};
    Facts facts;
    facts.rows = {{"Engine", engine.name + (engine.version.empty() ? "" : " " + engine.version)},
        {"Rules", engine.rules}, {"Device", plan.deployment.gpu.empty() ? "not stated" : plan.deployment.gpu}};
    if (!engine.refusal.empty()) {
        facts.rows.emplace_back("Refused", engine.refusal);
        out.blocks.emplace_back(std::move(facts));
        return out;
    }
    facts.rows.emplace_back("Tokens of a block", showOr(engine.blockTokens));
    facts.rows.emplace_back("Bytes of a block, one rank", showExact(engine.bytesPerBlock));
    facts.rows.emplace_back("Available for state, per rank", showExact(engine.availableBytes));
    facts.rows.emplace_back("Blocks", showOr(engine.blocks));
    facts.rows.emplace_back("Pool, per rank", showExact(engine.poolBytes));
    facts.rows.emplace_back("Tokens, as the engine prints", showOr(engine.tokens));
    facts.rows.emplace_back(
        "Maximum concurrency, as the engine prints", engine.maxConcurrency ? showOr(engine.maxConcurrency) + "×" : "–");
    facts.rows.emplace_back("Need of one request at the configured maximum", showExact(engine.needBytes));
    facts.rows.emplace_back("Longest request that fits", showOr(engine.largestLength));
    facts.rows.emplace_back(
        "One request at the configured maximum", engine.fits ? (*engine.fits ? "fits" : "does not fit") : "not known");
    facts.rows.emplace_back("All planned sequences at the configured maximum",
        engine.fitsConcurrency ? (*engine.fitsConcurrency ? "fit" : "do not fit at the same time") : "not known");
    out.blocks.emplace_back(std::move(facts));
    if (!engine.unstated.empty())
        out.blocks.emplace_back(Bullets {engine.unstated});
    return out;
}

Section strategiesSection(const Estimate& estimate)
{
    Section out {"strategies", "Allocation strategies", {}, {}};
    Table table;
    table.columns = {{"Strategy"}, {"Reserved", true}, {"Exact", true}, {"What is priced"}};
    static constexpr const char* names[] {"not stated", "paged pool", "static contiguous", "growing contiguous"};
    for (const StrategyPrice& price : estimate.strategies) {
        table.rows.push_back({names[static_cast<std::size_t>(price.strategy)], showOr(price.bytes),
            price.bytes && price.bytes->ok() ? grouped(price.bytes->integer()) : "–", price.note});
    }
    out.blocks.emplace_back(std::move(table));
    return out;
}

Formula formulaOf(const Quantity& quantity, std::string label, std::string title)
{
    Formula out;
    out.label = std::move(label);
    out.title = std::move(title);
    out.words = formulaInWords(quantity.derivation());
    out.numbers = formulaInNumbers(quantity.derivation());
    out.result = quantity.ok() ? formatNumber(quantity.number()) + " " + std::string(unitName(quantity.unit()))
                               : quantity.error();
    if (quantity.ok() && quantity.isInteger() && isByteUnit(quantity.unit()))
        out.result += " = " + format(Bytes(quantity.integer()));
    for (const Derivation& input : inputsOf(quantity.derivation())) {
        if (!input->name.empty())
            out.inputs.emplace_back(
                input->name + " = " + formatNumber(input->value), input->source ? sourceText(*input->source) : "");
    }
    out.excludes = quantity.derivation()->excludes;
    return out;
}

Section formulasSection(const Estimate& estimate)
{
    Section out {"formulas", "Formulas", {}, {}};
    std::size_t number = 0;
    const auto add = [&](const std::string& title, const std::optional<Quantity>& quantity) {
        if (quantity)
            out.blocks.emplace_back(formulaOf(*quantity, fmt::format("F{}", ++number), title));
    };
    for (const GroupEstimate& group : estimate.groups) {
        add(group.group->name + ": growing bytes per token", group.bytesPerToken);
        if (group.fixedBytes.ok() && group.fixedBytes.integer() != 0)
            add(group.group->name + ": bytes of one sequence at the limit", group.fixedBytes);
        if (group.configured)
            add(group.group->name + ": configured maximum", group.configured->bytes);
    }
    add("Ideal need", estimate.idealBytes);
    add("Presently retained", estimate.retainedBytes);
    add("Bytes per block", estimate.engine.bytesPerBlock);
    add("Blocks", estimate.engine.blocks);
    add("Blocks per request", estimate.engine.blocksPerRequest);
    add("Maximum concurrency", estimate.engine.maxConcurrency);
    add("Engine need", estimate.engine.engineNeedBytes);
    add("Reserved", estimate.reservedBytes);
    return out;
}

} // namespace kvw
