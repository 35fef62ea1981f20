// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/launch_line.h"
#include "estimate/capacity.h"
#include "plan/choices.h"
#include "report/report_words.h"
#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>

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
    out.columns = {{"Part"}, {"Bytes", true}, {"Exact, bytes", true}, {"From"}};
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
            node.source ? sourceForReaders(*node.source)
                : alone && node.operation == Operation::Same && node.operands[0]->source
                ? sourceForReaders(*node.operands[0]->source)
                : formulaInWords(term.derivation()));
    }
    add("Available for state", *engine.availableBytes, "");
    out.rows.back()[3] = engine.availableBytes->derivation()->source
        ? sourceForReaders(*engine.availableBytes->derivation()->source)
        : "as stated";
    out.lastRowIsTotal = true;
    out.caption = "Budget of one rank: what is left for state, and how it comes about.";
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
    if (budget.ranks == 0 || !budget.each.pool)
        return std::nullopt;
    Figure out {"budget", "Budget of one rank", {}, "bytes", {}};
    out.kind = Figure::Kind::Budget;
    std::int64_t at = 0;
    for (const BudgetPart& part : budget.each.parts) {
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

namespace {

/// Why there is no engine need, pool or budget.
std::string whyNone(const EngineSizing& engine)
{
    if (!engine.refusal.empty())
        return engine.refusal;
    return engine.ranks.empty() || engine.unstated.empty() ? "no engine is chosen, so there is no sharding rule"
                                                           : engine.unstated.front();
}

} // namespace

Section needSection(const Estimate& estimate)
{
    const EngineSizing& engine = estimate.engine;
    Section out {"need", "From ideal need to engine need", {},
        engine.engineNeedBytes
            ? "The reader may conclude where every byte between the shapes' own need and the engine's comes from, by "
              "the rules named. Not that an engine of another version needs the same."
            : "The reader may conclude what the shapes themselves need. Not what any engine would allocate for them: "
              "blocks, padding and copies on several ranks come on top."};
    Table table;
    table.columns = {{"Step"}, {"Bytes", true}, {"Exact, bytes", true}};
    const auto add = [&](const std::string& name, const std::optional<Quantity>& quantity) {
        table.rows.push_back({name, showOr(quantity),
            quantity && quantity->ok() && quantity->isInteger() ? grouped(quantity->integer()) : "–"});
    };
    add("Ideal need, the model once", estimate.idealBytes);
    for (const NeedDifference& difference : engine.differences)
        add("+ " + difference.title, difference.bytes);
    if (engine.engineNeedBytes) {
        add("Engine need, all ranks", engine.engineNeedBytes);
        table.lastRowIsTotal = true;
    }
    table.caption = "The planned sequences at the configured maximum, in the order of the engine's own rules.";
    if (!engine.engineNeedBytes)
        table.caption = "The planned sequences at the configured maximum.";
    out.blocks.emplace_back(std::move(table));
    if (!engine.engineNeedBytes)
        out.blocks.emplace_back(Paragraph {"There is no engine need: " + whyNone(engine) + ".", true});
    if (std::optional<Figure> bridge = bridgeFigure(estimate))
        out.blocks.emplace_back(std::move(*bridge));
    return out;
}

namespace {

/// What the engine's rules say, from the block to the fit.
Facts engineFacts(const Plan& plan, const EngineSizing& engine)
{
    Facts out;
    out.rows.emplace_back("Tokens of a block", showOr(engine.blockTokens));
    out.rows.emplace_back("Bytes of a block, one rank", showExact(engine.bytesPerBlock));
    out.rows.emplace_back("Available for state, per rank", showExact(engine.availableBytes));
    out.rows.emplace_back("Blocks", showOr(engine.blocks));
    out.rows.emplace_back("Pool, per rank", showExact(engine.poolBytes));
    out.rows.emplace_back("Tokens, as the engine prints", showOr(engine.tokens));
    out.rows.emplace_back(
        "Maximum concurrency, as the engine prints", engine.maxConcurrency ? showOr(engine.maxConcurrency) + "×" : "–");
    out.rows.emplace_back("Need of one request at the configured maximum", showExact(engine.needBytes));
    out.rows.emplace_back("Longest request that the engine admits", showOr(engine.largestLength));
    out.rows.emplace_back("Longest request that the pool can hold", showOr(engine.largestHeld));
    out.rows.emplace_back(
        "One request at the configured maximum", engine.fits ? (*engine.fits ? "fits" : "does not fit") : "not known");
    std::string sequences = "not known";
    if (plan.limits.maxModelLen) {
        const Result<LengthCapacity> capacity = capacityAt(plan, *plan.limits.maxModelLen);
        if (capacity && capacity->engineSequences && capacity->engineSequences->ok() && capacity->usableBlocks)
            sequences = fmt::format("{}: {} blocks to give away, {} for each",
                counted(capacity->engineSequences->integer(), "sequence", "sequences"), show(*capacity->usableBlocks),
                showOr(capacity->blocksEach));
    }
    out.rows.emplace_back("Whole sequences that fit at the configured maximum", sequences);
    out.rows.emplace_back("All planned sequences at the configured maximum",
        engine.fitsConcurrency ? (*engine.fitsConcurrency ? "fit" : "do not fit at the same time") : "not known");
    out.caption = "By the engine's rules. What it prints counts every block and cuts nothing; the whole sequences are "
                  "those of the blocks that it gives away.";
    return out;
}

std::string engineConclusion(const EngineSizing& engine)
{
    if (!engine.refusal.empty())
        return "Nothing may be concluded about an engine: its rules do not cover this plan.";
    if (engine.ranks.empty())
        return "Nothing may be concluded about an engine, a pool or a fit: there is no engine, and sizes are of the "
               "whole model.";
    if (!engine.poolBytes)
        return "The reader may conclude what a block holds. Not how many there are, nor what fits: the memory for "
               "state "
               "is not stated.";
    return "The reader may conclude what this engine's sizing rule prints for the stated budget. Available memory and "
           "the longest possible request are two figures: the first is memory, the second a rule about one request. "
           "Not that the device has the memory: it is what the plan states.";
}

/// The line that starts the engine so, and which field each argument is from.
void addLaunch(const Plan& plan, Section& out)
{
    const Result<LaunchLine> line = launchLine(plan);
    if (!line)
        return;
    out.blocks.emplace_back(Paragraph {"Launch line: " + line->text()});
    Table arguments;
    arguments.columns = {{"Argument"}, {"Value"}, {"Plan field"}};
    for (const LaunchArgument& argument : line->arguments)
        arguments.rows.push_back(
            {argument.flag, marked(plan, argument.field, argument.value), fieldTitle(argument.field)});
    arguments.caption = "The arguments of the launch line. What is not stated is left to the engine's defaults.";
    if (!arguments.rows.empty())
        out.blocks.emplace_back(std::move(arguments));
    if (!line->remarks.empty())
        out.blocks.emplace_back(Bullets {line->remarks});
}

} // namespace

Section engineSection(const Plan& plan, const Estimate& estimate)
{
    const EngineSizing& engine = estimate.engine;
    Section out {"engine", "Engine and budget", {}, engineConclusion(engine)};
    const Result<const EngineRules*> rules = engineRules(plan.engine.name);
    Facts facts;
    facts.rows = {{"Engine",
                      (rules ? std::string((*rules)->title()) : engine.name)
                          + (engine.version.empty() ? "" : " " + engine.version)},
        {"Rules", engine.rules}, {"Device", plan.deployment.gpu.empty() ? "not stated" : plan.deployment.gpu}};
    if (!engine.refusal.empty())
        facts.rows.emplace_back("Refused", engine.refusal);
    facts.caption = "The engine, its rules and the device, as the plan states them.";
    const bool sized = engine.refusal.empty() && !engine.ranks.empty();
    if (sized) {
        Facts figures = engineFacts(plan, engine);
        facts.rows.insert(facts.rows.end(), figures.rows.begin(), figures.rows.end());
        facts.caption = figures.caption;
    }
    out.blocks.emplace_back(std::move(facts));
    if (!sized && engine.refusal.empty())
        out.blocks.emplace_back(Paragraph {"There is no block, pool, budget or fit: " + whyNone(engine)
                + ". Sizes are of the whole model, never divided by the number of devices.",
            true});
    else if (!engine.unstated.empty())
        out.blocks.emplace_back(Bullets {engine.unstated});
    if (engine.availableBytes)
        out.blocks.emplace_back(budgetTable(engine));
    if (std::optional<Figure> budget = budgetBars(estimate.budget))
        out.blocks.emplace_back(std::move(*budget));
    addLaunch(plan, out);
    return out;
}

Section strategiesSection(const Estimate& estimate)
{
    const std::size_t ranks = estimate.engine.ranks.size();
    Section out {"strategies", "Allocation strategies", {},
        "The reader may compare what each strategy would reserve for the same planned sequences, on the same ranks. "
        "Not which is faster, nor what a reading at another time would give."};
    Table table;
    table.columns = {{"Strategy"}, {"Reserved", true}, {"Exact, bytes", true}, {"What is priced"}};
    for (const StrategyPrice& price : estimate.strategies) {
        table.rows.push_back({std::string(choiceTitle(allocationNames(), static_cast<std::size_t>(price.strategy))),
            showOr(price.bytes), price.bytes && price.bytes->ok() ? grouped(price.bytes->integer()) : "–", price.note});
    }
    table.caption = ranks == 0 ? "All three for the whole model, once: no sharding rule is chosen."
        : ranks == 1           ? "All three on the one rank."
                               : fmt::format("All three on {} ranks together, by the engine's sharding rule.", ranks);
    out.blocks.emplace_back(std::move(table));
    return out;
}

} // namespace kvw
