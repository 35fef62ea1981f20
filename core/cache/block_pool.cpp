// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/block_pool.h"

#include <algorithm>
#include <cassert>

namespace kvw {

namespace {

/// Ids are 32 bits and the last one means "none". A layout that asks for more was refused before it came here; the cap
/// only keeps a wrong one from doing harm.
std::size_t blockCount(const PoolSpec& spec)
{
    assert(spec.blocks.value >= 0 && spec.blocks.value < std::int64_t {noBlock});
    return static_cast<std::size_t>(std::clamp<std::int64_t>(spec.blocks.value, 0, std::int64_t {noBlock} - 1));
}

} // namespace

BlockPool::BlockPool(const PoolSpec& spec, const CacheBehaviour& behaviour)
    : m_references(blockCount(spec), 0)
    , m_previous(m_references.size(), noBlock)
    , m_next(m_references.size(), noBlock)
    , m_keys(m_references.size())
    , m_domains(m_references.size(), 0)
    , m_tenants(m_references.size(), 0)
    , m_groups(m_references.size(), 0)
    , m_indexed(m_references.size(), 0)
    , m_held(std::clamp<std::int64_t>(spec.held.value, 0, static_cast<std::int64_t>(m_references.size())))
    , m_unhashedToFront(behaviour.unhashedToFront)
{
    for (std::int64_t block = m_held; block < total(); ++block)
        pushBack(static_cast<BlockId>(block));
}

std::int64_t BlockPool::total() const
{
    return static_cast<std::int64_t>(m_references.size());
}

std::int64_t BlockPool::held() const
{
    return m_held;
}

std::int64_t BlockPool::active() const
{
    return m_active;
}

std::int64_t BlockPool::cached() const
{
    return m_cached;
}

std::int64_t BlockPool::free() const
{
    return total() - m_held - m_active - m_cached;
}

std::int64_t BlockPool::available() const
{
    return total() - m_held - m_active;
}

bool BlockPool::isHeld(BlockId block) const
{
    return std::int64_t {block} < m_held;
}

std::uint32_t BlockPool::references(BlockId block) const
{
    return m_references[block];
}

bool BlockPool::isIndexed(BlockId block) const
{
    return m_indexed[block] != 0;
}

const BlockKey& BlockPool::key(BlockId block) const
{
    return m_keys[block];
}

std::uint32_t BlockPool::domain(BlockId block) const
{
    return m_domains[block];
}

std::uint16_t BlockPool::tenant(BlockId block) const
{
    return m_tenants[block];
}

std::uint8_t BlockPool::group(BlockId block) const
{
    return m_groups[block];
}

BlockId BlockPool::head() const
{
    return m_head;
}

BlockId BlockPool::take(std::uint8_t group, std::uint16_t tenant, std::uint32_t domain)
{
    const BlockId block = m_head;
    assert(block != noBlock && !isIndexed(block));
    unlink(block);
    m_references[block] = 1;
    m_groups[block] = group;
    m_tenants[block] = tenant;
    m_domains[block] = domain;
    ++m_active;
    return block;
}

void BlockPool::reference(BlockId block)
{
    assert(!isHeld(block));
    if (m_references[block]++ > 0)
        return;
    unlink(block);
    ++m_active;
    if (isIndexed(block))
        --m_cached;
}

void BlockPool::release(std::span<const BlockId> blocks)
{
    for (const BlockId block : blocks) {
        assert(m_references[block] > 0);
        if (--m_references[block] > 0)
            continue;
        --m_active;
        if (isIndexed(block))
            ++m_cached;
        if (isIndexed(block) || !m_unhashedToFront)
            pushBack(block);
    }
    if (!m_unhashedToFront)
        return;
    for (std::size_t i = blocks.size(); i-- > 0;) {
        if (m_references[blocks[i]] == 0 && !isIndexed(blocks[i]))
            pushFront(blocks[i]);
    }
}

void BlockPool::setKey(BlockId block, const BlockKey& key)
{
    assert(m_references[block] > 0 && !isIndexed(block));
    m_keys[block] = key;
    m_indexed[block] = 1;
}

void BlockPool::clearKey(BlockId block)
{
    assert(isIndexed(block));
    m_indexed[block] = 0;
    if (m_references[block] == 0)
        --m_cached;
}

std::vector<BlockId> BlockPool::queue() const
{
    std::vector<BlockId> out;
    out.reserve(static_cast<std::size_t>(available()));
    for (BlockId block = m_head; block != noBlock; block = m_next[block])
        out.push_back(block);
    return out;
}

bool BlockPool::isConsistent() const
{
    std::int64_t active = 0;
    std::int64_t cached = 0;
    for (std::int64_t i = 0; i < total(); ++i) {
        const auto block = static_cast<BlockId>(i);
        if (isHeld(block) && (m_references[block] > 0 || isIndexed(block) || inQueue(block)))
            return false;
        if (m_references[block] > 0)
            ++active;
        else if (isIndexed(block))
            ++cached;
        if (m_references[block] > 0 && inQueue(block))
            return false;
    }
    std::int64_t queued = 0;
    BlockId previous = noBlock;
    for (BlockId block = m_head; block != noBlock; block = m_next[block]) {
        if (m_references[block] > 0 || isHeld(block) || m_previous[block] != previous || ++queued > total())
            return false;
        previous = block;
    }
    return previous == m_tail && queued == available() && active == m_active && cached == m_cached;
}

void BlockPool::unlink(BlockId block)
{
    const BlockId previous = m_previous[block];
    const BlockId next = m_next[block];
    (previous == noBlock ? m_head : m_next[previous]) = next;
    (next == noBlock ? m_tail : m_previous[next]) = previous;
    m_previous[block] = noBlock;
    m_next[block] = noBlock;
}

void BlockPool::pushFront(BlockId block)
{
    m_next[block] = m_head;
    (m_head == noBlock ? m_tail : m_previous[m_head]) = block;
    m_head = block;
}

void BlockPool::pushBack(BlockId block)
{
    m_previous[block] = m_tail;
    (m_tail == noBlock ? m_head : m_next[m_tail]) = block;
    m_tail = block;
}

bool BlockPool::inQueue(BlockId block) const
{
    return m_head == block || m_previous[block] != noBlock || m_next[block] != noBlock;
}

} // namespace kvw
