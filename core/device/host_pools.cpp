// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_pools.h"

#include "device/layout_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kvw {
namespace {

// Keys of `count` entries of a span from its entry `first` on.
void makeKeys(const EntrySpan& span, std::int64_t first, std::int64_t count, std::span<EntryKey> keys)
{
    for (std::int64_t i = 0; i < count; ++i) {
        keys[static_cast<std::size_t>(i)] = entryKey(span.chains[first + i], span.domain,
            static_cast<std::uint8_t>(span.group), static_cast<std::uint32_t>(span.position + first + i));
    }
}

// Fetches the bytes that come 4 KiB after those that are worked on now. A processor looks some 500 bytes ahead by
// itself when each byte takes arithmetic, too little to keep memory busy: short entries were verified at half the rate.
// Bytes behind the pool may be asked for: nothing is accessed.
template <bool forWriting>
void fetchAhead(const std::byte* from, std::int64_t bytes)
{
    constexpr std::int64_t distance = 4096;
    constexpr std::int64_t lineBytes = 64;
    for (std::int64_t line = 0; line < bytes; line += lineBytes)
        __builtin_prefetch(from + distance + line, forWriting ? 1 : 0);
}

} // namespace

void poison(std::span<std::byte> bytes)
{
    if (!bytes.empty())
        std::memset(bytes.data(), static_cast<int>(poisonByte), bytes.size());
}

Result<HostPools> HostPools::create(const PoolLayout& layout, bool hugePages, std::int64_t inaccessibleTail)
{
    HostPools pools;
    pools.m_layout = layout;
    pools.m_pools.resize(layout.pools.size());
    for (std::size_t i = 0; i < layout.pools.size(); ++i) {
        const PoolSpec& spec = layout.pools[i];
        const bool last = i + 1 == layout.pools.size();
        Result<PoolMapping> mapping
            = PoolMapping::create(spec.blockBytes.value * spec.blocks.value, hugePages, last ? inaccessibleTail : 0);
        if (!mapping)
            return mapping.error();
        pools.m_pools[i].mapping = std::move(*mapping);
    }
    for (std::size_t i = 0; i < layout.groups.size(); ++i) {
        if (holdsState(layout.groups[i]))
            pools.m_pools[layout.groups[i].pool].groups.push_back(static_cast<std::uint32_t>(i));
    }
    return pools;
}

const PoolLayout& HostPools::layout() const
{
    return m_layout;
}

std::size_t HostPools::size() const
{
    return m_pools.size();
}

std::span<std::byte> HostPools::bytes(std::uint32_t pool) const
{
    return m_pools[pool].mapping.bytes();
}

std::vector<AddressRange> HostPools::pages() const
{
    std::vector<AddressRange> ranges;
    ranges.reserve(m_pools.size());
    for (const Pool& pool : m_pools)
        ranges.push_back(pool.mapping.pages());
    return ranges;
}

Result<void> HostPools::checkMapped(std::uint32_t pool, std::uint32_t block) const
{
    const std::int64_t end = (block + std::int64_t {1}) * m_layout.pools[pool].blockBytes.value;
    const auto mapped = static_cast<std::int64_t>(bytes(pool).size());
    if (end > mapped)
        return Error {"device.range", fmt::format("block {} of pool {} is not mapped to its end", block, pool), {},
            fmt::format("{} bytes mapped", mapped), fmt::format("at least {}", end)};
    return {};
}

std::span<std::byte> HostPools::blockBytes(std::uint32_t pool, std::uint32_t block) const
{
    const auto size = static_cast<std::size_t>(m_layout.pools[pool].blockBytes.value);
    return bytes(pool).subspan(block * size, size);
}

EntryGeometry HostPools::geometry(const GroupLayout& group, const TensorLayout& tensor) const
{
    return {m_layout.pools[group.pool].blockBytes.value, group.pageBytes, tensor.pageOffset, tensor.entryBytes};
}

void HostPools::beginBlock(std::uint32_t pool, std::uint32_t block, Scratch& scratch) const
{
    const std::span<std::byte> all = blockBytes(pool, block);
    const std::int64_t found = countNonPoison(all);
    if (found == 0)
        return; // nothing to count, nothing to poison
    scratch.counts.nonPoisonBytes += found;
    scratch.counts.fullBlocksOverwritten += isFull(pool, block) ? 1 : 0;
    poison(all);
}

bool HostPools::isFull(std::uint32_t pool, std::uint32_t block) const
{
    // Whose block it was stands in its own tags; a genuine tag of one group is none of another.
    return std::any_of(m_pools[pool].groups.begin(), m_pools[pool].groups.end(), [&](std::uint32_t group) {
        for (std::int64_t slot = 0; slot < m_layout.groups[group].blockTokens; ++slot) {
            if (!tagAt(group, block, slot))
                return false;
        }
        return true;
    });
}

std::optional<EntryTag> HostPools::tagAt(std::uint32_t group, std::uint32_t block, std::int64_t slot) const
{
    const GroupLayout& layout = m_layout.groups[group];
    const TensorLayout& tensor = layout.tensors.front();
    const auto offset = static_cast<std::size_t>(entryOffset(geometry(layout, tensor), block, 0, slot));
    const std::span<const std::byte> entry
        = bytes(layout.pool).subspan(offset, static_cast<std::size_t>(tensor.entryBytes));
    const std::optional<EntryTag> tag = genuineTag(0, 0, entry);
    return tag && tag->group == group ? tag : std::nullopt;
}

void HostPools::writeSpan(const EntrySpan& span, Scratch& scratch) const
{
    const GroupLayout& group = m_layout.groups[span.group];
    std::byte* const pool = bytes(group.pool).data();
    for (std::int64_t first = 0; first < span.count; first += chunkEntries) {
        const std::int64_t count = std::min<std::int64_t>(chunkEntries, span.count - first);
        makeKeys(span, first, count, scratch.keys);
        for (std::uint32_t layer = 0; layer < group.layers; ++layer) {
            for (std::uint32_t tensor = 0; tensor < group.tensors.size(); ++tensor) {
                const EntryGeometry place = geometry(group, group.tensors[tensor]);
                const std::uint64_t label = pieceLabel(layer, tensor);
                std::byte* out = pool + entryOffset(place, span.block, layer, span.slot + first);
                for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, out += place.entryBytes) {
                    fetchAhead<true>(out, place.entryBytes);
                    writeEntry(scratch.keys[i], label, {out, static_cast<std::size_t>(place.entryBytes)});
                }
            }
        }
    }
}

void HostPools::verifySpan(const EntrySpan& span, Scratch& scratch) const
{
    const GroupLayout& group = m_layout.groups[span.group];
    for (std::int64_t first = 0; first < span.count; first += chunkEntries) {
        const std::int64_t count = std::min<std::int64_t>(chunkEntries, span.count - first);
        makeKeys(span, first, count, scratch.keys);
        scratch.wrong.fill(false);
        scratch.foreign.fill(false);
        for (std::uint32_t layer = 0; layer < group.layers; ++layer)
            verifyPieces(span, first, count, layer, scratch);
        scratch.found.mismatched += std::count(scratch.wrong.begin(), scratch.wrong.end(), true);
        scratch.found.foreign += std::count(scratch.foreign.begin(), scratch.foreign.end(), true);
    }
    scratch.found.entries += span.count;
    ++scratch.found.blocksRead;
}

void HostPools::verifyPieces(
    const EntrySpan& span, std::int64_t first, std::int64_t count, std::uint32_t layer, Scratch& scratch) const
{
    const GroupLayout& group = m_layout.groups[span.group];
    const std::byte* const pool = bytes(group.pool).data();
    for (std::uint32_t tensor = 0; tensor < group.tensors.size(); ++tensor) {
        const EntryGeometry place = geometry(group, group.tensors[tensor]);
        const std::uint64_t label = pieceLabel(layer, tensor);
        const std::byte* from = pool + entryOffset(place, span.block, layer, span.slot + first);
        for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, from += place.entryBytes) {
            const std::span<const std::byte> entry(from, static_cast<std::size_t>(place.entryBytes));
            fetchAhead<false>(from, place.entryBytes);
            if (entryMatches(scratch.keys[i], label, entry))
                continue;
            scratch.wrong[i] = true;
            const std::optional<EntryTag> tag = genuineTag(layer, tensor, entry);
            if (tag && tag->domain != span.domain && tag->domain != 0)
                scratch.foreign[i] = true;
        }
        scratch.found.bytesRead += count * place.entryBytes;
    }
}

} // namespace kvw
