// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/identity.h"
#include "engines/cache_behaviour.h"
#include "engines/pool_layout.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kvw {

using BlockId = std::uint32_t;
constexpr BlockId noBlock = 0xffffffff;

/// The blocks of one pool: reference counts, identities, owners and the queue of those that may be given away.
///
/// Structure of arrays; nothing is allocated after construction. The queue is one doubly linked list through the blocks
/// that no table names; its head is given away next. Single-threaded.
class BlockPool
{
public:
    BlockPool(const PoolSpec& spec, const CacheBehaviour& behaviour);

    std::int64_t total() const;
    std::int64_t held() const;
    std::int64_t active() const;
    std::int64_t cached() const;
    std::int64_t free() const;
    /// Blocks that could be given away now: free + cached.
    std::int64_t available() const;

    bool isHeld(BlockId block) const;
    std::uint32_t references(BlockId block) const;
    bool isIndexed(BlockId block) const;
    const BlockKey& key(BlockId block) const;
    /// Owner, tenant and group are those of the take() that gave the block away last.
    std::uint32_t domain(BlockId block) const;
    std::uint16_t tenant(BlockId block) const;
    std::uint8_t group(BlockId block) const;

    /// The next victim, without taking it; noBlock when none is available.
    BlockId head() const;
    /// Takes the head of the queue for a new owner: one reference, no identity. REQUIRES available() > 0 and that the
    /// head has no identity any more (clearKey).
    BlockId take(std::uint8_t group, std::uint16_t tenant, std::uint32_t domain);
    /// One more table names the block; leaves the queue if it was in it.
    void reference(BlockId block);
    /// One table fewer for each of `blocks`. Those that no table names any more join the queue: at the back in the
    /// given order; or, without an identity and where the behaviour says so, at the front as they are, the first one
    /// foremost (vLLM returns a request's blocks as one batch, so order inside it survives at either end). REQUIRES no
    /// block twice.
    void release(std::span<const BlockId> blocks);
    /// REQUIRES references(block) > 0 and no identity.
    void setKey(BlockId block, const BlockKey& key);
    /// REQUIRES an identity.
    void clearKey(BlockId block);
    /// Queue from head to tail, for tests and block maps.
    std::vector<BlockId> queue() const;
    /// True when the queue's links, the reference counts and the four counts agree. A full pass.
    bool isConsistent() const;

private:
    void unlink(BlockId block);
    void pushFront(BlockId block);
    void pushBack(BlockId block);
    bool inQueue(BlockId block) const;

    std::vector<std::uint32_t> m_references;
    std::vector<BlockId> m_previous;
    std::vector<BlockId> m_next;
    std::vector<BlockKey> m_keys;
    std::vector<std::uint32_t> m_domains;
    std::vector<std::uint16_t> m_tenants;
    std::vector<std::uint8_t> m_groups;
    std::vector<std::uint8_t> m_indexed;
    BlockId m_head = noBlock;
    BlockId m_tail = noBlock;
    std::int64_t m_held = 0;
    std::int64_t m_active = 0;
    std::int64_t m_cached = 0;
    bool m_unhashedToFront = true;
};

} // namespace kvw
