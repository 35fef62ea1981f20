// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/sequence.h"

#include "engines/engine_rules.h"
#include "units/amount.h"

namespace kvw {

namespace {

/// Bytes that the tensors of one sequence of `tokens` tokens hold; nothing when they do not fit into 64 bits.
/// REQUIRES checkStated().
std::optional<std::int64_t> idealBytes(const Plan& plan, std::int64_t tokens)
{
    std::optional<std::int64_t> total = 0;
    for (const LayerGroup& group : plan.worksheet.groups) {
        if (!keepsState(plan, group))
            continue;
        for (const StateTensor& tensor : group.tensors) {
            const ElementType type
                = tensor.elementType == ElementType::NotStated ? plan.cache.elementType : tensor.elementType;
            std::optional<std::int64_t> bytes = checkedMultiply(tensor.heads, rowBytes(type, tensor.width));
            for (const std::int64_t factor : {*entriesIn(plan, tensor, tokens), group.layers})
                bytes = bytes ? checkedMultiply(*bytes, factor) : std::nullopt;
            total = total && bytes ? checkedAdd(*total, *bytes) : std::nullopt;
        }
    }
    return total;
}

Result<void> checkStated(const Plan& plan)
{
    if (plan.worksheet.groups.empty())
        return Error {"estimate.not_stated", "the worksheet has no layer groups: attention layout is not stated",
            {{}, "worksheet.groups"}};
    for (const LayerGroup& group : plan.worksheet.groups) {
        if (!keepsState(plan, group))
            continue;
        for (const StateTensor& tensor : group.tensors) {
            if (!entriesIn(plan, tensor, 1)) {
                const bool encoder = tensor.growth.variable == GrowthVariable::EncoderTokens;
                return Error {"estimate.not_stated",
                    encoder ? "the encoder tokens are not stated" : "the image tokens are not stated",
                    {{}, encoder ? "limits.encoderTokens" : "limits.imageTokens"}};
            }
            if (tensor.elementType == ElementType::NotStated && plan.cache.elementType == ElementType::NotStated)
                return Error {"estimate.not_stated", "the cache element type is not stated", {{}, "cache.elementType"}};
        }
    }
    return {};
}

} // namespace

Result<std::vector<SequenceNeed>> sequenceNeeds(const Plan& plan, std::span<const std::int64_t> lengths)
{
    const Result<const EngineRules*> rules = engineRules(plan.engine.name);
    if (!rules)
        return rules.error();
    if (Result<void> stated = checkStated(plan); !stated)
        return stated.error();
    Plan one = plan;
    one.budget = {}; // what is left for state says nothing about the need
    one.limits.concurrentSequences = 1;
    std::vector<SequenceNeed> out;
    bool refused = (*rules)->name() == "none"; // shape only: no engine need at any length
    for (const std::int64_t tokens : lengths) {
        const std::optional<std::int64_t> ideal = idealBytes(plan, tokens);
        if (!ideal)
            return Error {"estimate.overflow", "the need of one sequence does not fit into 64 bits"};
        SequenceNeed need {tokens, *ideal, std::nullopt};
        if (!refused) {
            one.limits.maxModelLen = tokens;
            PlanInputs inputs(one);
            const EngineSizing sizing = (*rules)->size(one, shapeOf(one, inputs), inputs);
            if (sizing.engineNeedBytes && sizing.engineNeedBytes->ok())
                need.engineBytes = sizing.engineNeedBytes->integer();
            refused = !sizing.engineNeedBytes; // the rule depends on the shape, not on the length
        }
        out.push_back(need);
    }
    return out;
}

} // namespace kvw
