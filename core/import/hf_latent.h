// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

#include <vector>

namespace kvw {

/// What layers of multi-head latent attention keep, with and without the keys of a sparse indexer.
struct LatentStates
{
    LayerState plain; ///< latent and rotary key
    LayerState indexed; ///< the same and index keys; as `plain` where the family has no indexer
    std::vector<bool> hasIndexer {}; ///< per layer; empty: no layer has one

    const LayerState& of(std::size_t layer) const { return hasIndexer.empty() || !hasIndexer[layer] ? plain : indexed; }
    /// What a draft layer like the trunk keeps.
    const LayerState& draft() const { return hasIndexer.empty() ? plain : indexed; }
};

/// Latent attention (DeepSeek-V2 and later, Kimi-K2, GLM-5): kv_lora_rank + qk_rope_head_dim elements a token, one
/// head, kept whole on every tensor-parallel rank. num_key_value_heads, head_dim and v_head_dim of these files say
/// nothing about the cache. Layers with a sparse indexer keep its keys too; those that share another layer's do not.
/// Errors: import.missing_field, import.unsupported, import.inconsistent, those of the JSON reader.
Result<LatentStates> readLatentStates(const HfReading& reading, std::size_t layers);

} // namespace kvw
