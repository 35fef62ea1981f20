// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/none.h"

#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::int64_t runBlockTokens = 16;

/// Groups that can be laid out in blocks of tokens: one entry per token, with or without a window.
Result<void> checkPaged(const Plan& plan)
{
    for (const LayerGroup& group : plan.worksheet.groups) {
        if (!keepsState(plan, group))
            continue;
        for (const StateTensor& tensor : group.tensors) {
            const GrowthLaw& growth = tensor.growth;
            const bool perToken = growth.form == GrowthForm::Linear && growth.stride == 1 && growth.offset == 0
                && growth.variable == GrowthVariable::Tokens;
            if (!perToken || growth.limit != group.retentionLimit()) {
                return Error {"engine.refusal",
                    fmt::format("{}.{} does not keep one entry per token; it cannot be run in blocks of tokens yet",
                        group.id, tensor.id),
                    {{}, fmt::format("worksheet.groups.{}.tensors.{}.growth", group.id, tensor.id)}};
            }
        }
    }
    return {};
}

} // namespace

std::string_view NoEngine::name() const
{
    return "none";
}

std::string_view NoEngine::title() const
{
    return "No engine (shape only)";
}

EngineSizing NoEngine::size(const Plan&, const std::vector<GroupShape>&, PlanInputs&) const
{
    EngineSizing out;
    out.name = "none";
    out.rules = "shape arithmetic";
    out.unstated.push_back(
        "no sharding rule chosen: sizes are of the whole model, never divided by the number of devices");
    return out;
}

Result<std::vector<std::int64_t>> NoEngine::plannedBlocks(const Plan& plan, PlanInputs& inputs) const
{
    if (plan.budget.kvBytesPerRank) {
        inputs.assume({"run.budget_unused",
            "The stated bytes per rank are not used: without an engine the pools are what the planned sequences need.",
            "budget.kvBytesPerRank"});
    }
    const std::int64_t block = plan.engine.blockTokens.value_or(runBlockTokens);
    const Quantity length
        = inputs.numberOr("limits.maxModelLen", 8192, Source::Kind::Assumption, "8,192 tokens are taken for the run.");
    const Quantity sequences
        = inputs.numberOr("limits.concurrentSequences", 1, Source::Kind::Assumption, "one sequence.");
    const std::int64_t batch = plan.engine.maxBatchedTokens.value_or(defaultMaxBatchedTokens());
    std::vector<std::int64_t> out;
    for (const LayerGroup& group : plan.worksheet.groups) {
        if (!keepsState(plan, group))
            continue;
        std::int64_t tokens = length.integer();
        std::int64_t spare = 0;
        if (const std::optional<std::int64_t> window = group.retentionLimit()) {
            // A step's tokens are written before the window moves on, and a window may straddle two blocks.
            tokens = std::min(*window - 1 + batch, tokens);
            spare = 1;
        }
        const std::optional<std::int64_t> perSequence = ceilDivide(tokens, block);
        const std::optional<std::int64_t> blocks = checkedMultiply(*perSequence + spare, sequences.integer());
        if (!blocks)
            return Error {
                "engine.refusal", "the planned sequences need more than 2^63 blocks", {{}, "limits.maxModelLen"}};
        out.push_back(*blocks);
    }
    std::string pools;
    for (std::size_t i = 0; i < out.size(); ++i)
        pools += (i == 0 ? "" : " + ") + grouped(out[i]);
    inputs.assume({"run.shape_pool",
        fmt::format("Without an engine the pools are what the planned sequences need: {} × {} tokens in blocks of {}, "
                    "{} blocks, one pool for each layer group.",
            grouped(sequences.integer()), grouped(length.integer()), block, pools),
        "limits.concurrentSequences"});
    inputs.assume({"run.shape_order",
        "Without an engine the order of eviction is assumed: the block that was released longest ago goes first.", {}});
    return out;
}

Result<PoolLayout> NoEngine::layout(const Plan& plan, const std::vector<std::int64_t>& blocks) const
{
    if (Result<void> paged = checkPaged(plan); !paged)
        return paged.error();
    PoolLayout out;
    for (const LayerGroup& group : plan.worksheet.groups) {
        if (!keepsState(plan, group))
            continue;
        std::vector<std::int64_t> heads;
        for (const StateTensor& tensor : group.tensors)
            heads.push_back(tensor.heads);
        GroupLayout laid = groupLayout(plan, group, plan.engine.blockTokens.value_or(runBlockTokens), heads);
        laid.pool = static_cast<std::uint32_t>(out.pools.size());
        PoolSpec pool;
        pool.blockBytes = Bytes(laid.layers * laid.pageBytes);
        pool.blocks = Blocks(blocks[out.pools.size()]);
        out.pools.push_back(pool);
        out.groups.push_back(std::move(laid));
    }
    if (out.groups.empty())
        return Error {"engine.refusal", "the worksheet has no state to run", {{}, "worksheet.groups"}};
    return out;
}

CacheBehaviour NoEngine::behaviour(const Plan& plan) const
{
    CacheBehaviour out;
    out.prefixCaching = plan.reuse.prefixCaching != Switch::Off;
    out.modelRevision = plan.model.revision;
    out.tokenizerRevision = plan.model.tokenizerRevision;
    out.rule = "no engine: least recently released first";
    return out;
}

std::int64_t NoEngine::defaultMaxBatchedTokens() const
{
    return 2048;
}

std::int64_t NoEngine::defaultMaxSequences() const
{
    return 256;
}

Diagnostics NoEngine::diagnose(const Plan&) const
{
    return {};
}

} // namespace kvw
