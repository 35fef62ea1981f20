// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/model_library.h"

#include "plan/built_in_data.h"
#include "plan/library_reader.h"
#include "plan/plan_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <stdexcept>

namespace kvw {

namespace {

constexpr std::int64_t mostParameters = 1'000'000'000'000'000;
constexpr std::int64_t mostBytes = std::int64_t {1} << 60;
constexpr std::int64_t mostTokens = 1'000'000'000;
constexpr std::size_t mostModels = 100'000;
constexpr std::uintmax_t mostFileBytes = std::uintmax_t {16} << 20;

Result<std::vector<LibraryWeights>> readWeights(const JsonView& view)
{
    std::vector<LibraryWeights> out;
    if (!view.isArray())
        return view.error("library.format", "not a list of weights", "an array of {\"format\", \"bytes\"}");
    for (std::size_t i = 0; i < view.size(); ++i) {
        LibraryWeights one;
        const Result<void> read
            = LibraryReader().text("format", one.format).count("bytes", one.bytes, 1, mostBytes).read(view.at(i));
        if (!read)
            return read.error();
        out.push_back(std::move(one));
    }
    return out;
}

Result<LibraryModel> readModel(const JsonView& view)
{
    LibraryModel out;
    std::string dtype;
    LibraryReader reader;
    reader.text("id", out.id)
        .text("family", out.family)
        .maybeText("architecture", out.architecture)
        .maybeText("dtype", dtype)
        .maybeCount("maximumPositions", out.maximumPositions, 1, mostTokens)
        .maybeCount("encoderTokens", out.encoderTokens, 1, mostTokens)
        .maybeCount("parameters", out.parameters, 1, mostParameters)
        .maybeCount("activeParameters", out.activeParameters, 1, mostParameters)
        .maybeText("parametersSource", out.parametersSource)
        .maybeText("weightsSource", out.weightsSource)
        .maybeText("cacheTypeHint", out.cacheTypeHint)
        .text("source", out.source)
        .maybeText("published", out.published)
        .text("verified", out.verified)
        .text("confidence", out.confidence)
        .maybeTexts("notes", out.notes)
        .other("groups")
        .other("weights");
    if (const Result<void> read = reader.read(view); !read)
        return read.error();
    if (!dtype.empty()) {
        const std::optional<ElementType> known = elementTypeFromName(dtype);
        if (!known)
            return view.find("dtype")->error("library.choice", "not an element type", "bf16, fp16, fp32 …");
        out.dtype = *known;
    }
    const std::optional<JsonView> groups = view.find("groups");
    if (!groups)
        return view.error("library.missing_field", "groups is not stated", "the layer groups, as a plan has them");
    Result<std::vector<LayerGroup>> read = groupsFromJson(*groups);
    if (!read)
        return read.error();
    if (read->empty())
        return groups->error("library.missing_field", "a model without layer groups", "at least one");
    out.groups = std::move(*read);
    if (const std::optional<JsonView> weights = view.find("weights")) {
        Result<std::vector<LibraryWeights>> forms = readWeights(*weights);
        if (!forms)
            return forms.error();
        out.weights = std::move(*forms);
    }
    return out;
}

std::string lower(std::string_view text)
{
    std::string out(text);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    }
    return out;
}

bool isBefore(const LibraryModel& a, const LibraryModel& b)
{
    return lower(a.id) < lower(b.id);
}

std::vector<std::string> wordsOf(const std::string& text)
{
    std::vector<std::string> out;
    std::string word;
    for (const char c : text + " ") {
        if (c != ' ' && c != '\t') {
            word += c;
        } else if (!word.empty()) {
            out.push_back(std::move(word));
            word.clear();
        }
    }
    return out;
}

/// 0 is best; nothing: it does not fit.
std::optional<int> rankOf(const LibraryModel& model, const std::string& query, const std::vector<std::string>& words)
{
    const std::string id = lower(model.id);
    const std::string name = id.substr(id.find('/') == std::string::npos ? 0 : id.find('/') + 1);
    const std::string all = id + '\n' + lower(model.family) + '\n' + lower(model.architecture);
    for (const std::string& word : words) {
        if (all.find(word) == std::string::npos)
            return std::nullopt;
    }
    if (id == query || name == query)
        return 0;
    if (name.starts_with(query) || id.starts_with(query))
        return 1;
    return id.find(query) != std::string::npos ? 2 : 3;
}

} // namespace

bool LibraryModel::isFromFile() const
{
    return confidence == "config file";
}

Result<std::vector<LibraryModel>> readModelLibrary(const JsonDocument& document, bool own)
{
    const Result<JsonView> list = libraryList(document, "kvmodels", "models", mostModels);
    if (!list)
        return list.error();
    std::vector<LibraryModel> out;
    std::set<std::string> ids;
    for (std::size_t i = 0; i < list->size(); ++i) {
        Result<LibraryModel> model = readModel(list->at(i));
        if (!model)
            return model.error();
        if (!ids.insert(model->id).second)
            return list->at(i).error("library.id", "two models have the same id");
        model->own = own;
        out.push_back(std::move(*model));
    }
    std::sort(out.begin(), out.end(), isBefore);
    return out;
}

const std::vector<LibraryModel>& builtInModels()
{
    static const std::vector<LibraryModel> models = [] {
        const Result<JsonDocument> document = parseJson(builtInModelsJson(), "built-in models");
        Result<std::vector<LibraryModel>> read
            = document ? readModelLibrary(*document, false) : Result<std::vector<LibraryModel>>(document.error());
        if (!read)
            throw std::logic_error(read.error().text()); // a test reads it: it cannot be wrong here
        return std::move(*read);
    }();
    return models;
}

std::vector<LibraryModel> ownModels(const std::string& folder, std::vector<Error>& refused)
{
    namespace fs = std::filesystem;
    std::vector<std::string> files;
    std::error_code none;
    for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
        std::error_code kind;
        if (at->path().extension() == ".json" && at->is_regular_file(kind)) // others may never end
            files.push_back(at->path().string());
    }
    std::sort(files.begin(), files.end());
    std::vector<LibraryModel> out;
    std::set<std::string> ids;
    for (const std::string& file : files) {
        const Result<JsonDocument> document = readJsonFile(file, {.bytes = mostFileBytes});
        const Result<std::vector<LibraryModel>> models
            = document ? readModelLibrary(*document, true) : Result<std::vector<LibraryModel>>(document.error());
        if (!models) {
            refused.push_back(models.error());
            continue;
        }
        for (const LibraryModel& model : *models) {
            if (ids.insert(model.id).second)
                out.push_back(model);
            else
                refused.push_back(Error {"library.id", fmt::format("{} is in another file too", model.id), {file, {}}});
        }
    }
    std::sort(out.begin(), out.end(), isBefore);
    return out;
}

std::vector<const LibraryModel*> searchModels(const std::vector<const LibraryModel*>& models, std::string_view query)
{
    const std::vector<std::string> words = wordsOf(lower(query));
    std::string wanted;
    for (const std::string& word : words)
        wanted += (wanted.empty() ? "" : " ") + word;
    std::vector<std::pair<int, const LibraryModel*>> found;
    for (const LibraryModel* model : models) {
        if (const std::optional<int> rank = rankOf(*model, wanted, words))
            found.emplace_back(words.empty() ? 0 : *rank, model);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<const LibraryModel*> out;
    out.reserve(found.size());
    for (const auto& [rank, model] : found)
        out.push_back(model);
    return out;
}

std::string ownModelsFolder()
{
    if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
        return std::string(data) + "/kvworkbench/models";
    const char* home = std::getenv("HOME");
    return (home ? std::string(home) : std::string(".")) + "/.local/share/kvworkbench/models";
}

std::vector<const LibraryModel*> allModels(const std::vector<LibraryModel>& own)
{
    std::vector<const LibraryModel*> out;
    out.reserve(own.size() + builtInModels().size());
    for (const LibraryModel& model : own)
        out.push_back(&model);
    for (const LibraryModel& model : builtInModels())
        out.push_back(&model);
    return out;
}

Result<LibraryModel> modelNamed(const std::string& id)
{
    std::vector<Error> refused;
    const std::vector<LibraryModel> own = ownModels(ownModelsFolder(), refused);
    const std::vector<const LibraryModel*> all = allModels(own);
    for (const LibraryModel* model : all) {
        if (model->id == id)
            return *model;
    }
    const std::vector<const LibraryModel*> near = searchModels(all, id);
    // The name without the owner will do where only one has it.
    const auto isNamed = [&](const LibraryModel* model) {
        return model->id.size() > id.size() && model->id.ends_with(id)
            && model->id[model->id.size() - id.size() - 1] == '/';
    };
    if (near.size() == 1 || (!near.empty() && isNamed(near[0]) && !isNamed(near[1])))
        return *near.front();
    std::string like;
    for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 8); ++i)
        like += (i == 0 ? "" : ", ") + near[i]->id;
    return Error {"library.unknown", "the library has no model of this name", {}, id,
        (near.empty() ? "an id that kvw models lists" : fmt::format("one of {}: {} …", near.size(), like))
            + (refused.empty() ? "" : fmt::format("; not read: {}", refused.front().text()))};
}

ModelSpec specOf(const LibraryModel& model)
{
    ModelSpec out;
    out.name = model.id;
    out.architecture = model.architecture;
    out.dtype = model.dtype;
    out.maximumPositions = model.maximumPositions;
    out.encoderTokens = model.encoderTokens;
    out.groups = model.groups;
    Source source {Source::Kind::Library, (model.own ? "own library: " : "") + model.id, model.source, {},
        model.published, model.verified, model.confidence};
    for (const LayerGroup& group : model.groups) {
        const std::string base = "groups." + group.id;
        out.provenance.set(base + ".layers", source);
        for (const StateTensor& tensor : group.tensors) {
            for (const char* field : {"heads", "width", "elementType", "entries", "stride", "limit", "chunk"})
                out.provenance.set(base + ".tensors." + tensor.id + "." + field, source);
        }
    }
    for (const char* field : {"dtype", "maximumPositions", "encoderTokens"})
        out.provenance.set(field, source);
    if (!model.weights.empty()) {
        out.weightBytes = model.weights.front().bytes;
        source.at = model.weightsSource;
        source.note = model.weights.front().format;
        out.provenance.set("weightBytes", source);
    }
    if (!model.isFromFile())
        out.assumptions.push_back({"library.confidence",
            fmt::format("{} is from the library, not from the model's own file: {}.", model.id, model.confidence),
            "worksheet.groups." + model.groups.front().id + ".layers"});
    return out;
}

Plan planFromLibrary(const LibraryModel& model)
{
    Plan out = planFromModel(specOf(model));
    out.model.basis = ModelBasis::Library;
    if (!model.weights.empty())
        out.loaded.weightSource = fmt::format("{}: {}", model.weights.front().format, model.weightsSource);
    return out;
}

} // namespace kvw
