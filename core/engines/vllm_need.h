// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/vllm_sizing.h"

namespace kvw::vllm {

// Parts of the sizing. A figure that does not fit into 64 bits is absent. A stage below 0 is the whole model.

using Whole = std::optional<std::int64_t>;

/// a + b and a × b, absent where an argument is or where they overflow.
Whole add(Whole a, Whole b);
Whole multiply(Whole a, Whole b);

/// The pages of these layers together.
Whole pagesOf(const Grouping& grouping, const std::vector<std::size_t>& layers);
/// Blocks of one request of `length` tokens in the group: with pages of their own, of the layer that needs most.
std::int64_t groupBlocks(
    const SizingInput& input, const Grouping& grouping, const CacheGroup& group, std::int64_t length);
/// The same in all groups together.
Whole requestBlocks(const SizingInput& input, const Grouping& grouping, std::int64_t length);
/// Layers of the longest group on the stage.
std::int64_t groupSizeOn(const SizingInput& input, const Grouping& grouping, std::int64_t stage);
/// Bytes of one block on the stage: of one group, its layers' pages; else a page for each layer of the longest group;
/// packed, the largest group's pages.
Whole bytesPerBlock(const SizingInput& input, const Grouping& grouping, std::int64_t stage);

} // namespace kvw::vllm
