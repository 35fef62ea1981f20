// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_scope.h"

#include "plan/shape.h"

#include <fmt/format.h>

namespace kvw::vllm {

namespace {

Refusal tensorRefusal(const LayerGroup& group, const StateTensor& tensor, std::int64_t tp)
{
    const GrowthLaw& growth = tensor.growth;
    if (tensor.role == TensorRole::IndexKey)
        return {fmt::format("{} keeps index keys, which vLLM stores in a cache and records of their own; runs do not "
                            "cover them",
            group.id)};
    if (growth.form != GrowthForm::Linear || growth.stride != 1 || growth.offset != 0
        || growth.variable != GrowthVariable::Tokens || growth.limit != group.retentionLimit())
        return {fmt::format(
            "the state {}.{} does not keep one entry per token, which these rules do not cover", group.id, tensor.id)};
    if (tensor.shard == ShardRule::Heads && tensor.heads % tp != 0 && tp % tensor.heads != 0)
        return {fmt::format("{} KV heads cannot be kept on {} tensor-parallel ranks: neither divides the other",
                    tensor.heads, tp),
            "deployment.tp"};
    return {};
}

} // namespace

std::shared_ptr<const Source> rule(const char* at, std::string note)
{
    return std::make_shared<const Source>(
        Source {Source::Kind::EngineRule, "vLLM sizing code", at, {}, published, verified, std::move(note)});
}

const LayerGroup* onlyGroup(const Plan& plan)
{
    const LayerGroup* out = nullptr;
    for (const LayerGroup& group : plan.worksheet.groups) {
        if (!keepsState(plan, group))
            continue;
        if (out)
            return nullptr;
        out = &group;
    }
    return out;
}

Refusal generalRefusal(const Plan& plan)
{
    bool any = false;
    for (const LayerGroup& group : plan.worksheet.groups) {
        if (!keepsState(plan, group))
            continue;
        any = true;
        if (group.tier != Tier::Device)
            return {fmt::format("vLLM keeps the pool of {} on the device, the plan on the host", group.id)};
    }
    if (!any)
        return {"the worksheet has no state"};
    const bool stages = plan.deployment.pp.value_or(1) != 1;
    if (stages || plan.deployment.dp.value_or(1) != 1)
        return {"these rules cover tensor parallelism only, not pipeline or data parallelism",
            stages ? "deployment.pp" : "deployment.dp"};
    if (plan.cache.allocation == Allocation::StaticContiguous || plan.cache.allocation == Allocation::GrowingContiguous)
        return {"vLLM allocates a paged pool; it has no contiguous allocation", "cache.allocation"};
    const std::int64_t tp = plan.deployment.tp.value_or(1);
    const std::int64_t dcp = plan.deployment.dcp.value_or(1);
    if (tp % dcp != 0)
        return {fmt::format("{} tensor-parallel ranks cannot share tokens {} ways", tp, dcp), "deployment.dcp"};
    return {};
}

Refusal refusalOf(const Plan& plan)
{
    if (Refusal why = generalRefusal(plan); !why.text.empty())
        return why;
    const LayerGroup* const only = onlyGroup(plan);
    if (!only)
        return {"the model has several layer groups, which share one pool; runs cover models of one group so far"};
    const std::int64_t tp = plan.deployment.tp.value_or(1);
    for (const StateTensor& tensor : only->tensors) {
        if (Refusal why = tensorRefusal(*only, tensor, tp); !why.text.empty())
            return why;
    }
    if (plan.deployment.dcp.value_or(1) != 1)
        return {"runs cover ranks that do not share the tokens of a sequence", "deployment.dcp"};
    return {};
}

} // namespace kvw::vllm
