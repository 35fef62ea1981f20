// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"

#include <cstdint>
#include <utility>

namespace kvw {

/// Checks that every device makes before it trusts a layout or an index. Stateless.

/// Errors device.layout: a size that is negative, tensors that overlap or do not fit into their page, pages that do not
/// fit into the block, a pool that does not exist, a block number beyond 32 bits, sizes beyond 63 bits.
Result<void> checkLayout(const PoolLayout& layout);
/// What a device that writes content asks for beyond checkLayout(). Errors device.layout: a tensor without one entry
/// per token, an entry too small for its tag, more groups than a tag can name.
Result<void> checkContentLayout(const PoolLayout& layout);

/// The rest REQUIRES that checkLayout() has passed. Errors device.range.
Result<void> checkSpan(const PoolLayout& layout, const EntrySpan& span);
/// A block that may be used: it exists and is not held.
Result<void> checkBlock(const PoolLayout& layout, std::uint32_t pool, std::uint32_t block);
/// A block of a group that may be looked at: held ones too.
Result<void> checkReadable(const PoolLayout& layout, std::uint32_t group, std::uint32_t block);
/// Pairs of different blocks that may be used.
Result<void> checkCopies(
    const PoolLayout& layout, std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> fromTo);

/// Bytes that one token's entry takes over all layers and tensors. REQUIRES checkContentLayout() has passed.
std::int64_t entryBytesOfToken(const GroupLayout& group);
/// True when the group stores anything on this rank.
bool holdsState(const GroupLayout& group);

} // namespace kvw
