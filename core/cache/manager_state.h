// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/cache_manager.h"
#include "cache/key_chain.h"
#include "cache/prefix_index.h"
#include "cache/seen_identities.h"

#include <algorithm>
#include <unordered_map>

namespace kvw {

/// What the manager needs of a GroupLayout, checked once.
struct CacheGroup
{
    std::uint32_t pool = 0;
    std::int64_t blockTokens = 1;
    std::int64_t window = 0; ///< 0: everything is retained
    std::size_t size = 0; ///< which of the layout's block sizes

    /// Whole blocks that nobody needs any more once `computed` tokens are computed.
    std::int64_t passedBlocks(std::int64_t computed) const
    {
        return window == 0 ? 0 : std::max<std::int64_t>(computed - window + 1, 0) / blockTokens;
    }
    /// Contiguous blocks that a windowed group must have before it serves a prefix.
    std::int64_t run() const { return std::max<std::int64_t>((window - 1 + blockTokens - 1) / blockTokens, 1); }
    std::int64_t blocksFor(std::int64_t tokens) const { return (tokens + blockTokens - 1) / blockTokens; }
};

/// A pool with what is known about its blocks' content.
struct CachePool
{
    BlockPool blocks;
    PrefixIndex index; ///< by identity
    PrefixIndex contents; ///< the same blocks by BlockIdentity::content
    SeenIdentities seen;
};

/// What the manager keeps about a request that holds blocks.
struct CacheHolder
{
    BlockTables tables;
    std::vector<std::int64_t> dropped; ///< per group: leading positions that hold noBlock
    std::vector<std::int64_t> indexed; ///< per group: leading blocks that are indexed, were hits or were dropped
    std::int64_t tokens = 0;
    std::uint32_t domain = 0;
    std::uint16_t tenant = 0;
    KeyChain chain;
};

struct CacheManager::State
{
    State(const PoolLayout& layout, const CacheBehaviour& cacheBehaviour, EventLog* eventLog);

    CacheHolder* holder(std::uint32_t request);
    const CacheHolder* holder(std::uint32_t request) const;
    /// The identities of the request's blocks, as far as they are known: what it holds, or what was asked about last.
    KeyChain& chainFor(const Sequence& sequence);
    void countNeeded(const Sequence& sequence, const Hit* hit, std::int64_t tokens, std::int64_t inFlightTokens,
        std::vector<std::int64_t>& out) const;
    bool isGood(const Hit& hit, const Sequence& sequence);

    void dropPassed(CacheHolder& owner, std::uint32_t request, std::int64_t computed);
    CacheHolder& admit(const Sequence& sequence, const Hit* hit);
    void grow(CacheHolder& owner, std::uint32_t request, std::int64_t computed, std::int64_t total);
    void indexFull(CacheHolder& owner, const Request& request, std::int64_t total);
    BlockId takeBlock(const CacheHolder& owner, std::uint32_t request, std::size_t group);
    void note(EventKind kind, std::size_t group, BlockId block, std::uint32_t request, std::uint16_t tenant,
        std::int64_t position, std::int64_t value = 0);

    CacheBehaviour behaviour;
    EventLog* log = nullptr;
    std::uint32_t step = 0;
    std::int64_t evictions = 0;
    std::int64_t unit = 1; ///< a hit is a multiple of this: the least common multiple of the groups' blocks
    std::vector<CacheGroup> groups;
    std::size_t sizes = 0; ///< how many different block sizes
    std::vector<CachePool> pools;
    std::unordered_map<std::uint32_t, CacheHolder> holders;
    KeyChain lookedUp;

    // Lent to one operation at a time, so that operations allocate nothing once these have grown.
    std::vector<TokenId> tokenBuffer;
    std::vector<BlockId> batch;
    std::vector<std::int64_t> needed;
};

} // namespace kvw
