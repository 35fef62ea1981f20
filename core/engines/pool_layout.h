// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "model/layer_group.h"
#include "units/amount.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvw {

/// One state tensor inside one page. Entry e of the page starts at pageOffset + e × entryBytes; inside an entry the
/// heads follow one another, each a row of `width` elements with its scales.
struct TensorLayout
{
    std::string id; ///< tensor of the layer group
    ElementType elementType = ElementType::Bf16;
    std::int64_t heads = 1; ///< on this rank
    std::int64_t width = 1; ///< elements of a head
    std::int64_t entryBytes = 0; ///< heads × bytes of a row
    std::int64_t entriesPerBlock = 0; ///< blockTokens for tensors with one entry per token
    std::int64_t pageOffset = 0; ///< bytes from the start of the page
};

/// One layer group in a pool. A block of it is `layers` pages one after another, each pageBytes long.
struct GroupLayout
{
    std::string id; ///< as in the plan's worksheet
    LayerKind kind = LayerKind::Full;
    std::uint32_t pool = 0; ///< index into PoolLayout::pools; groups may share one
    std::int64_t layers = 0; ///< on this rank
    std::int64_t blockTokens = 16;
    /// Tokens that stay retained: entry p is needed while p > v − window. None: everything is retained.
    std::optional<std::int64_t> window {};
    std::vector<TensorLayout> tensors {};
    std::int64_t pageBytes = 0; ///< one layer's part of a block

    /// Bytes that one token adds on this rank, all layers.
    std::int64_t bytesPerToken() const;
};

/// A pool: blocks of one size. Block b starts at b × blockBytes.
struct PoolSpec
{
    Bytes blockBytes {};
    Blocks blocks {}; ///< held ones included
    Blocks held {}; ///< null, dummy or padding blocks: ids 0 … held − 1
};

/// What one rank reserves, as the engine lays it out. The cache and the devices know nothing else of an engine's sizes.
struct PoolLayout
{
    std::int64_t rank = 0;
    std::vector<PoolSpec> pools {};
    std::vector<GroupLayout> groups {};

    /// Sum of blocks × blockBytes over the pools. Errors: overflow.
    Result<Bytes> totalBytes() const;
};

} // namespace kvw
