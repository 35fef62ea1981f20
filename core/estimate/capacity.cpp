// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/capacity.h"

#include "plan/field_table.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

/// Blocks of the pool that are never given away, by the engine's layout, or its rule where it has none.
std::int64_t heldBlocks(const Plan& plan, const EngineRules& rules, const EngineSizing& engine)
{
    const Result<PoolLayout> layout = rules.layout(plan, {engine.blocks->integer()});
    if (!layout)
        return engine.heldBlocks;
    std::int64_t out = 0;
    for (const PoolSpec& pool : layout->pools)
        out += pool.held.value;
    return out;
}

} // namespace

std::optional<double> LengthCapacity::shareOf(std::int64_t sequences) const
{
    if (!blocksEach || !usableBlocks || usableBlocks->integer() <= 0)
        return std::nullopt;
    return static_cast<double>(sequences) * blocksEach->real() / usableBlocks->real();
}

Result<LengthCapacity> capacityAt(const Plan& plan, std::int64_t length)
{
    Plan asked = plan;
    if (plan.limits.maxModelLen != length) {
        asked.limits.maxModelLen = length;
        asked.provenance.set("limits.maxModelLen",
            Source {Source::Kind::User, "asked for: not the plan's own length", "limits.maxModelLen"});
    }
    const Result<const EngineRules*> rules = engineRules(asked.engine.name);
    if (!rules)
        return rules.error();
    const Result<Estimate> figures = estimate(asked);
    if (!figures)
        return figures.error();
    const EngineSizing& engine = figures->engine;
    LengthCapacity out;
    out.length = length;
    if (engine.availableBytes && engine.availableBytes->ok() && figures->idealSequenceBytes
        && figures->idealSequenceBytes->ok() && figures->idealSequenceBytes->integer() > 0) {
        PlanInputs inputs(asked);
        const Quantity ranks
            = inputs.numberOr("deployment.tp", 1, Source::Kind::EngineDefault, "one rank.", "tensor-parallel ranks");
        const Quantity available = maximum(*engine.availableBytes, constant(0)) * ranks;
        const Naming naming {"sequences that fit ideally", Unit::None, {}, {"what an engine adds to the ideal need"}};
        out.idealSequences = named(floorDivide(available, *figures->idealSequenceBytes), naming);
        out.idealRatio = named(ratio(available, *figures->idealSequenceBytes), naming);
    }
    if (!engine.blocks || !engine.blocks->ok() || !engine.blocksPerRequest || !engine.blocksPerRequest->ok()) {
        out.missing = whyNoPool(engine);
        return out;
    }
    const Quantity held = input("blocks never given away", heldBlocks(asked, **rules, engine), Unit::Block,
        Source {Source::Kind::EngineRule, engine.rules});
    out.blocksEach = *engine.blocksPerRequest;
    out.usableBlocks
        = named(maximum(*engine.blocks - held, constant(0)), Naming {"blocks to give away", Unit::Block, {}, {}});
    out.heldBlocks = held;
    const Naming naming {"sequences that fit", Unit::None, {}, {"prefixes that sequences share"}};
    out.engineSequences = named(floorDivide(*out.usableBlocks, *out.blocksEach), naming);
    out.engineRatio = named(ratio(*out.usableBlocks, *out.blocksEach), naming);
    return out;
}

std::vector<std::int64_t> capacityLengths(const Plan& plan)
{
    const std::int64_t configured = plan.limits.maxModelLen.value_or(0);
    const std::int64_t longest = std::max(plan.model.maximumPositions.value_or(0), configured);
    std::vector<std::int64_t> out;
    if (longest <= 0)
        return out;
    std::int64_t first = 1024;
    while (first > 1 && first * 4 > longest)
        first /= 2;
    for (std::int64_t length = first; length <= longest && out.size() < 32; length *= 2)
        out.push_back(length);
    out.push_back(longest);
    if (configured > 0)
        out.push_back(configured);
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

namespace {

/// Sequences that fit at the configured maximum when one field is changed.
std::optional<std::int64_t> sequencesWith(Plan plan, const std::string& path, const std::string& value)
{
    if (!setField(plan, path, value) || !plan.limits.maxModelLen)
        return std::nullopt;
    const Result<LengthCapacity> capacity = capacityAt(plan, *plan.limits.maxModelLen);
    if (!capacity || !capacity->engineSequences || !capacity->engineSequences->ok())
        return std::nullopt;
    return capacity->engineSequences->integer();
}

} // namespace

std::vector<LimitMove> limitMoves(const Plan& plan)
{
    std::vector<LimitMove> out;
    if (!plan.limits.maxModelLen)
        return out;
    const Result<LengthCapacity> now = capacityAt(plan, *plan.limits.maxModelLen);
    if (!now || !now->engineSequences || !now->engineSequences->ok())
        return out;
    const auto consider = [&](std::string title, const char* path, std::string value) {
        const std::optional<std::int64_t> sequences = sequencesWith(plan, path, value);
        if (sequences && *sequences != now->engineSequences->integer())
            out.push_back({std::move(title), path, std::move(value), *sequences});
    };
    consider("fp8 cache", "cache.elementType", "fp8_e4m3");
    const std::int64_t half = *plan.limits.maxModelLen / 2;
    if (half > 0)
        consider("half the length, " + grouped(half) + " tokens", "limits.maxModelLen", fmt::format("{}", half));
    if (plan.engine.maxBatchedTokens && *plan.engine.maxBatchedTokens > 1) {
        const std::int64_t batch = *plan.engine.maxBatchedTokens / 2;
        consider(grouped(batch) + " tokens per batch", "engine.maxBatchedTokens", fmt::format("{}", batch));
    }
    const std::int64_t tp = plan.deployment.tp.value_or(1);
    if (!plan.budget.kvBytesPerRank || tp > 0)
        consider(fmt::format("{} ranks", tp * 2), "deployment.tp", fmt::format("{}", tp * 2));
    if (plan.budget.kvBytesPerRank && *plan.budget.kvBytesPerRank < INT64_MAX / 2)
        consider("a quarter more for state", "budget.kvBytesPerRank",
            fmt::format("{}", *plan.budget.kvBytesPerRank / 4 * 5));
    else if (plan.budget.utilization && *plan.budget.utilization < 0.95)
        consider("utilization 0.95", "budget.utilization", "0.95");
    return out;
}

Result<std::vector<std::vector<std::int64_t>>> bytesOverTokens(const Plan& plan, std::span<const std::int64_t> lengths)
{
    const PlanInputs inputs(plan);
    const std::int64_t sequences = plan.limits.concurrentSequences.value_or(1);
    std::vector<std::vector<std::int64_t>> out;
    for (const GroupShape& shape : shapeOf(plan, inputs)) {
        std::vector<std::int64_t>& bytes = out.emplace_back();
        for (const std::int64_t v : lengths) {
            std::optional<std::int64_t> total = 0;
            for (const TensorShape& tensor : shape.tensors) {
                if (!tensor.entryBytes.ok())
                    return Error {"estimate.not_stated", tensor.entryBytes.error(), {{}, "cache.elementType"}};
                const std::optional<std::int64_t> entries = entriesIn(plan, *tensor.tensor, v);
                if (!entries)
                    return Error {"estimate.not_stated", tensor.variable->error(), {{}, "limits"}};
                std::optional<std::int64_t> part = checkedMultiply(*entries, tensor.entryBytes.integer());
                for (const std::int64_t factor : {shape.group->layers, sequences})
                    part = part ? checkedMultiply(*part, factor) : part;
                total = total && part ? checkedAdd(*total, *part) : std::nullopt;
            }
            if (!total)
                return Error {"estimate.overflow",
                    fmt::format("{} needs more than 2^63 bytes for {} tokens", shape.group->name, v),
                    {{}, "limits.maxModelLen"}};
            bytes.push_back(*total);
        }
    }
    return out;
}

} // namespace kvw
