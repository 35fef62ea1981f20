// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/identity.h"

#include "plan/choices.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace kvw {

std::string engineTitle(const Plan& plan)
{
    return plan.engine.name == "vllm" ? "vLLM" : plan.engine.name;
}

namespace {

std::optional<std::string> statedText(const std::string& text)
{
    return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::string> engineBuild(const Plan& plan)
{
    if (plan.engine.name == "none")
        return "No engine (shape only)";
    if (plan.engine.name.empty() || plan.engine.version.empty())
        return std::nullopt;
    return engineTitle(plan) + " " + plan.engine.version;
}

std::optional<std::string> attentionLayout(const Plan& plan)
{
    std::string out;
    for (const LayerGroup& group : plan.worksheet.groups) {
        out += fmt::format("{}{} {}", out.empty() ? "" : " + ", group.layers,
            choiceTitle(layerKindNames(), static_cast<std::size_t>(group.kind)));
        if (const std::optional<std::int64_t> limit = group.retentionLimit())
            out += fmt::format(" ({})", *limit);
    }
    return statedText(out);
}

std::string typeText(ElementType type)
{
    const ElementTypeFacts& facts = factsOf(type);
    const std::string name(facts.name);
    return facts.blockElements == 0 ? name + ", no scales"
                                    : fmt::format("{}, one scale per {}", name, facts.blockElements);
}

/// Of the tensors, most of which have the cache's; several are named in the order of the worksheet.
std::optional<std::string> elementType(const Plan& plan)
{
    std::vector<ElementType> types;
    for (const LayerGroup& group : plan.worksheet.groups) {
        for (const StateTensor& tensor : group.tensors) {
            const ElementType type
                = tensor.elementType == ElementType::NotStated ? plan.cache.elementType : tensor.elementType;
            if (type != ElementType::NotStated && std::find(types.begin(), types.end(), type) == types.end())
                types.push_back(type);
        }
    }
    if (types.empty())
        return plan.cache.elementType == ElementType::NotStated ? std::nullopt
                                                                : std::optional(typeText(plan.cache.elementType));
    if (types.size() == 1)
        return typeText(types.front());
    std::string out;
    for (const ElementType type : types)
        out += (out.empty() ? "" : " and ") + std::string(factsOf(type).name);
    return out + ", by tensor";
}

std::optional<std::string> limits(const Plan& plan)
{
    if (!plan.limits.promptTokens || !plan.limits.outputTokens)
        return std::nullopt;
    return grouped(*plan.limits.promptTokens) + " + " + grouped(*plan.limits.outputTokens) + " tokens";
}

std::optional<std::string> concurrency(const Plan& plan)
{
    if (!plan.limits.concurrentSequences)
        return std::nullopt;
    return grouped(*plan.limits.concurrentSequences) + " sequences";
}

std::optional<std::string> blockAllocation(const Plan& plan)
{
    switch (plan.cache.allocation) {
    case Allocation::NotStated:
        return std::nullopt;
    case Allocation::StaticContiguous:
        return "static contiguous";
    case Allocation::GrowingContiguous:
        return "growing contiguous";
    case Allocation::PagedPool:
        break;
    }
    if (!plan.engine.blockTokens)
        return std::nullopt;
    return fmt::format("paged pool, {} tokens a block", *plan.engine.blockTokens);
}

std::optional<std::string> parallelism(const Plan& plan)
{
    const DeploymentFields& deployment = plan.deployment;
    if (!deployment.tp)
        return std::nullopt;
    std::string out = fmt::format("TP {}", *deployment.tp);
    const auto add = [&](const char* name, const std::optional<std::int64_t>& ranks) {
        out += ranks ? fmt::format(", {} {}", name, *ranks) : fmt::format(", {} not stated (1)", name);
    };
    add("PP", deployment.pp);
    add("DP", deployment.dp);
    return out;
}

std::optional<std::string> reusePolicy(const Plan& plan)
{
    if (plan.reuse.prefixCaching == Switch::NotStated)
        return std::nullopt;
    if (plan.reuse.prefixCaching == Switch::Off)
        return "no prefix cache";
    std::map<std::string, std::string> groups;
    std::string alone;
    for (const Tenant& tenant : plan.tenants) {
        const std::string& name = tenant.name.empty() ? tenant.id : tenant.name;
        std::string& list = tenant.eligibility == Eligibility::Group ? groups[tenant.sharingGroup] : alone;
        list += (list.empty() ? "" : ", ") + name;
    }
    std::string out = "prefix cache";
    for (const auto& [group, names] : groups)
        out += fmt::format("; {}: {}", group.empty() ? "unnamed group" : group, names);
    if (!alone.empty())
        out += "; alone: " + alone;
    return out;
}

std::optional<std::string> outcome(const Plan& plan)
{
    switch (plan.admission.whenExhausted) {
    case WhenExhausted::NotStated:
        break;
    case WhenExhausted::Wait:
        return plan.admission.maxWaitSteps
            ? fmt::format("wait, at most {} steps, then reject", grouped(*plan.admission.maxWaitSteps))
            : "wait";
    case WhenExhausted::Reject:
        return "reject";
    case WhenExhausted::PreemptRecompute:
        return "preempt and recompute";
    }
    return std::nullopt;
}

} // namespace

std::vector<IdentityRow> identityOf(const Plan& plan)
{
    return {
        {"model_revision", "Model revision", statedText(plan.model.revision), {"model.revision"}},
        {"tokenizer_revision", "Tokenizer revision", statedText(plan.model.tokenizerRevision),
            {"model.tokenizerRevision"}},
        {"engine_build", "Engine build", engineBuild(plan), {"engine.version", "engine.name"}},
        {"attention_layout", "Attention layout", attentionLayout(plan), {"worksheet.groups"}},
        {"cache_element_type", "Cache element type", elementType(plan), {"cache.elementType"}},
        {"limits", "Prompt and output limits", limits(plan), {"limits.promptTokens", "limits.outputTokens"}},
        {"concurrency", "Concurrency", concurrency(plan), {"limits.concurrentSequences"}},
        {"block_allocation", "Block allocation", blockAllocation(plan), {"cache.allocation", "engine.blockTokens"}},
        {"parallelism", "Parallelism", parallelism(plan), {"deployment.tp"}},
        {"reuse_policy", "Reuse policy", reusePolicy(plan), {"reuse.prefixCaching"}},
        {"outcome", "If no state can be had", outcome(plan), {"admission.whenExhausted"}},
    };
}

} // namespace kvw
