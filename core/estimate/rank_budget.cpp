// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/rank_budget.h"

namespace kvw {

namespace {

void add(std::vector<BudgetPart>& out, const char* id, const char* title, const Quantity& bytes)
{
    if (bytes.ok())
        out.push_back({id, title, named(bytes, title, Unit::Byte)});
}

bool has(const std::optional<Quantity>& quantity)
{
    return quantity && quantity->ok();
}

/// What is beside the state: the parts that the plan states; those that it does not by their titles.
void addStated(Budget& budget, std::vector<BudgetPart>& out, const PlanInputs& inputs, const Quantity& ranks)
{
    const auto stated = [&](const char* path, const char* title) {
        if (!inputs.isStated(path))
            budget.notStated.emplace_back(title);
        return inputs.isStated(path);
    };
    if (stated("loaded.weightBytes", "weights"))
        add(out, "weights", "weights on the rank", ceilDivide(inputs.number("loaded.weightBytes"), ranks));
    if (stated("budget.activationBytes", "activation"))
        add(out, "activation", "activation peak", inputs.number("budget.activationBytes"));
    if (stated("budget.otherBytes", "other"))
        add(out, "other", "other", inputs.number("budget.otherBytes"));
}

void addPool(std::vector<BudgetPart>& out, const EngineSizing& engine, const Quantity& ranks)
{
    if (!has(engine.poolBytes))
        return;
    const Quantity& pool = *engine.poolBytes;
    const Quantity need = has(engine.engineNeedBytes) ? floorDivide(*engine.engineNeedBytes, ranks) : constant(0);
    const Quantity planned = named(minimum(pool, need), "pool: planned sequences", Unit::Byte);
    add(out, "planned", "pool: planned sequences", planned);
    add(out, "left", "pool: left", pool - planned);
    if (has(engine.availableBytes))
        add(out, "remainder", "left over by the division into blocks", *engine.availableBytes - pool);
}

void addRest(std::vector<BudgetPart>& out, const PlanInputs& inputs)
{
    const Quantity memory = inputs.number("deployment.memoryBytes");
    if (inputs.isStated("budget.utilization") && !inputs.isStated("budget.kvBytesPerRank"))
        add(out, "outside", "not for the engine",
            memory - truncate(scale(memory, inputs.number("budget.utilization"))));
    std::vector<Quantity> known;
    for (const BudgetPart& part : out)
        known.push_back(part.bytes);
    const Quantity rest = memory - sum(known);
    if (rest.ok() && rest.integer() != 0)
        add(out, "unaccounted", "not accounted for", rest);
}

/// What sequences would hold on one rank with so many tokens each, where every layer keeps all of them.
std::optional<Quantity> heldOn(
    const RankSizing& rank, const Quantity& sequences, const Quantity& tokens, const char* title)
{
    for (const Quantity& fixed : rank.groupFixedBytes) {
        if (!fixed.ok() || fixed.integer() != 0)
            return std::nullopt; // limited groups: not linear in the tokens
    }
    const Quantity bytes = named(sequences * tokens * rank.bytesPerToken, title, Unit::Byte);
    return bytes.ok() ? std::optional(bytes) : std::nullopt;
}

void addMarks(RankBudget& out, const Plan& plan, const RankSizing& sizing, PlanInputs& inputs)
{
    const Quantity sequences
        = inputs.numberOr("limits.concurrentSequences", 1, Source::Kind::Assumption, "one sequence.", "sequences");
    if (plan.limits.maxModelLen)
        out.configured = heldOn(sizing, sequences, inputs.number("limits.maxModelLen", "configured maximum"),
            "configured maximum, on the rank");
    if (plan.worksheet.retainedTokens) {
        const Quantity held = inputs.isStated("worksheet.retainedSequences")
            ? inputs.number("worksheet.retainedSequences", "sequences retained")
            : sequences;
        out.retained = heldOn(sizing, held, inputs.number("worksheet.retainedTokens", "tokens presently retained"),
            "presently retained, on the rank");
    }
}

} // namespace

std::string whyNoPool(const EngineSizing& engine)
{
    if (!engine.refusal.empty())
        return engine.refusal;
    if (!engine.unstated.empty())
        return engine.unstated.front();
    return "the engine's rules give no pool";
}

Budget budgetOf(const Plan& plan, const EngineSizing& sizing, PlanInputs& inputs)
{
    Budget out;
    if (sizing.ranks.empty()) {
        out.missing = whyNoPool(sizing);
        return out;
    }
    const Quantity ranks
        = inputs.numberOr("deployment.tp", 1, Source::Kind::EngineDefault, "one rank.", "tensor-parallel ranks");
    RankBudget& one = out.each;
    addStated(out, one.parts, inputs, ranks);
    addPool(one.parts, sizing, ranks);
    if (has(sizing.poolBytes))
        one.pool = sizing.poolBytes;
    if (inputs.isStated("deployment.memoryBytes")) {
        one.device = inputs.number("deployment.memoryBytes", "memory of the device");
        addRest(one.parts, inputs);
    } else {
        out.notStated.emplace_back("memory of the device");
    }
    addMarks(one, plan, sizing.ranks.front(), inputs);
    out.ranks = static_cast<std::int64_t>(sizing.ranks.size());
    return out;
}

std::optional<Quantity> budgetFigure(const RankBudget& rank, std::string_view id)
{
    for (const BudgetPart& part : rank.parts) {
        if (part.id == id)
            return part.bytes;
    }
    if (id == "pool")
        return rank.pool;
    if (id == "device")
        return rank.device;
    if (id == "configured")
        return rank.configured;
    return id == "retained" ? rank.retained : std::nullopt;
}

} // namespace kvw
