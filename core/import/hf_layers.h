// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace kvw {

/// What a layer does, and so what it keeps.
enum class LayerRole : std::uint8_t {
    None, ///< nothing between steps: an MLP, an expert, attention that was cut out
    Full,
    Sliding,
    Chunked,
    BlockSparse, ///< reads chosen blocks, keeps everything
    Mixer, ///< the mixer of its family
    Hybrid, ///< attention and the mixer side by side
    HybridSliding,
    Cross, ///< reads image tokens instead of the text
};

/// What one layer states of its own about the shape of its keys and values.
struct LayerShape
{
    std::optional<Stated> kvHeads {};
    std::optional<Stated> width {};
};

/// What every layer is.
struct LayerPlan
{
    std::vector<LayerRole> roles;
    std::vector<LayerRole> draftRoles; ///< of entries that a list has beyond the last layer
    std::map<std::int64_t, LayerShape> shapes; ///< of layers that have one of their own
    std::optional<Stated> window; ///< when a layer slides
    std::optional<Stated> chunk; ///< when a layer is chunked
    std::int64_t shared = 0; ///< so many layers at the end read the state of others
    Source sharedSource {};
    Source source {}; ///< what the choice rests on
};

/// True for roles that keep keys and values of the text.
bool attends(LayerRole role);
/// The role that a string of layer_types or layers_block_type names, or nothing.
std::optional<LayerRole> roleNamed(std::string_view name);
/// The role of a letter of a hybrid pattern, or nothing: M mixer, * attention, E experts, - MLP.
std::optional<LayerRole> roleOfLetter(char letter);

/// How many layers there are, by the field of the family or the length of the list that has one entry a layer. Errors:
/// import.missing_field, those of the JSON reader.
Result<Stated> readLayerCount(const HfReading& reading);

/// Finds out what each layer is: by the lists of the file, else by the rule of the family. Defaults that were applied
/// go to the model. REQUIRES that model.maximumPositions is read. Errors: import.unsupported, import.missing_field,
/// import.inconsistent, those of the JSON reader.
Result<LayerPlan> planLayers(const HfReading& reading, const Stated& layers);

// Parts of planLayers(). Errors as above.

/// Fills the roles from the first list of the file that says what each layer is. False: there is none.
Result<bool> readLayerList(const HfReading& reading, LayerPlan& plan);
/// Fills the roles from a list of 0 and 1, one a layer.
Result<void> readLayerFlags(
    const HfReading& reading, const JsonView& list, LayerRole zero, LayerRole one, std::string note, LayerPlan& plan);
/// Gives the layers that a list names, counted from 0, the role.
Result<void> readLayerNumbers(const HfReading& reading, const JsonView& list, LayerRole role, LayerPlan& plan);
/// What is about windows: with `listed`, the roles say which layers slide, else the window
/// rule of the family does. Errors as above.
Result<void> planWindows(const HfReading& reading, bool listed, LayerPlan& plan);

} // namespace kvw
