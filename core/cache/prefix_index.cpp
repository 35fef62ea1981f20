// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/prefix_index.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace kvw {

PrefixIndex::PrefixIndex(std::int64_t capacity)
    : m_entries(static_cast<std::size_t>(std::max<std::int64_t>(capacity, 0)))
{
    const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * m_entries.size(), 2));
    m_slots.assign(slots, noBlock);
    m_mask = slots - 1;
}

std::size_t PrefixIndex::home(const BlockKey& key, std::uint8_t group) const
{
    // The key is a hash already; one multiplication spreads the group number over the bits that choose a slot.
    return static_cast<std::size_t>(key.low + group * 0x9e3779b97f4a7c15ULL) & m_mask;
}

std::size_t PrefixIndex::slotOf(const BlockKey& key, std::uint8_t group) const
{
    std::size_t slot = home(key, group);
    while (m_slots[slot] != noBlock) {
        const Entry& entry = m_entries[m_slots[slot]];
        if (entry.key == key && entry.group == group)
            break;
        slot = (slot + 1) & m_mask;
    }
    return slot;
}

BlockId PrefixIndex::find(const BlockKey& key, std::uint8_t group) const
{
    return m_slots[slotOf(key, group)];
}

void PrefixIndex::insert(const BlockKey& key, std::uint8_t group, BlockId block)
{
    assert(!contains(block));
    Entry& entry = m_entries[block];
    entry.key = key;
    entry.group = group;
    const std::size_t slot = slotOf(key, group);
    if (m_slots[slot] == noBlock) {
        m_slots[slot] = block;
        entry.next = block;
        entry.previous = block;
        ++m_identities;
    } else {
        Entry& first = m_entries[m_slots[slot]];
        entry.next = m_slots[slot];
        entry.previous = first.previous;
        m_entries[first.previous].next = block;
        first.previous = block;
    }
    ++m_size;
}

void PrefixIndex::remove(BlockId block)
{
    assert(contains(block));
    Entry& entry = m_entries[block];
    if (entry.next == block) {
        closeSlot(slotOf(entry.key, entry.group));
        --m_identities;
    } else {
        m_entries[entry.previous].next = entry.next;
        m_entries[entry.next].previous = entry.previous;
        const std::size_t slot = slotOf(entry.key, entry.group);
        if (m_slots[slot] == block)
            m_slots[slot] = entry.next;
    }
    entry.next = noBlock;
    entry.previous = noBlock;
    --m_size;
}

bool PrefixIndex::contains(BlockId block) const
{
    return m_entries[block].next != noBlock;
}

std::int64_t PrefixIndex::size() const
{
    return m_size;
}

std::int64_t PrefixIndex::identities() const
{
    return m_identities;
}

void PrefixIndex::closeSlot(std::size_t slot)
{
    // A later entry of the same run may only move back to a slot at or after its home; what cannot move stays findable.
    std::size_t hole = slot;
    for (std::size_t i = (slot + 1) & m_mask; m_slots[i] != noBlock; i = (i + 1) & m_mask) {
        const Entry& entry = m_entries[m_slots[i]];
        const std::size_t distance = (i - home(entry.key, entry.group)) & m_mask;
        if (distance < ((i - hole) & m_mask))
            continue;
        m_slots[hole] = m_slots[i];
        hole = i;
    }
    m_slots[hole] = noBlock;
}

} // namespace kvw
