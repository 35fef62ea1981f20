// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include "estimate/estimate.h"
#include "plan/field_table.h"
#include "plan/gpu_library.h"
#include "plan/model_library.h"
#include "plan/plan_json.h"
#include "units/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace kvw::cli {

namespace {

/// The built-in models and the user's own. What was refused of those is said on standard error.
struct Library
{
    std::vector<LibraryModel> own;
    std::vector<const LibraryModel*> all;
};

Library library()
{
    Library out;
    std::vector<Error> refused;
    out.own = ownModels(ownModelsFolder(), refused);
    for (const Error& error : refused)
        std::fprintf(stderr, "kvw: %s\n", error.text().c_str());
    out.all = allModels(out.own);
    return out;
}

template <typename T>
OrderedJson orNull(const std::optional<T>& value)
{
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson textOrNull(const std::string& text)
{
    return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

/// What a plan for the model estimates before anybody chooses an engine.
struct Sizes
{
    std::optional<double> bytesPerToken; ///< a compressed cache may add parts of a byte
    std::optional<std::int64_t> fixedBytes;
};

std::string numberText(double number)
{
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) == number ? grouped(whole) : fmt::format("{}", number);
}

Sizes sizesOf(const LibraryModel& model)
{
    Plan plan = planFromLibrary(model);
    if (plan.cache.elementType == ElementType::NotStated)
        plan.cache.elementType = ElementType::Bf16;
    const Result<Estimate> figures = estimate(plan);
    if (!figures)
        return {};
    return {figures->bytesPerToken.real(), figures->fixedBytes.integer()};
}

OrderedJson modelJson(const LibraryModel& model)
{
    OrderedJson out {{"id", model.id}, {"family", model.family}, {"architecture", textOrNull(model.architecture)},
        {"dtype", textOrNull(std::string(factsOf(model.dtype).name))},
        {"maximumPositions", orNull(model.maximumPositions)}, {"encoderTokens", orNull(model.encoderTokens)},
        {"parameters", orNull(model.parameters)}, {"activeParameters", orNull(model.activeParameters)},
        {"parametersSource", textOrNull(model.parametersSource)}};
    out["weights"] = OrderedJson::array();
    for (const LibraryWeights& weights : model.weights)
        out["weights"].push_back({{"format", weights.format}, {"bytes", weights.bytes}});
    out["weightsSource"] = textOrNull(model.weightsSource);
    out["cacheTypeHint"] = textOrNull(model.cacheTypeHint);
    Plan plan;
    plan.worksheet.groups = model.groups;
    out["groups"] = OrderedJson::parse(planToJson(plan))["worksheet"]["groups"];
    out["source"] = model.source;
    out["published"] = textOrNull(model.published);
    out["verified"] = model.verified;
    out["confidence"] = model.confidence;
    out["notes"] = model.notes;
    out["own"] = model.own;
    return out;
}

std::string layersText(const LibraryModel& model)
{
    std::vector<std::string> parts;
    for (const LayerGroup& group : model.groups)
        parts.push_back(fmt::format("{} {}", group.layers, group.id));
    return fmt::format("{}", fmt::join(parts, " + "));
}

Table groupsOf(const LibraryModel& model)
{
    Table out;
    out.columns = {{"Group"}, {"Kind"}, {"Layers", true}, {"Tensor"}, {"Heads", true}, {"Width", true}, {"Growth"}};
    for (const LayerGroup& group : model.groups) {
        bool first = true;
        const auto row = [&](const std::string& tensor, const std::string& heads, const std::string& width,
                             const std::string& growth) {
            out.rows.push_back({first ? group.id : "",
                first ? std::string(layerKindNames()[static_cast<std::size_t>(group.kind)]) : "",
                first ? grouped(group.layers) : "", tensor, heads, width, growth});
            first = false;
        };
        for (const StateTensor& tensor : group.tensors)
            row(tensor.id, grouped(tensor.heads), grouped(tensor.width), growthText(tensor.growth));
        if (group.tensors.empty())
            row("reads " + group.readsGroup, "", "", "");
    }
    return out;
}

Section sectionOf(const LibraryModel& model)
{
    Section out {"model", model.id, {}, {}};
    Facts facts;
    const auto add = [&](const char* name, const std::string& text) {
        facts.rows.emplace_back(name, text.empty() ? "not stated" : text);
    };
    add("Family", model.family);
    add("Architecture", model.architecture);
    add("Element type", std::string(factsOf(model.dtype).name));
    add("Longest sequence", model.maximumPositions ? grouped(*model.maximumPositions) + " tokens" : "");
    add("Parameters",
        model.parameters ? fmt::format("{}, of which {} for one token; {}", grouped(*model.parameters),
            model.activeParameters ? grouped(*model.activeParameters) : "not stated", model.parametersSource)
                         : "");
    std::vector<std::string> forms;
    for (const LibraryWeights& weights : model.weights)
        forms.push_back(fmt::format("{} B as {}", grouped(weights.bytes), weights.format));
    add("Weights", forms.empty() ? "" : fmt::format("{}; {}", fmt::join(forms, ", "), model.weightsSource));
    if (!model.cacheTypeHint.empty())
        add("Cache type suggested", model.cacheTypeHint);
    add("Source", model.source);
    add("Published", model.published.empty() ? "not stated in the source" : model.published);
    add("Verified", model.verified);
    add("Confidence", model.confidence);
    for (const std::string& note : model.notes)
        add("Note", note);
    out.blocks.emplace_back(std::move(facts));
    out.blocks.emplace_back(groupsOf(model));
    return out;
}

} // namespace

int runModels(const Options& options)
{
    const Library known = library();
    const std::vector<const LibraryModel*> found = searchModels(known.all, options.query);
    if (options.json) {
        OrderedJson out {{"query", options.query}, {"count", found.size()}, {"models", OrderedJson::array()}};
        for (const LibraryModel* model : found) {
            const Sizes sizes = sizesOf(*model);
            out["models"].push_back({{"id", model->id}, {"family", model->family},
                {"bytesPerToken", orNull(sizes.bytesPerToken)}, {"fixedBytesPerSequence", orNull(sizes.fixedBytes)},
                {"maximumPositions", orNull(model->maximumPositions)}, {"confidence", model->confidence},
                {"own", model->own}});
        }
        print(out);
        return ok;
    }
    Section out {"models", fmt::format("{} of {} models", found.size(), known.all.size()), {}, {}};
    Table table;
    table.columns = {{"Model"}, {"Layers"}, {"B/token", true}, {"Fixed B", true}, {"Longest", true}, {"Confidence"}};
    for (const LibraryModel* model : found) {
        const Sizes sizes = sizesOf(*model);
        table.rows.push_back({model->id + (model->own ? " (own)" : ""), layersText(*model),
            sizes.bytesPerToken ? numberText(*sizes.bytesPerToken) : "–",
            sizes.fixedBytes ? grouped(*sizes.fixedBytes) : "–",
            model->maximumPositions ? grouped(*model->maximumPositions) : "not stated", model->confidence});
    }
    out.blocks.emplace_back(std::move(table));
    print(out);
    return ok;
}

int runModel(const Options& options)
{
    const Result<LibraryModel> model = modelNamed(options.query);
    if (!model)
        return fail(options, model.error(), refusedInput);
    if (!options.out.empty()) {
        if (const Result<void> saved = savePlan(planFromLibrary(*model), options.out); !saved)
            return fail(options, saved.error(), writeFailed);
    }
    if (options.json)
        print(modelJson(*model));
    else
        print(sectionOf(*model));
    return ok;
}

int runGpus(const Options& options)
{
    if (options.json) {
        OrderedJson out {{"gpus", OrderedJson::array()}};
        for (const LibraryGpu& gpu : builtInGpus()) {
            OrderedJson others = OrderedJson::array();
            for (const GpuMemory& reading : gpu.otherMemory)
                others.push_back({{"bytes", reading.bytes}, {"basis", reading.basis}});
            out["gpus"].push_back({{"name", gpu.name}, {"architecture", gpu.architecture},
                {"marketedGigabytes", gpu.marketedGigabytes}, {"memoryBytes", orNull(gpu.memoryBytes)},
                {"memoryBasis", gpu.memoryBasis}, {"memoryBasisKind", gpu.memoryBasisKind}, {"otherMemory", others},
                {"bandwidthBytesPerSecond", orNull(gpu.bandwidthBytesPerSecond)},
                {"linkBytesPerSecond", orNull(gpu.linkBytesPerSecond)}, {"link", textOrNull(gpu.link)},
                {"perNode", orNull(gpu.perNode)}, {"rackDevices", orNull(gpu.rackDevices)},
                {"node", textOrNull(gpu.node)}, {"watts", orNull(gpu.watts)}, {"sources", gpu.sources},
                {"verified", gpu.verified}, {"notes", gpu.notes}});
        }
        print(out);
        return ok;
    }
    Section out {"gpus", fmt::format("{} accelerators", builtInGpus().size()), {}, {}};
    Table table;
    table.columns = {{"Device"}, {"Sold as", true}, {"Memory, bytes", true}, {"Read by"}, {"GB/s, data sheet", true},
        {"Architecture"}};
    for (const LibraryGpu& gpu : builtInGpus())
        table.rows.push_back({gpu.name, fmt::format("{} GB", gpu.marketedGigabytes),
            gpu.memoryBytes ? grouped(*gpu.memoryBytes) : "not read", gpu.memoryBasisKind,
            gpu.bandwidthBytesPerSecond ? grouped(*gpu.bandwidthBytesPerSecond / 1'000'000'000) : "–",
            gpu.architecture});
    out.blocks.emplace_back(std::move(table));
    print(out);
    return ok;
}

} // namespace kvw::cli
