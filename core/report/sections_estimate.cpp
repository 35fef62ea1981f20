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

std::string configuredHead(const Plan& plan)
{
    if (!plan.limits.maxModelLen)
        return "Configured maximum: not stated";
    return fmt::format("Configured maximum: {} × {} tokens", grouped(plan.limits.concurrentSequences.value_or(1)),
        grouped(*plan.limits.maxModelLen));
}

std::string retainedHead(const Plan& plan)
{
    if (!plan.worksheet.retainedTokens)
        return "Presently retained: not stated";
    return std::string("Presently retained: ") + retainedOrigin(plan)
        + (plan.worksheet.retainedAt.empty() ? "" : ", " + plan.worksheet.retainedAt);
}

void addColumn(std::vector<std::string>& row, const std::optional<TokenColumn>& column)
{
    row.push_back(column ? show(column->tokens) : "–");
    row.push_back(column ? show(column->bytes) : "–");
}

void addRankColumns(Table& table, const Estimate& estimate)
{
    if (estimate.engine.ranks.empty()) {
        table.columns.push_back({"Per rank", false, {}, {}, 1});
        for (std::vector<std::string>& row : table.rows)
            row.emplace_back("no sharding rule chosen");
        return;
    }
    // Many equal ranks would make a table that nobody can read: the first few stand for themselves, a row below says
    // so.
    constexpr std::size_t shown = 8;
    const int band = estimate.engine.ranks.size() > 1 ? 2 : 1;
    for (std::size_t r = 0; r < std::min(shown, estimate.engine.ranks.size()); ++r) {
        table.columns.push_back({fmt::format("Rank {}, B/token", r), true, {}, {}, band});
        for (std::size_t g = 0; g < estimate.groups.size(); ++g)
            table.rows[g].push_back(formatQuantity(estimate.engine.ranks[r].groupBytesPerToken[g]));
        table.rows.back().push_back(formatQuantity(estimate.engine.ranks[r].bytesPerToken));
    }
}

} // namespace

Section worksheetSection(const Plan& plan, const Estimate& estimate)
{
    Section out {"worksheet", "Worksheet", {},
        "The reader may conclude what attention state the stated shapes and lengths hold, and what is reserved for it, "
        "to "
        "the byte. Not that it fits a device with what the totals exclude, nor anything about speed."};
    Table table;
    const std::string configured = configuredHead(plan);
    const std::string retained = retainedHead(plan);
    const std::string reserved = estimate.engine.poolBytes ? "Reserved: the pool, all ranks" : "Reserved";
    table.columns = {{"Layer group"}, {"Layers", true}, {"Kind"}, {"Heads × width"}, {"Type"}, {"Growth, limit"},
        {"Placement"}, {"Shard"}, {"B/token", true}, {"Fixed B/seq", true},
        {"Configured tokens", true, configured, "Tokens", 1}, {"Configured", true, configured, "Bytes", 1},
        {"Retained tokens", true, retained, "Tokens", 1}, {"Retained", true, retained, "Bytes", 1},
        {"Reserved tokens", true, reserved, "Tokens", 1}, {"Reserved", true, reserved, "Bytes", 1}};
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

namespace {

bool whole(const std::optional<Quantity>& quantity)
{
    return quantity && quantity->ok() && quantity->isInteger();
}

/// From ideal need over every difference that is not 0 to engine need; nothing when either end is missing.
std::optional<Figure> bridgeFigure(const Estimate& estimate)
{
    if (!whole(estimate.idealBytes) || !whole(estimate.engine.engineNeedBytes))
        return std::nullopt;
    Figure out {"need_bridge", "From ideal need to engine need", {}, "bytes", {}};
    out.kind = Figure::Kind::Bridge;
    const auto exact = [](std::int64_t bytes) { return grouped(bytes) + " B"; };
    std::int64_t at = estimate.idealBytes->integer();
    out.bars.push_back({"Ideal need", 0, at, exact(at), Figure::Bar::Role::Ideal});
    std::string none;
    for (const NeedDifference& difference : estimate.engine.differences) {
        if (!difference.bytes.ok() || !difference.bytes.isInteger())
            return std::nullopt;
        const std::int64_t bytes = difference.bytes.integer();
        if (bytes == 0) {
            none += (none.empty() ? "" : ", ") + difference.title;
            continue;
        }
        out.bars.push_back({"+ " + difference.title, at, at + bytes, (bytes > 0 ? "+" : "") + exact(bytes),
            Figure::Bar::Role::Difference});
        at += bytes;
    }
    const std::int64_t engine = estimate.engine.engineNeedBytes->integer();
    out.bars.push_back({"Engine need", 0, engine, exact(engine), Figure::Bar::Role::Engine});
    if (whole(estimate.reservedBytes) && estimate.engine.poolBytes) {
        out.limit = estimate.reservedBytes->integer();
        out.limitName = "pool, all ranks: " + format(Bytes(*out.limit));
    }
    out.caption = "The planned sequences at the configured maximum, all ranks."
        + (none.empty() ? "" : " 0 here: " + none + ".")
        + " A triangle points at a step that is thinner than the line.";
    return out;
}

/// The parts of a difference a − b − c …, first to last.
void addTerms(const Derivation& node, bool minus, std::vector<std::pair<bool, Quantity>>& out)
{
    if (node->operation == Operation::Subtract && (out.empty() || node->name.empty())) {
        addTerms(node->operands[0], minus, out);
        addTerms(node->operands[1], !minus, out);
        return;
    }
    out.emplace_back(minus, Quantity(node));
}

/// What is left for state on one rank, and how it came about.
Table budgetTable(const EngineSizing& engine)
{
    Table out;
    out.columns = {{"Budget of one rank"}, {"Bytes", true}, {"Exact", true}, {"From"}};
    const auto add = [&](const std::string& name, const Quantity& quantity, const std::string& from) {
        out.rows.push_back(
            {name, show(quantity), quantity.ok() && quantity.isInteger() ? grouped(quantity.integer()) : "–", from});
    };
    std::vector<std::pair<bool, Quantity>> terms;
    addTerms(engine.availableBytes->derivation(), false, terms);
    for (const auto& [minus, term] : terms) {
        const DerivationNode& node = *term.derivation();
        const bool alone = terms.size() == 1;
        add((minus ? "− " : "") + (alone && node.operation == Operation::Same ? node.operands[0]->name : node.name),
            term,
            node.source ? sourceText(*node.source)
                : alone && node.operation == Operation::Same && node.operands[0]->source
                ? sourceText(*node.operands[0]->source)
                : formulaInWords(term.derivation()));
    }
    add("Available for state", *engine.availableBytes, "");
    out.rows.back()[3] = engine.availableBytes->derivation()->source
        ? sourceText(*engine.availableBytes->derivation()->source)
        : "as stated";
    out.lastRowIsTotal = true;
    return out;
}

Figure::Bar::Role roleOf(const BudgetPart& part)
{
    if (part.id == "planned" || part.id == "left")
        return Figure::Bar::Role::State;
    const bool taken = part.id == "weights" || part.id == "activation" || part.id == "other";
    return taken ? Figure::Bar::Role::NotState : Figure::Bar::Role::Unused;
}

/// Parts of one rank's memory, side by side: what is not state, the pool, what its division leaves over.
std::optional<Figure> budgetBars(const Budget& budget)
{
    if (budget.ranks.empty() || !budget.ranks.front().pool)
        return std::nullopt;
    Figure out {"budget", "Budget of one rank", {}, "bytes", {}};
    out.kind = Figure::Kind::Budget;
    std::int64_t at = 0;
    for (const BudgetPart& part : budget.ranks.front().parts) {
        const std::int64_t bytes = part.bytes.integer();
        if (bytes > 0)
            out.bars.push_back({part.title, at, at + bytes, grouped(bytes) + " B", roleOf(part)});
        at += std::max<std::int64_t>(bytes, 0);
    }
    out.caption = budget.notStated.empty()
        ? "One rank's memory. Not state: weights, activation and other memory, as the plan states them."
        : fmt::format("One rank's memory, as far as the plan states it. Not stated, so no part of it: {}.",
            fmt::join(budget.notStated, ", "));
    return out;
}

} // namespace

Section needSection(const Estimate& estimate)
{
    Section out {"need", "From ideal need to engine need", {},
        "The reader may conclude where every byte between the shapes' own need and the engine's comes from, by the "
        "rules "
        "named. Not that an engine of another version needs the same."};
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
    if (std::optional<Figure> bridge = bridgeFigure(estimate))
        out.blocks.emplace_back(std::move(*bridge));
    return out;
}

Section engineSection(const Plan& plan, const Estimate& estimate)
{
    const EngineSizing& engine = estimate.engine;
    Section out {"engine", "Engine and budget", {},
        "The reader may conclude what this engine's sizing rule prints for the stated budget. Available memory and the "
        "longest possible request are two figures: the first is memory, the second a rule about one request. Not that "
        "the device has the memory: it is what the plan states."};
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
    if (engine.availableBytes)
        out.blocks.emplace_back(budgetTable(engine));
    if (std::optional<Figure> budget = budgetBars(estimate.budget))
        out.blocks.emplace_back(std::move(*budget));
    return out;
}

Section strategiesSection(const Estimate& estimate)
{
    Section out {"strategies", "Allocation strategies", {},
        "The reader may compare what each strategy would reserve for the same planned sequences. Not which is faster."};
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

} // namespace kvw
