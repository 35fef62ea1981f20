// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/field_table.h"
#include "plan/plan_json.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace kvw::test {

/// Every plan under resources/examples, by path.
inline std::vector<std::string> examplePaths()
{
    std::vector<std::string> out;
    const std::filesystem::path folder
        = std::filesystem::path(std::getenv("KVW_SOURCE_DIR")) / "resources" / "examples";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".kvplan")
            out.push_back(entry.path().string());
    }
    return out;
}

inline Plan examplePlan(const std::string& name)
{
    const std::filesystem::path path
        = std::filesystem::path(std::getenv("KVW_SOURCE_DIR")) / "resources" / "examples" / name;
    Result<Plan> plan = loadPlan(path.string());
    if (!plan)
        throw std::runtime_error(plan.error().text());
    return *plan;
}

/// The plan with fields set from text. A field that cannot be set is a bug of the test.
inline Plan with(Plan plan, const std::vector<std::pair<std::string, std::string>>& fields)
{
    for (const auto& [path, text] : fields) {
        if (const Result<void> set = setField(plan, path, text); !set)
            throw std::runtime_error(set.error().text());
    }
    return plan;
}

/// The reference example with a small shape: 2 layers of 2 heads × 64, so that a live run takes milliseconds.
inline Plan smallPlan()
{
    return with(examplePlan("reference.kvplan"),
        {{"worksheet.groups.full.layers", "2"}, {"worksheet.groups.full.layerIndices", "0-1"},
            {"worksheet.groups.full.tensors.k.heads", "2"}, {"worksheet.groups.full.tensors.v.heads", "2"},
            {"worksheet.groups.full.tensors.k.width", "64"}, {"worksheet.groups.full.tensors.v.width", "64"},
            {"limits.maxModelLen", "1024"}, {"limits.promptTokens", "960"}, {"limits.outputTokens", "64"},
            {"engine.maxBatchedTokens", "256"}, {"budget.kvBytesPerRank", "2MiB"}, {"workload.requests", "40"},
            {"workload.commonPrefixTokens", "48"}, {"workload.sharedPrefixTokens", "160"},
            {"workload.promptTokensMin", "16"}, {"workload.promptTokensMax", "400"}, {"workload.outputTokensMin", "4"},
            {"workload.outputTokensMax", "60"}, {"workload.burstRequests", "8"}, {"workload.burstGapSteps", "20"},
            {"worksheet.retainedTokens", "256"}});
}

} // namespace kvw::test
