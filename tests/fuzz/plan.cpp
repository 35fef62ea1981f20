// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Whatever a plan file says: it is refused with its place, or it is a plan that is written and read again as the same,
// and whose diagnostics, hash and estimate can be had.

#include "estimate/estimate.h"
#include "fuzz/fuzz.h"
#include "plan/identity.h"
#include "plan/model_library.h"
#include "plan/open_plan.h"
#include "plan/plan_json.h"

using namespace kvw;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const Result<OpenedPlan> opened = openPlanOrModelText(text, "fuzz.kvplan");
    if (!opened) {
        require(!opened.error().code.empty() && opened.error().where.file == "fuzz.kvplan");
        return 0;
    }
    const Plan& plan = opened->plan;
    const std::string written = planToJson(plan);
    const Result<JsonDocument> document = parseJson(written, "again.kvplan");
    require(document.ok());
    const Result<Plan> again = planFromJson(*document);
    require(again.ok() && planToJson(*again) == written && planHash(*again) == planHash(plan));
    (void)identityOf(plan);
    (void)diagnose(plan);
    const Result<Estimate> figures = estimate(plan);
    require(figures.ok() || !figures.error().code.empty());
    return 0;
}

/// Plans of several models, for vLLM and without engine, and what may be pasted instead of a plan.
std::vector<std::string> fuzz::seeds()
{
    std::vector<std::string> out;
    const std::vector<LibraryModel>& models = builtInModels();
    for (std::size_t i = 0; i < models.size(); i += 12) {
        Plan plan = planFromLibrary(models[i]);
        plan.provenance = {};
        plan.assumptions = {};
        out.push_back(planToJson(plan));
        for (const auto& [path, value] : {std::pair("engine.name", "vllm"), std::pair("deployment.tp", "4"),
                 std::pair("budget.kvBytesPerRank", "8GiB"), std::pair("limits.maxModelLen", "8k"),
                 std::pair("limits.concurrentSequences", "4")})
            (void)setField(plan, path, value);
        out.push_back(planToJson(plan));
    }
    out.push_back(R"({"model_type":"llama","vocab_size":9,"num_hidden_layers":2,"hidden_size":64,)"
                  R"("num_attention_heads":8,"torch_dtype":"bfloat16"})");
    return out;
}
