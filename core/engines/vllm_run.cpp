// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm.h"
#include "engines/vllm_scope.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

using namespace vllm;

Result<std::vector<std::int64_t>> Vllm::plannedBlocks(const Plan& plan, PlanInputs& inputs) const
{
    const std::vector<GroupShape> shape = shapeOf(plan, inputs);
    const EngineSizing sizing = size(plan, shape, inputs);
    if (!sizing.refusal.empty())
        return Error {"engine.refusal", sizing.refusal, {{}, sizing.refusedField}};
    if (sizing.blocks) {
        if (!sizing.blocks->ok())
            return Error {"engine.refusal", sizing.blocks->error(), {{}, "budget.kvBytesPerRank"}};
        return std::vector<std::int64_t> {sizing.blocks->integer()};
    }
    if (!sizing.blocksPerRequest || !sizing.blocksPerRequest->ok())
        return Error {"engine.refusal",
            "neither a budget nor a configured maximum is stated, so that no pool can be sized",
            {{}, "limits.maxModelLen"}};
    const Quantity sequences
        = inputs.numberOr("limits.concurrentSequences", 1, Source::Kind::Assumption, "one sequence.", "sequences");
    inputs.assume(
        {"vllm.pool_from_need", "No budget is stated: the pool is what the planned sequences need, and the null block.",
            "budget.kvBytesPerRank"});
    const Quantity blocks = sequences * *sizing.blocksPerRequest + constant(1);
    if (!blocks.ok())
        return Error {"engine.refusal", blocks.error(), {{}, "limits.maxModelLen"}};
    return std::vector<std::int64_t> {blocks.integer()};
}

Result<PoolLayout> Vllm::layout(const Plan& plan, const std::vector<std::int64_t>& blocks) const
{
    if (const Refusal why = refusalOf(plan); !why.text.empty())
        return Error {"engine.refusal", why.text, {{}, why.field}};
    const LayerGroup& group = *onlyGroup(plan);
    const std::int64_t tp = plan.deployment.tp.value_or(1);
    std::vector<std::int64_t> heads;
    for (const StateTensor& tensor : group.tensors)
        heads.push_back(
            tensor.shard == ShardRule::Replicated ? tensor.heads : std::max<std::int64_t>(1, tensor.heads / tp));
    PoolLayout out;
    out.groups.push_back(groupLayout(plan, group, plan.engine.blockTokens.value_or(16), heads));
    PoolSpec pool;
    pool.blockBytes = Bytes(out.groups.front().layers * out.groups.front().pageBytes);
    pool.blocks = Blocks(blocks.front());
    pool.held = Blocks(1); // the null block
    out.pools.push_back(pool);
    return out;
}

CacheBehaviour Vllm::behaviour(const Plan& plan) const
{
    CacheBehaviour out;
    out.prefixCaching = plan.reuse.prefixCaching != Switch::Off;
    out.modelRevision = plan.model.revision;
    out.tokenizerRevision = plan.model.tokenizerRevision;
    out.rule = "vLLM (verified " + std::string(verified) + ")";
    return out;
}

std::int64_t Vllm::defaultMaxBatchedTokens() const
{
    return 8192;
}

std::int64_t Vllm::defaultMaxSequences() const
{
    return 256;
}

Diagnostics Vllm::diagnose(const Plan& plan) const
{
    Diagnostics out;
    if (!plan.engine.version.empty() && !versionOf(plan.engine.version).known) {
        out.push_back({Severity::Warning, "vllm.version",
            fmt::format("\"{}\" names no release of vLLM that these rules know: the newest rules (0.25 and later) are "
                        "used.",
                plan.engine.version),
            "engine.version"});
    }
    for (const Tenant& tenant : plan.tenants) {
        if (tenant.guaranteedBlocks || tenant.maximumBlocks) {
            out.push_back({Severity::Warning, "vllm.quota",
                fmt::format(
                    "vLLM has no per-tenant quota: the blocks guaranteed or allowed to {} are stated, not enforced.",
                    tenant.id),
                "tenants." + tenant.id + ".guaranteedBlocks"});
        }
        if (tenant.retention == Retention::TimeToLive) {
            out.push_back({Severity::Warning, "vllm.retention",
                fmt::format("vLLM keeps cached blocks until they are needed; the time stated for {} is not enforced.",
                    tenant.id),
                "tenants." + tenant.id + ".retention"});
        }
    }
    if (plan.cache.elementType == ElementType::Q8_0 || plan.cache.elementType == ElementType::Int8
        || plan.cache.elementType == ElementType::Fp32) {
        out.push_back({Severity::Warning, "vllm.element_type",
            fmt::format("{} is not a cache type that these rules know of vLLM: the sizes are those of the plan's type, "
                        "the engine may refuse it.",
                factsOf(plan.cache.elementType).name),
            "cache.elementType"});
    }
    if (plan.admission.whenExhausted == WhenExhausted::Wait || plan.admission.whenExhausted == WhenExhausted::Reject) {
        out.push_back({Severity::Warning, "vllm.outcome",
            "vLLM preempts and recomputes running requests; a plan that waits or rejects instead needs a gateway that "
            "does so.",
            "admission.whenExhausted"});
    }
    if (plan.admission.reservation == Reservation::FullOutput) {
        out.push_back({Severity::Warning, "vllm.reservation",
            "vLLM takes blocks as the output grows; it cannot set the whole output aside.", "admission.reservation"});
    }
    return out;
}

} // namespace kvw
