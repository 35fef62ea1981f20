// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/block_pool.h"
#include "cache/identity.h"

#include <cstdint>
#include <vector>

namespace kvw {

/// From (identity, group) to the blocks of one pool that hold it.
///
/// Open addressing with linear probing over distinct identities, at most half full; a removed slot is closed by moving
/// its successors back, so there are no tombstones. Several blocks may share an identity (vLLM does not merge
/// duplicates): they are a list in order of indexing, and the first is found. Sized once; nothing is allocated after
/// construction, and an operation costs the same however many duplicates there are.
class PrefixIndex
{
public:
    /// `capacity`: blocks of the pool; ids are 0 … capacity − 1.
    explicit PrefixIndex(std::int64_t capacity);

    /// The block indexed first under the key, or noBlock.
    BlockId find(const BlockKey& key, std::uint8_t group) const;
    /// REQUIRES that the block is not in the index.
    void insert(const BlockKey& key, std::uint8_t group, BlockId block);
    /// Removes the block from whatever it is indexed under. REQUIRES that it is in the index.
    void remove(BlockId block);
    bool contains(BlockId block) const;
    /// Blocks in the index, duplicates counted.
    std::int64_t size() const;
    /// Distinct (identity, group) pairs.
    std::int64_t identities() const;

private:
    /// A block's place in the list of its identity. The list is a ring: the first block's previous is the last one.
    struct Entry
    {
        BlockKey key;
        BlockId next = noBlock;
        BlockId previous = noBlock;
        std::uint8_t group = 0;
    };

    std::size_t home(const BlockKey& key, std::uint8_t group) const;
    /// The slot whose list has the key, or the empty slot where it belongs.
    std::size_t slotOf(const BlockKey& key, std::uint8_t group) const;
    void closeSlot(std::size_t slot);

    std::vector<BlockId> m_slots; ///< first block of the list; a power of two of them
    std::vector<Entry> m_entries; ///< by block
    std::size_t m_mask = 0;
    std::int64_t m_size = 0;
    std::int64_t m_identities = 0;
};

} // namespace kvw
