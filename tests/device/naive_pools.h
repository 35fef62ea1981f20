// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace kvw::test {

/// What pools must contain and what must have been counted, by the plainest means: byte arrays, loops over single
/// bytes, and a note for each block of what was written where. Shares with the device only writeEntry(), which has
/// tests of its own.
class NaivePools
{
public:
    /// Who wrote an entry, enough to ask for it again.
    struct Written
    {
        bool present = false;
        std::uint64_t chain = 0;
        std::uint16_t domain = 0;
        std::int64_t position = 0;
    };
    struct Block
    {
        std::int64_t group = -1; ///< nobody's
        std::vector<Written> entries {};
    };

    explicit NaivePools(const PoolLayout& layout)
        : m_layout(layout)
    {
        for (const PoolSpec& pool : layout.pools) {
            m_bytes.emplace_back(static_cast<std::size_t>(pool.blockBytes.value * pool.blocks.value), poisonByte);
            m_blocks.emplace_back(static_cast<std::size_t>(pool.blocks.value));
        }
    }

    void append(const EntrySpan& span)
    {
        const GroupLayout& group = m_layout.groups[span.group];
        Block& block = m_blocks[group.pool][span.block];
        if (span.slot == 0)
            begin(group.pool, span.block);
        if (block.group < 0) {
            block.group = span.group;
            block.entries.assign(static_cast<std::size_t>(group.blockTokens), {});
        }
        for (std::int32_t i = 0; i < span.count; ++i) {
            const std::int64_t slot = span.slot + i;
            block.entries[static_cast<std::size_t>(slot)] = {true, span.chains[i], span.domain, span.position + i};
            for (std::int64_t layer = 0; layer < group.layers; ++layer)
                writeLayer(span, i, layer);
            m_entryBytes += bytesOfToken(group);
        }
    }

    void copy(std::uint32_t pool, std::uint32_t from, std::uint32_t to)
    {
        begin(pool, to);
        const std::int64_t size = m_layout.pools[pool].blockBytes.value;
        std::memcpy(
            m_bytes[pool].data() + to * size, m_bytes[pool].data() + from * size, static_cast<std::size_t>(size));
        m_blocks[pool][to] = m_blocks[pool][from];
    }

    void countAndPoisonAll()
    {
        for (std::uint32_t pool = 0; pool < m_bytes.size(); ++pool) {
            for (std::byte& b : m_bytes[pool]) {
                m_counts.nonPoisonBytes += b != poisonByte ? 1 : 0;
                b = poisonByte;
            }
            m_blocks[pool].assign(m_blocks[pool].size(), {});
        }
    }

    const std::vector<std::byte>& bytes(std::uint32_t pool) const { return m_bytes[pool]; }
    const Block& block(std::uint32_t pool, std::uint32_t block) const { return m_blocks[pool][block]; }
    const DeviceCounts& counts() const { return m_counts; }
    /// Bytes of all entries appended, however often.
    std::int64_t entryBytes() const { return m_entryBytes; }
    static std::int64_t bytesOfToken(const GroupLayout& group)
    {
        std::int64_t bytes = 0;
        for (std::int64_t layer = 0; layer < group.layers; ++layer) {
            for (const TensorLayout& tensor : group.tensors)
                bytes += tensor.heads * rowBytes(tensor.elementType, tensor.width);
        }
        return bytes;
    }

private:
    void begin(std::uint32_t pool, std::uint32_t index)
    {
        const std::int64_t size = m_layout.pools[pool].blockBytes.value;
        for (std::int64_t i = index * size; i < (index + std::int64_t {1}) * size; ++i) {
            std::byte& b = m_bytes[pool][static_cast<std::size_t>(i)];
            m_counts.nonPoisonBytes += b != poisonByte ? 1 : 0;
            b = poisonByte;
        }
        Block& block = m_blocks[pool][index];
        bool full = block.group >= 0;
        for (const Written& slot : block.entries)
            full = full && slot.present;
        m_counts.fullBlocksOverwritten += full ? 1 : 0;
        block = {};
    }

    void writeLayer(const EntrySpan& span, std::int32_t i, std::int64_t layer)
    {
        const GroupLayout& group = m_layout.groups[span.group];
        const EntryTag tag {span.chains[i], span.domain, static_cast<std::uint8_t>(span.group),
            static_cast<std::uint32_t>((span.position + i) % (1 << 24))};
        const std::int64_t page = span.block * m_layout.pools[group.pool].blockBytes.value + layer * group.pageBytes;
        for (std::size_t tensor = 0; tensor < group.tensors.size(); ++tensor) {
            const TensorLayout& each = group.tensors[tensor];
            std::vector<std::byte> entry(static_cast<std::size_t>(each.entryBytes));
            writeEntry(tag, static_cast<std::uint32_t>(layer), static_cast<std::uint32_t>(tensor), entry);
            std::int64_t at = page + each.pageOffset + (span.slot + i) * each.entryBytes;
            for (const std::byte b : entry)
                m_bytes[group.pool][static_cast<std::size_t>(at++)] = b;
        }
    }

    PoolLayout m_layout;
    std::vector<std::vector<std::byte>> m_bytes;
    std::vector<std::vector<Block>> m_blocks;
    DeviceCounts m_counts {};
    std::int64_t m_entryBytes = 0;
};

} // namespace kvw::test
