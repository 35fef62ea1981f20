// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/manager_state.h"

#include <fmt/format.h>

namespace kvw {

namespace {

Error broken(std::size_t pool, std::int64_t block, std::string message)
{
    return {"cache.invariant", std::move(message), {{}, fmt::format("pool {}, block {}", pool, block)}};
}

/// How many tables name each block of each pool.
using Counts = std::vector<std::vector<std::uint32_t>>;

Result<void> checkTable(const CacheHolder& owner, std::size_t g, const CacheGroup& group, const CachePool& pool,
    std::vector<std::uint32_t>& named)
{
    const std::vector<BlockId>& table = owner.tables.groups[g];
    if (static_cast<std::int64_t>(table.size()) != group.blocksFor(owner.tokens))
        return broken(group.pool, -1, "a table is not as long as its request");
    for (std::size_t n = 0; n < table.size(); ++n) {
        if (static_cast<std::int64_t>(n) < owner.dropped[g]) {
            if (table[n] != noBlock || static_cast<std::int64_t>(n) >= group.passedBlocks(owner.tokens))
                return broken(group.pool, -1, "a position was dropped that is still needed");
            continue;
        }
        const BlockId block = table[n];
        if (std::int64_t {block} >= pool.blocks.total() || pool.blocks.isHeld(block))
            return broken(group.pool, block, "a table names a block that cannot be given away");
        ++named[block];
        if (pool.blocks.group(block) != g)
            return broken(group.pool, block, "a table of another group names the block");
        const std::uint32_t domain = pool.blocks.domain(block);
        if (domain != owner.domain && domain != 0)
            return broken(group.pool, block, "the block belongs to another sharing domain");
        if (pool.blocks.isIndexed(block) != (static_cast<std::int64_t>(n) < owner.indexed[g]))
            return broken(group.pool, block, "exactly the full blocks of a request are indexed");
    }
    return {};
}

Result<void> checkPool(std::size_t p, const CachePool& pool, const std::vector<std::uint32_t>& named)
{
    const BlockPool& blocks = pool.blocks;
    if (!blocks.isConsistent())
        return broken(p, -1, "counts, reference counts and queue disagree");
    if (blocks.free() < 0 || blocks.free() + blocks.active() + blocks.cached() + blocks.held() != blocks.total())
        return broken(p, -1, "free + active + cached + held is not the total");
    std::int64_t indexed = 0;
    for (std::int64_t i = 0; i < blocks.total(); ++i) {
        const auto block = static_cast<BlockId>(i);
        if (blocks.references(block) != named[block])
            return broken(p, i, "the reference count is not the number of tables that name the block");
        const bool inIndex = pool.index.size() > 0 && pool.index.contains(block);
        if (blocks.isIndexed(block) != inIndex
            || inIndex != (pool.contents.size() > 0 && pool.contents.contains(block)))
            return broken(p, i, "pool and index disagree");
        if (!inIndex)
            continue;
        ++indexed;
        const BlockId first = pool.index.find(blocks.key(block), blocks.group(block));
        if (first == noBlock || blocks.key(first) != blocks.key(block) || blocks.group(first) != blocks.group(block))
            return broken(p, i, "the block is indexed and cannot be found");
    }
    if (pool.index.size() != indexed || pool.contents.size() != indexed)
        return broken(p, -1, "a block is in the index more than once");
    return {};
}

} // namespace

Result<void> CacheManager::checkInvariants() const
{
    const State& state = *m_state;
    Counts named;
    for (const CachePool& pool : state.pools)
        named.emplace_back(static_cast<std::size_t>(pool.blocks.total()), 0);
    for (const auto& [request, owner] : state.holders) {
        for (std::size_t g = 0; g < state.groups.size(); ++g) {
            const CacheGroup& group = state.groups[g];
            if (Result<void> table = checkTable(owner, g, group, state.pools[group.pool], named[group.pool]); !table)
                return table;
        }
    }
    for (std::size_t p = 0; p < state.pools.size(); ++p) {
        if (Result<void> pool = checkPool(p, state.pools[p], named[p]); !pool)
            return pool;
    }
    return {};
}

} // namespace kvw
