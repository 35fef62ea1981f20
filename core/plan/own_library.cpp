// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/own_library.h"

#include "plan/import_problems.h"
#include "plan/plan_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace kvw {

namespace {

constexpr std::size_t longestId = 200; // with its ending it is the name of a file
using Ordered = nlohmann::ordered_json;

/// Layer groups as a plan's file has them.
Ordered groupsJson(const std::vector<LayerGroup>& groups)
{
    Plan plan;
    plan.worksheet.groups = groups;
    return Ordered::parse(planToJson(plan))["worksheet"]["groups"];
}

Ordered modelJson(const LibraryModel& model)
{
    Ordered out {{"id", model.id}, {"family", model.family}};
    const auto text = [&](const char* name, const std::string& value) {
        if (!value.empty())
            out[name] = value;
    };
    const auto count = [&](const char* name, const std::optional<std::int64_t>& value) {
        if (value)
            out[name] = *value;
    };
    text("architecture", model.architecture);
    count("maximumPositions", model.maximumPositions);
    count("encoderTokens", model.encoderTokens);
    if (model.dtype != ElementType::NotStated)
        out["dtype"] = std::string(factsOf(model.dtype).name);
    count("parameters", model.parameters);
    count("activeParameters", model.activeParameters);
    text("parametersSource", model.parametersSource);
    for (const LibraryWeights& weights : model.weights)
        out["weights"].push_back({{"format", weights.format}, {"bytes", weights.bytes}});
    text("weightsSource", model.weightsSource);
    text("cacheTypeHint", model.cacheTypeHint);
    out["groups"] = groupsJson(model.groups);
    out["source"] = model.source;
    text("published", model.published);
    out["verified"] = model.verified;
    out["confidence"] = model.confidence;
    if (!model.notes.empty())
        out["notes"] = model.notes;
    return out;
}

/// Error: library.format when the text does not read as the entry that it is.
Result<void> checkReadsBack(const std::string& text, const LibraryModel& model, const std::string& file)
{
    const Result<JsonDocument> document = parseJson(text, file);
    if (!document)
        return document.error();
    const Result<std::vector<LibraryModel>> read = readModelLibrary(*document, true);
    if (!read)
        return read.error();
    if (read->size() != 1 || read->front().id != model.id || read->front().groups != model.groups)
        return Error {"library.format", "the entry would not be read as it is", {file, {}}};
    return {};
}

/// The file of the folder, other than `file`, that has an entry of that id; empty: none.
std::string fileWithModel(const std::string& folder, const std::string& file, const std::string& id)
{
    namespace fs = std::filesystem;
    std::error_code status;
    for (fs::directory_iterator at(folder, status), end; !status && at != end; at.increment(status)) {
        std::string other = at->path().string();
        if (at->path().extension() != ".json" || other == file)
            continue;
        const Result<JsonDocument> document = readJsonFile(other);
        const Result<std::vector<LibraryModel>> models
            = document ? readModelLibrary(*document, true) : Result<std::vector<LibraryModel>>(document.error());
        if (!models)
            continue;
        for (const LibraryModel& model : *models) {
            if (model.id == id)
                return other;
        }
    }
    return {};
}

} // namespace

Result<LibraryModel> ownModelOf(const Plan& plan, std::string_view id, std::string_view date)
{
    if (id.empty() || id.size() > longestId)
        return Error {"library.id", "not a name for a model", {{}, "model.name"}, std::string(id),
            fmt::format("1 to {} characters", longestId)};
    if (plan.worksheet.groups.empty())
        return Error {
            "library.missing_field", "a model without layer groups", {{}, "worksheet.groups"}, "none", "at least one"};
    LibraryModel out;
    out.id = id;
    out.family = plan.model.architecture.empty() ? std::string(id) : plan.model.architecture;
    out.architecture = plan.model.architecture;
    out.dtype = plan.model.dtype;
    out.maximumPositions = plan.model.maximumPositions;
    out.encoderTokens = plan.limits.encoderTokens;
    if (plan.loaded.weightBytes && *plan.loaded.weightBytes > 0) {
        out.weights.push_back({"as in the plan", *plan.loaded.weightBytes});
        out.weightsSource = plan.loaded.weightSource;
    }
    out.groups = plan.worksheet.groups;
    out.source = fmt::format(
        "saved from the plan {}", plan.document.title.empty() ? std::string("without a title") : plan.document.title);
    out.verified = date;
    out.confidence = "as the plan had it when it was saved";
    for (const Assumption& assumption : plan.assumptions) {
        const bool ofGroups = assumption.path.starts_with("worksheet.") || assumption.path.starts_with("model.");
        if (ofGroups || isImportRemark(assumption))
            out.notes.push_back(assumption.text);
    }
    out.own = true;
    return out;
}

std::string modelLibraryToJson(const std::vector<LibraryModel>& models)
{
    Ordered out {{"format", "kvmodels"}, {"schemaVersion", 1}, {"models", Ordered::array()}};
    for (const LibraryModel& model : models)
        out["models"].push_back(modelJson(model));
    return out.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

std::string ownModelFile(const std::string& folder, std::string_view id)
{
    std::string name;
    for (const char c : id) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'
            || c == '-' || (c == '.' && !name.empty());
        name += plain ? c : '-';
    }
    return (std::filesystem::path(folder) / (name + ".json")).string();
}

Result<std::string> saveOwnModel(
    const LibraryModel& model, const std::string& folder, WhenThere whenThere, const FileOperations& operations)
{
    namespace fs = std::filesystem;
    const std::string file = ownModelFile(folder, model.id);
    std::error_code status;
    if (whenThere == WhenThere::Refuse && fs::exists(file, status))
        return Error {"library.exists", "an entry is saved there already", {file, {}}};
    if (const std::string other = fileWithModel(folder, file, model.id); !other.empty())
        return Error {"library.id", fmt::format("{} is in another file of the library already", model.id), {other, {}}};
    const std::string text = modelLibraryToJson({model});
    if (const Result<void> reads = checkReadsBack(text, model, file); !reads)
        return reads.error();
    fs::create_directories(folder, status);
    if (status)
        return Error {"io.create", fmt::format("the folder cannot be made: {}", status.message()), {folder, {}}};
    if (const Result<void> written = writeFileAtomically(file, text, operations); !written)
        return written.error();
    return file;
}

} // namespace kvw
