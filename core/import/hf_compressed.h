// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

namespace kvw {

/// Adds the groups of a model with compressed caches (DeepSeek V4 and V4.1) to `groups` and gives back what a draft
/// layer keeps; `layersSource` becomes what the choice of layers rests on. Every layer keeps a window of one shared row
/// for K and V, head_dim wide. Beside it, V4's layers keep an entry of the same width for every 4 tokens (with an
/// indexer's key) or 128 tokens (without), and the partial windows of their compressors; of V4.1's layers only the
/// sources do, and the others read theirs. Sources: transformers' configuration and cache classes of deepseek_v4 and
/// deepseek_v41; the buffers: NVIDIA's configurator. Errors: import.unsupported, import.inconsistent, those of the JSON
/// reader.
Result<LayerState> addCompressedLayers(
    const HfReading& reading, std::int64_t layers, LayerGroups& groups, Source& layersSource);

} // namespace kvw
