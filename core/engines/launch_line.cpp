// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/launch_line.h"

#include "plan/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace kvw {

namespace {

/// Collects arguments for fields that are stated.
class Arguments
{
public:
    explicit Arguments(LaunchLine& line)
        : m_line(line)
    {}

    void add(const char* flag, const std::optional<std::int64_t>& value, const char* field)
    {
        if (value)
            m_line.arguments.push_back({flag, fmt::format("{}", *value), field});
    }
    void add(const char* flag, const std::optional<double>& value, const char* field)
    {
        if (value)
            m_line.arguments.push_back({flag, fmt::format("{}", *value), field});
    }
    void add(const char* flag, const std::string& value, const char* field)
    {
        m_line.arguments.push_back({flag, value, field});
    }

private:
    LaunchLine& m_line;
};

/// What vLLM's --kv-cache-dtype calls the type; "" when the plan's is that of the model, or no name is known.
std::string cacheType(const Plan& plan)
{
    switch (plan.cache.elementType) {
    case ElementType::Fp8E4M3:
        return "fp8_e4m3";
    case ElementType::Fp8E5M2:
        return "fp8_e5m2";
    default:
        return {};
    }
}

void addRemarks(const Plan& plan, LaunchLine& out)
{
    const auto remark = [&](std::string text) { out.remarks.push_back(std::move(text)); };
    if (plan.model.basis == ModelBasis::Hypothetical)
        remark("The model is a hypothetical shape: there are no weights to serve.");
    const auto named = plan.provenance.find("model.name");
    if (named && named->kind == Source::Kind::File && plan.model.basis != ModelBasis::Hypothetical)
        remark("The model's name was read off its file: give the repository or folder that holds the weights.");
    if (plan.cache.elementType != ElementType::NotStated && plan.cache.elementType != plan.model.dtype
        && cacheType(plan).empty())
        remark(fmt::format("The cache element type {} has no name on the line; the engine's choice follows the model.",
            factsOf(plan.cache.elementType).name));
    if (plan.reuse.prefixCaching == Switch::Off)
        remark("The plan turns the prefix cache off; the line does not.");
    if (plan.deployment.pp.value_or(1) > 1 || plan.deployment.dp.value_or(1) > 1)
        remark("Pipeline and data parallelism are not on the line.");
    if (plan.engine.hybridManager == Switch::Off || plan.engine.asyncScheduling != Switch::NotStated)
        remark("The hybrid cache manager and asynchronous scheduling are switches of the engine that the line leaves "
               "alone.");
    if (plan.budget.kvBytesPerRank && plan.budget.utilization)
        remark("The stated bytes for state replace the utilisation.");
}

LaunchLine vllmLine(const Plan& plan)
{
    LaunchLine out {"vllm serve", plan.model.name};
    Arguments arguments(out);
    arguments.add("--max-model-len", plan.limits.maxModelLen, "limits.maxModelLen");
    arguments.add("--block-size", plan.engine.blockTokens, "engine.blockTokens");
    arguments.add("--max-num-batched-tokens", plan.engine.maxBatchedTokens, "engine.maxBatchedTokens");
    arguments.add("--max-num-seqs", plan.engine.maxSequences, "engine.maxSequences");
    if (plan.deployment.tp.value_or(1) > 1)
        arguments.add("--tensor-parallel-size", plan.deployment.tp, "deployment.tp");
    if (plan.deployment.dcp.value_or(1) > 1)
        arguments.add("--decode-context-parallel-size", plan.deployment.dcp, "deployment.dcp");
    if (plan.engine.stateMode != StateMode::NotStated)
        arguments.add("--mamba-cache-mode",
            std::string(stateModeNames()[static_cast<std::size_t>(plan.engine.stateMode)]), "engine.stateMode");
    arguments.add("--num-gpu-blocks-override", plan.engine.blocksOverride, "engine.blocksOverride");
    if (const std::string type = cacheType(plan); !type.empty())
        arguments.add("--kv-cache-dtype", type, "cache.elementType");
    if (plan.budget.kvBytesPerRank)
        arguments.add("--kv-cache-memory-bytes", plan.budget.kvBytesPerRank, "budget.kvBytesPerRank");
    else
        arguments.add("--gpu-memory-utilization", plan.budget.utilization, "budget.utilization");
    addRemarks(plan, out);
    return out;
}

} // namespace

std::string shellWord(const std::string& text)
{
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_";
    if (!text.empty() && text.find_first_not_of(plain) == std::string::npos)
        return text;
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    }
    return out + "'";
}

std::string LaunchLine::text() const
{
    std::string out = program + " " + shellWord(model);
    for (const LaunchArgument& argument : arguments)
        out += " " + argument.flag + " " + shellWord(argument.value);
    return out;
}

Result<LaunchLine> launchLine(const Plan& plan)
{
    if (plan.engine.name.empty() || plan.engine.name == "none")
        return Error {"engine.launch", "no engine is chosen", {{}, "engine.name"}};
    if (plan.engine.name != "vllm")
        return Error {"engine.launch", "the rules of this engine have no launch line", {{}, "engine.name"}};
    if (plan.model.name.empty())
        return Error {"engine.launch", "the model has no name", {{}, "model.name"}};
    return vllmLine(plan);
}

} // namespace kvw
