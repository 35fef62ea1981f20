// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_family.h"
#include "import/hf_fields.h"
#include "model/model_spec.h"

#include <optional>
#include <vector>

namespace kvw {

/// Which layers keep a window only.
struct LayerPlan
{
    std::vector<bool> sliding; ///< per layer
    std::optional<Stated> window; ///< when a layer slides
    Source source {}; ///< what the choice rests on
};

/// Finds out which layers slide: layer_types, else the rule of the family. Defaults that were applied go to `model`.
/// REQUIRES that model.maximumPositions is read. Errors: import.unsupported, import.missing_field, import.inconsistent,
/// those of the JSON reader.
Result<LayerPlan> planLayers(const HfFields& fields, const HfFamily& family, const Stated& layers, ModelSpec& model);

/// Adds the layer groups of a configuration to `model`, with provenance, assumptions and diagnostics. Errors as above.
Result<void> addLayerGroups(const HfFields& fields, const HfFamily& family, ModelSpec& model);

} // namespace kvw
