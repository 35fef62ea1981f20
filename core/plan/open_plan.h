// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/model_file.h"
#include "plan/plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// What a file was opened as.
struct OpenedPlan
{
    Plan plan;
    bool isPlanFile = false; ///< false: a model file, for which a plan was made
    std::vector<WeightPart> weights {}; ///< of a model file that lists its tensors
};

/// A plan by its file, or a plan for a model by its config.json, checkpoint folder, safetensors or GGUF file, or
/// by "library:ID". Errors: those of readJsonFile, planFromJson, importModel and modelNamed.
Result<OpenedPlan> openPlanOrModel(const std::string& path);
/// The same for text that was pasted: a plan, or a config.json. `name` stands for the file in errors and sources.
Result<OpenedPlan> openPlanOrModelText(std::string_view text, const std::string& name);

} // namespace kvw
