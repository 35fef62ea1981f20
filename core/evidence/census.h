// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"
#include "serving/loop.h"

#include <set>
#include <span>

namespace kvw {

/// Blocks by state as the pool's bytes show it, all pools together.
struct BlockCensus
{
    std::int64_t step = -1;
    std::int64_t active = 0; ///< reached through a running request's block table, with that request's content in it
    std::int64_t wrong = 0; ///< reached through a table, but with other content than the request's
    std::int64_t cached = 0; ///< reached by no table, every entry written
    std::int64_t free = 0; ///< everything else but the held ones
    std::int64_t held = 0; ///< by the layout
    std::set<std::uint16_t> domains; ///< named by any entry
};

/// Counts by reading every block's content tags. Nothing is asked of the block pools: a block is active when a running
/// request's table leads to it and the tags there are the request's own chain; otherwise it is cached when every entry
/// is written, and free when not. Errors: those of Device::readTags.
Result<BlockCensus> takeCensus(const PoolLayout& layout, const Device& device, std::span<const RunningRequest> running);

} // namespace kvw
