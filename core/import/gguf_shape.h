// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/gguf_arch.h"
#include "import/gguf_fields.h"
#include "model/model_spec.h"

#include <optional>
#include <vector>

namespace kvw {

/// Heads, widths and layer roles of a GGUF model, as llama.cpp's load_hparams has them after it has read the keys.
struct GgufShape
{
    std::int64_t layers = 0; ///< all, NextN layers included
    std::int64_t drafts = 0; ///< NextN layers, the last ones
    std::int64_t embedding = 0;
    std::vector<std::int64_t> heads {}; ///< query heads per layer
    std::vector<std::int64_t> kvHeads {}; ///< per layer
    Stated keyWidth {};
    Stated valueWidth {};
    Stated windowKeyWidth {}; ///< in layers that keep a window
    Stated windowValueWidth {};
    Source layersSource {};
    Source headsSource {}; ///< of kvHeads
    bool latent = false; ///< one latent instead of keys and values
    std::optional<Stated> latentWidth {}; ///< kv_lora_rank, where it splits the latent's row

    std::vector<bool> windowed {}; ///< per layer
    std::optional<Stated> window {};
    Source windowSource {}; ///< what the choice of layers rests on
    std::vector<bool> recurrent {}; ///< per layer
    std::vector<bool> stateless {}; ///< per layer: neither attention nor recurrence
    Source recurrentSource {};
    std::vector<bool> indexed {}; ///< per layer: keys of a sparse indexer
    std::vector<std::int64_t> ratios {}; ///< per layer: tokens for each compressed entry, 0 for none; empty: no layer
    Source indexSource {};
    std::int64_t ownLayers = 0; ///< layers from here on read the state of earlier ones
    Source ownSource {};

    std::int64_t trunk() const { return layers - drafts; }
};

/// Reads it. What was taken by default goes to `model`. Errors as for addGgufLayerGroups().
Result<GgufShape> readGgufShape(const GgufFields& fields, const GgufArch& arch, ModelSpec& model);

/// One number a layer, as GgufFields::perLayer(). Arrays may leave out the NextN layers, which then are like the last
/// of the others.
Result<std::optional<std::vector<std::int64_t>>> readGgufPerLayer(const GgufFields& fields, const GgufShape& shape,
    std::string_view name, std::int64_t minimum, std::int64_t maximum);
/// Fills in which layers keep a window, and which read the state of others.
Result<void> readGgufWindow(const GgufFields& fields, const GgufArch& arch, GgufShape& shape, ModelSpec& model);
/// Fills in which layers keep the keys of a sparse indexer, and which keep compressed entries.
Result<void> readGgufIndexer(const GgufFields& fields, const GgufArch& arch, GgufShape& shape, ModelSpec& model);

} // namespace kvw
