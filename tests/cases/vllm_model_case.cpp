// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "case_verdict.h"

#include "estimate/estimate.h"
#include "plan/field_table.h"
#include "plan/model_library.h"

#include <fmt/format.h>

#include <algorithm>

namespace cases {

namespace {

using namespace kvw;

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// The library's model that the case's name means: the same name but for what publishers append to it.
const LibraryModel* modelCalled(const std::string& name)
{
    const std::string wanted = lower(name.substr(0, name.find_first_of(" ,")));
    for (const char* ending : {"", "-it", "-instruct", "-hf", "-v0.1", "-17b-16e-instruct", "-nvfp4"}) {
        for (const LibraryModel& model : builtInModels()) {
            const std::string id = lower(model.id);
            if (id.substr(id.find('/') + 1) == wanted + ending)
                return &model;
        }
    }
    return nullptr;
}

std::string elementType(const JsonView& inputs)
{
    const std::string type = textOr(inputs, "cache_dtype");
    if (type == "auto") {
        const std::string model = textOr(inputs, "model_dtype");
        return model == "bfloat16" ? "bf16" : model == "float16" ? "fp16" : "fp32";
    }
    if (type.starts_with("fp8"))
        return "fp8_e4m3";
    if (type.starts_with("int8"))
        return "int8";
    return type == "nvfp4" ? "nvfp4" : "";
}

/// Sets a field; what cannot be set is remembered.
class PlanBuilder
{
public:
    explicit PlanBuilder(Plan plan)
        : m_plan(std::move(plan))
    {}
    void set(const char* path, const std::string& value)
    {
        if (value.empty())
            return;
        if (Result<void> done = setField(m_plan, path, value); !done)
            m_error = done.error().text();
    }
    void set(const char* path, std::int64_t value) { set(path, std::to_string(value)); }
    const Plan& plan() const { return m_plan; }
    const std::string& error() const { return m_error; }

private:
    Plan m_plan;
    std::string m_error;
};

std::string budget(const JsonView& inputs)
{
    std::vector<std::int64_t> bytes = wholes(*inputs.find("available_bytes"));
    std::string out;
    for (const std::int64_t one : bytes)
        out += (out.empty() ? "" : ",") + std::to_string(one);
    return out;
}

/// The recurrent state's own type.
void setStateType(PlanBuilder& out, const std::string& type)
{
    const Plan plan = out.plan();
    for (const LayerGroup& group : plan.worksheet.groups) {
        for (const StateTensor& tensor : group.tensors) {
            if (tensor.role == TensorRole::RecurrentState)
                out.set(fmt::format("worksheet.groups.{}.tensors.{}.elementType", group.id, tensor.id).c_str(),
                    type == "float32" ? std::string("fp32") : std::string("bf16"));
        }
    }
}

/// Draft layers of the plan's worksheet.
std::int64_t draftLayers(const Plan& plan)
{
    std::int64_t out = 0;
    for (const LayerGroup& group : plan.worksheet.groups)
        out += group.use == GroupUse::Speculation ? group.layers : 0;
    return out;
}

bool hasWindow(const Plan& plan)
{
    const std::vector<LayerGroup>& groups = plan.worksheet.groups;
    return std::any_of(
        groups.begin(), groups.end(), [](const LayerGroup& group) { return group.retentionLimit().has_value(); });
}

bool hasWindow(const JsonView& specs)
{
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs.at(i).findValue("sliding_window"))
            return true;
    }
    return false;
}

PlanBuilder planOf(const LibraryModel& model, const JsonView& line)
{
    const JsonView inputs = *line.find("inputs");
    const JsonView level = *line.find("model_level");
    PlanBuilder out(planFromLibrary(model));
    out.set("engine.name", "vllm");
    out.set("engine.version", "0.26.0");
    out.set("cache.elementType", elementType(inputs));
    if (const std::string type = textOr(inputs, "cache_dtype"); type != "auto")
        out.set("engine.cacheType", type);
    out.set("cache.allocation", "paged_pool");
    out.set("engine.attentionBackend", textOr(inputs, "attention_backend"));
    out.set("engine.asyncScheduling", trueOr(inputs, "async_scheduling", true) ? "on" : "off");
    out.set("engine.runner", trueOr(inputs, "model_runner_v2", false) ? "v2" : "v1");
    out.set("engine.maxBatchedTokens", wholeOr(inputs, "max_num_batched_tokens", 8192));
    out.set("engine.hybridManager", trueOr(inputs, "disable_hybrid_kv_cache_manager", false) ? "off" : "on");
    out.set("engine.stateMode", textOr(inputs, "mamba_cache_mode"));
    out.set("reuse.prefixCaching", trueOr(inputs, "prefix_caching", true) ? "on" : "off");
    if (inputs.findValue("block_size_requested"))
        out.set("engine.blockTokens", wholeOr(inputs, "block_size_requested", 16));
    if (inputs.findValue("num_gpu_blocks_override"))
        out.set("engine.blocksOverride", wholeOr(inputs, "num_gpu_blocks_override", 1));
    if (const std::int64_t drafts = wholeOr(inputs, "spec_tokens", 0); drafts > 0) {
        out.set("engine.speculation", "on");
        out.set("engine.speculativeTokens", drafts);
        if (trueOr(inputs, "multi_module_mtp", false))
            out.set("engine.draftModules", 2);
    }
    if (const std::string type = textOr(inputs, "mamba_ssm_cache_dtype"); !type.empty())
        setStateType(out, type == "auto" ? textOr(inputs, "model_dtype") : type);
    out.set("deployment.tp", wholeOr(level, "tp", 1));
    out.set("deployment.pp", wholeOr(level, "pp", 1));
    out.set("deployment.dcp", wholeOr(inputs, "dcp", 1));
    const std::string bytes = budget(inputs);
    out.set(bytes.find(',') == std::string::npos ? "budget.kvBytesPerRank" : "budget.kvBytesByRank", bytes);
    const std::int64_t length = wholeOr(inputs, "max_model_len", -1);
    out.set("limits.maxModelLen", length > 0 ? length : wholeOr(inputs, "max_model_len_derived", 0));
    if (length < 0)
        out.set("engine.fitLength", "on");
    if (wholeOr(inputs, "max_num_encoder_input_tokens", 0) > 0)
        out.set("limits.encoderTokens", wholeOr(inputs, "max_num_encoder_input_tokens", 0));
    return out;
}

} // namespace

Verdict vllmFromModel(const JsonView& line)
{
    const LibraryModel* const model = modelCalled(textOr(line, "model"));
    if (!model)
        return explained("the library has no such model");
    const JsonView inputs = *line.find("inputs");
    if (elementType(inputs).empty())
        return explained("cache type " + textOr(inputs, "cache_dtype") + " has no place in a plan yet");
    if (!inputs.findValue("available_bytes"))
        return explained("available_bytes is not in the case");
    const PlanBuilder plan = planOf(*model, line);
    if (!plan.error().empty())
        return {Verdict::Kind::Differs, plan.error()};
    if (hasWindow(plan.plan()) && !hasWindow(*line.find("layer_specs")))
        return explained(model->id + ": the library's model has a window, the case's has none");
    const std::int64_t drafts = wholeOr(*line.find("model_level"), "mtp_or_draft_layers", 0);
    if (drafts > 0 && drafts != draftLayers(plan.plan()))
        return explained(model->id + ": the library states other draft layers than the case");
    const Result<Estimate> found = estimate(plan.plan());
    if (!found)
        return {Verdict::Kind::Differs, found.error().text()};
    const EngineSizing& engine = found->engine;
    if (!engine.refusal.empty())
        return explained(model->id + ": " + engine.refusal);
    Comparison out;
    const JsonView outputs = *line.find("outputs");
    const auto compare = [&](const char* key, const std::optional<Quantity>& got) {
        if (outputs.findValue(key) && outputs.find(key)->isNumber())
            out.expect(key, wholeOr(outputs, key, 0), got && got->ok() ? got->integer() : -1);
    };
    compare("bytes_per_block", engine.bytesPerBlock);
    compare("blocks_per_request", engine.blocksPerRequest);
    compare("need_bytes_one_request", engine.needBytes);
    compare("need_bytes", engine.needBytes);
    compare("num_blocks", engine.blocks);
    compare("pool_bytes", engine.poolBytes);
    compare("reported_tokens", engine.tokens);
    if (outputs.findValue("max_concurrency"))
        out.expect("max_concurrency", *outputs.find("max_concurrency")->real(),
            engine.maxConcurrency ? engine.maxConcurrency->real() : 0.0);
    if (const std::int64_t largest = wholeOr(outputs, "largest_len_that_fits", 0); largest > 0)
        compare("largest_len_that_fits", engine.largestLength);
    out.expect("fits", outputs.find("error_type") == std::nullopt, engine.fits.value_or(false));
    Verdict verdict = out.verdict();
    verdict.text = model->id + ": " + verdict.text;
    return verdict;
}

} // namespace cases
