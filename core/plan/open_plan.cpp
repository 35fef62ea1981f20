// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/open_plan.h"

#include "import/hf_config.h"
#include "plan/model_library.h"
#include "plan/plan_json.h"

#include <filesystem>

namespace kvw {

namespace {

Result<OpenedPlan> ofModel(const Result<ModelSpec>& model)
{
    if (!model)
        return model.error();
    return OpenedPlan {planFromModel(*model), false, model->weights};
}

Result<OpenedPlan> ofPlan(const JsonDocument& document)
{
    Result<Plan> plan = planFromJson(document);
    if (!plan)
        return plan.error();
    return OpenedPlan {std::move(*plan), true, {}};
}

} // namespace

Result<OpenedPlan> openPlanOrModel(const std::string& path)
{
    constexpr std::string_view ofLibrary = "library:";
    if (path.starts_with(ofLibrary)) {
        const Result<LibraryModel> model = modelNamed(path.substr(ofLibrary.size()));
        if (!model)
            return model.error();
        return OpenedPlan {planFromLibrary(*model)};
    }
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored) && !isBinaryModel(path)) {
        const Result<JsonDocument> document = readJsonFile(path);
        if (!document)
            return document.error();
        if (looksLikePlan(*document))
            return ofPlan(*document);
    }
    return ofModel(importModel(path));
}

Result<OpenedPlan> openPlanOrModelText(std::string_view text, const std::string& name)
{
    const Result<JsonDocument> document = parseJson(text, name);
    if (!document)
        return document.error();
    return looksLikePlan(*document) ? ofPlan(*document) : ofModel(importHuggingFaceConfig(*document));
}

} // namespace kvw
