// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_parts.h"

#include "engines/vllm_scope.h"

namespace kvw::vllm {

Quantity blockTokensOf(PlanInputs& inputs)
{
    return inputs.numberOr(
        "engine.blockTokens", 16, Source::Kind::EngineDefault, "vLLM's own block of 16 tokens.", "block");
}

Quantity ranksOf(PlanInputs& inputs)
{
    return inputs.numberOr("deployment.tp", 1, Source::Kind::EngineDefault, "one rank.", "tensor-parallel ranks");
}

Quantity lengthOf(const PlanInputs& inputs)
{
    return inputs.number("limits.maxModelLen", "length");
}

std::vector<Quantity> headsOnRank(const GroupShape& shape, const Quantity& tp)
{
    std::vector<Quantity> out;
    for (const TensorShape& tensor : shape.tensors) {
        if (tensor.tensor->shard == ShardRule::Replicated)
            out.push_back(tensor.heads);
        else
            out.push_back(named(maximum(constant(1), floorDivide(tensor.heads, tp)),
                Naming {tensor.heads.name() + " on the rank", Unit::Head, rule("ModelConfig.get_num_kv_heads"), {}}));
    }
    return out;
}

RankSizing rankSizing(const std::vector<GroupShape>& shape, const Quantity& tp)
{
    RankSizing out;
    for (const GroupShape& group : shape) {
        const std::vector<Quantity> heads = headsOnRank(group, tp);
        out.groupBytesPerToken.push_back(named(growingBytes(group, heads),
            "bytes per token of " + group.group->name + " on the rank", Unit::BytesPerToken));
        out.groupFixedBytes.push_back(named(saturatedBytes(group, heads),
            "bytes at the limit of " + group.group->name + " on the rank", Unit::BytesPerSequence));
    }
    out.bytesPerToken = named(sum(out.groupBytesPerToken), "bytes per token on the rank", Unit::BytesPerToken);
    return out;
}

/// What is left for state on one rank, or nothing with the reason in `sizing.unstated`.
std::optional<Quantity> availableOf(const Plan& plan, PlanInputs& inputs, EngineSizing& sizing)
{
    if (plan.budget.kvBytesPerRank)
        return named(
            inputs.number("budget.kvBytesPerRank", "stated bytes for state"), "available for state", Unit::Byte);
    std::string missing;
    for (const char* path : {"deployment.memoryBytes", "budget.utilization", "loaded.weightBytes",
             "budget.activationBytes", "budget.otherBytes"}) {
        if (!inputs.isStated(path))
            missing += (missing.empty() ? "" : ", ") + inputs.number(path).name();
    }
    if (!missing.empty()) {
        sizing.unstated.push_back(
            "available memory: the bytes available for state are not stated, and neither is " + missing);
        return std::nullopt;
    }
    inputs.assume(
        {"vllm.weights_even", "The weights divide evenly over the tensor-parallel ranks.", "loaded.weightBytes"});
    const Quantity requested
        = named(truncate(scale(inputs.number("deployment.memoryBytes"), inputs.number("budget.utilization"))),
            Naming {"memory the engine may take", Unit::Byte, rule("gpu_memory_utilization"), {}});
    const Quantity weights
        = named(ceilDivide(inputs.number("loaded.weightBytes"), ranksOf(inputs)), "weights on the rank", Unit::Byte);
    return named(requested - weights - inputs.number("budget.activationBytes") - inputs.number("budget.otherBytes"),
        Naming {"available for state", Unit::Byte, rule("determine_available_memory"), {}});
}

} // namespace kvw::vllm
