// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"
#include "device/pool_mapping.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kvw {

/// The host device's pools: mapped memory under a layout, and what is done with one block or one span of it. Indices
/// are trusted: whoever calls has checked them. Several threads may work in different blocks at the same time, each
/// with its own scratch.
class HostPools
{
public:
    static constexpr std::size_t chunkEntries = 256;
    /// What one thread counts and remembers while it works.
    struct alignas(64) Scratch
    {
        DeviceCounts counts {};
        VerifyCount found {};
        std::array<EntryKey, chunkEntries> keys {};
        std::array<bool, chunkEntries> wrong {};
        std::array<bool, chunkEntries> foreign {};
    };

    /// Maps the pools of a checked layout; nothing is written yet. `inaccessibleTail` bytes are left out at the end of
    /// the last. Errors: device.memory.
    static Result<HostPools> create(const PoolLayout& layout, bool hugePages, std::int64_t inaccessibleTail);

    const PoolLayout& layout() const;
    std::size_t size() const;
    std::span<std::byte> bytes(std::uint32_t pool) const;
    /// The whole pages of each pool.
    std::vector<AddressRange> pages() const;
    /// Errors: device.range for a block that is not mapped to its end.
    Result<void> checkMapped(std::uint32_t pool, std::uint32_t block) const;
    std::span<std::byte> blockBytes(std::uint32_t pool, std::uint32_t block) const;

    /// Counts the bytes of a block that are not poison and poisons it again. Adds to scratch.counts.
    void beginBlock(std::uint32_t pool, std::uint32_t block, Scratch& scratch) const;
    void writeSpan(const EntrySpan& span, Scratch& scratch) const;
    /// Adds to scratch.found.
    void verifySpan(const EntrySpan& span, Scratch& scratch) const;
    /// The genuine tag of `group` at a slot of a block. REQUIRES holdsState() of the group.
    std::optional<EntryTag> tagAt(std::uint32_t group, std::uint32_t block, std::int64_t slot) const;

private:
    struct Pool
    {
        PoolMapping mapping {};
        std::vector<std::uint32_t> groups {}; // that keep blocks in it
    };

    bool isFull(std::uint32_t pool, std::uint32_t block) const;
    EntryGeometry geometry(const GroupLayout& group, const TensorLayout& tensor) const;
    void verifyPieces(
        const EntrySpan& span, std::int64_t first, std::int64_t count, std::uint32_t layer, Scratch& scratch) const;

    PoolLayout m_layout {};
    std::vector<Pool> m_pools {};
};

/// Makes every byte poison.
void poison(std::span<std::byte> bytes);

} // namespace kvw
