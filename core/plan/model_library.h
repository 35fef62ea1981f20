// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"
#include "plan/plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// Bytes of a model's weights in one published form.
struct LibraryWeights
{
    std::string format; ///< "bf16", "native fp8" …
    std::int64_t bytes = 0;
};

/// One model of a library: its layer groups as a plan has them, and how far they can be trusted.
struct LibraryModel
{
    std::string id; ///< repository id, "Qwen/Qwen3-8B"
    std::string family;
    std::string architecture; ///< model_type; empty: not stated
    ElementType dtype = ElementType::NotStated;
    std::optional<std::int64_t> maximumPositions; ///< longest sequence, tokens
    std::optional<std::int64_t> encoderTokens; ///< longest encoder sequence that cross attention reads
    std::optional<std::int64_t> parameters; ///< all
    std::optional<std::int64_t> activeParameters; ///< used for one token
    std::string parametersSource;
    std::vector<LibraryWeights> weights; ///< each published form; empty: not known
    std::string weightsSource;
    std::string cacheTypeHint; ///< element type that a checkpoint suggests for the cache; empty: none
    std::vector<LayerGroup> groups;
    std::string source; ///< where groups and limits were read
    std::string published; ///< ISO date; empty: not stated in the source
    std::string verified; ///< ISO date
    std::string confidence; ///< "config file", or what was inferred and from what
    std::vector<std::string> notes;
    bool own = false; ///< of the user's own library

    /// True when a configuration file of this very model was read: nothing was inferred.
    bool isFromFile() const;
};

/// Reads a library: {"format": "kvmodels", "schemaVersion": 1, "models": [...]}. Groups are written as in a plan's
/// worksheet; fields of tensors that are left out have the plan's defaults. Refused with a JSON pointer: another format
/// or version, unknown or missing fields, wrong types, an id twice, a model without groups. Error codes:
/// library.format, library.unknown_field, library.missing_field, library.id, json.*, plan.*.
Result<std::vector<LibraryModel>> readModelLibrary(const JsonDocument& document, bool own);

/// The built-in models, read once; sorted by id.
const std::vector<LibraryModel>& builtInModels();
/// The models of `folder` (each *.json a library), sorted by id. A file that is refused adds its error and nothing
/// else; a folder that is not there is empty.
std::vector<LibraryModel> ownModels(const std::string& folder, std::vector<Error>& refused);

/// Where the user's own libraries lie: $XDG_DATA_HOME/kvworkbench/models (or ~/.local/share/…).
std::string ownModelsFolder();
/// The own models, then the built-in ones. `own` must outlive the answer.
std::vector<const LibraryModel*> allModels(const std::vector<LibraryModel>& own);
/// A model of the library or of the user's own by its id, or by words that only one fits. Error: library.unknown, with
/// what is near.
Result<LibraryModel> modelNamed(const std::string& id);

/// Models that fit what was typed, best first: every word of `query`, in any case and order, is a part of the id, the
/// family or the architecture. An id that is the query comes first, then ids whose name begins with it.
std::vector<const LibraryModel*> searchModels(const std::vector<const LibraryModel*>& models, std::string_view query);

/// The model as an importer would give it: every number has the library's entry as its source, and what was not read
/// from the model's own file is an assumption.
ModelSpec specOf(const LibraryModel& model);
/// planFromModel() of it, with the basis "library".
Plan planFromLibrary(const LibraryModel& model);

} // namespace kvw
