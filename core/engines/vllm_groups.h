// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/vllm_spec.h"

#include <cstddef>
#include <string>
#include <vector>

namespace kvw::vllm {

/// A layer's place in the list of caches, in the order in which the model registers them.
struct CacheLayer
{
    std::size_t spec = 0; ///< index of its spec
    std::int64_t stage = 0; ///< pipeline stage that runs it
};

/// Layers that share a block table.
struct CacheGroup
{
    std::vector<std::size_t> layers {}; ///< indices, in the order of the group
    bool ownPages = false; ///< the layers keep pages of their own sizes (UniformTypeKVCacheSpecs)
};

/// The cache groups of a whole model.
struct Grouping
{
    std::vector<LayerSpec> specs {}; ///< after pages were made to fit together
    std::vector<std::size_t> specOf {}; ///< of each layer: index into specs
    std::vector<std::int64_t> pages {}; ///< of each of specs, bytes
    std::vector<CacheGroup> groups {}; ///< none: the model keeps no cache
    std::int64_t paddingLayers = 0; ///< places in groups that no layer takes
    bool allocatedAsFull = false; ///< windowed or chunked layers get blocks for every token
    std::string refusal {}; ///< why vLLM refuses the combination; empty when it does not

    const LayerSpec& specAt(std::size_t layer) const { return specs[specOf[layer]]; }
    std::int64_t pageAt(std::size_t layer) const { return pages[specOf[layer]]; }
    /// Every group's layers keep pages of their own, and there are several: the pages of a group lie side by side in
    /// one block (DeepSeek-V4).
    bool packed() const;
};

/// The groups that vLLM forms (get_kv_cache_groups):
/// 1. with the hybrid manager off, windowed and chunked layers beside full ones become full ones, for allocation;
/// 2. layers that are all the same, or mergeable, are one group;
/// 3. so are layers that need the same token slots, with pages of their own sizes;
/// 4. with windows of one vector a token (DeepSeek-V4): the full group, then the windows by block and window, split so
///    that all have about as many tuples of pages;
/// 5. else pages are made equal (the largest wins; a smaller one takes more tokens a block, or is padded), and the
///    layers of each spec are dealt out to groups of the same size: as many as the rarest spec has layers, or as the
///    most frequent has where that is less than 1.5 times as many; layer i goes to group i mod their number.
Grouping groupLayers(
    const Rules& rules, std::vector<LayerSpec> specs, const std::vector<CacheLayer>& layers, bool hybridManagerOff);

} // namespace kvw::vllm
