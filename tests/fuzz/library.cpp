// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Whatever a library file of a user says: its models are read or it is refused; each model that is read becomes a plan.
// The first byte of the input says whether it is a library of models or of accelerators.

#include "fuzz/fuzz.h"
#include "plan/built_in_data.h"
#include "plan/gpu_library.h"
#include "plan/model_library.h"
#include "plan/plan_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>

using namespace kvw;
using fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    const Result<JsonDocument> document = parseJson(text, "own.json");
    if (!document)
        return 0;
    if (data[0] % 2 == 1) {
        const Result<std::vector<LibraryGpu>> gpus = readGpuLibrary(*document);
        require(gpus.ok() || (!gpus.error().code.empty() && gpus.error().where.file == "own.json"));
        return 0;
    }
    const Result<std::vector<LibraryModel>> models = readModelLibrary(*document, true);
    if (!models) {
        require(!models.error().code.empty() && models.error().where.file == "own.json");
        return 0;
    }
    std::vector<const LibraryModel*> all;
    for (const LibraryModel& model : *models) {
        require(!model.groups.empty() && model.own);
        const Plan plan = planFromLibrary(model);
        const Result<JsonDocument> written = parseJson(planToJson(plan), "plan");
        require(written.ok() && planFromJson(*written).ok());
        all.push_back(&model);
    }
    if (!all.empty()) {
        const std::vector<const LibraryModel*> found = searchModels(all, models->front().id);
        require(std::find(found.begin(), found.end(), &models->front()) != found.end());
    }
    return 0;
}

/// Single models and accelerators of the built-in libraries, and a few together.
std::vector<std::string> fuzz::seeds()
{
    std::vector<std::string> out;
    const auto add = [&](char choice, const Json& whole, const char* list, std::size_t step) {
        const Json& entries = whole.at(list);
        Json some = whole;
        some[list] = Json::array();
        for (std::size_t i = 0; i < entries.size(); i += step) {
            Json one = whole;
            one[list] = Json::array({entries[i]});
            out.push_back(std::string(1, choice) + one.dump());
            if (i < 3 * step)
                some[list].push_back(entries[i]);
        }
        out.push_back(std::string(1, choice) + some.dump());
    };
    add(0, Json::parse(builtInModelsJson()), "models", 8);
    add(1, Json::parse(builtInGpusJson()), "gpus", 4);
    return out;
}
