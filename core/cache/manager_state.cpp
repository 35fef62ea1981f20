// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/manager_state.h"

#include <cassert>

namespace kvw {

CacheHolder* CacheManager::State::holder(std::uint32_t request)
{
    const auto found = holders.find(request);
    return found == holders.end() ? nullptr : &found->second;
}

const CacheHolder* CacheManager::State::holder(std::uint32_t request) const
{
    const auto found = holders.find(request);
    return found == holders.end() ? nullptr : &found->second;
}

KeyChain& CacheManager::State::chainFor(const Sequence& sequence)
{
    // Compared, not believed: a number that comes again with another text or domain must never be given what it may not
    // have.
    CacheHolder* owner = holder(sequence.request->id);
    if (owner && owner->chain.isOf(*sequence.request, sequence.domain))
        return owner->chain;
    if (!lookedUp.isOf(*sequence.request, sequence.domain))
        lookedUp = KeyChain(*sequence.request, sequence.domain, behaviour, sizes);
    return lookedUp;
}

void CacheManager::State::countNeeded(const Sequence& sequence, const Hit* hit, std::int64_t tokens,
    std::int64_t inFlightTokens, std::vector<std::int64_t>& out) const
{
    out.assign(pools.size(), 0);
    const CacheHolder* owner = holder(sequence.request->id);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const CacheGroup& group = groups[g];
        std::int64_t wanted = group.blocksFor(tokens);
        if (group.window > 0 && inFlightTokens > 0)
            wanted = std::min(wanted, group.blocksFor(group.window - 1 + inFlightTokens) + 1);
        std::int64_t there = 0;
        if (owner) {
            there = static_cast<std::int64_t>(owner->tables.groups[g].size());
        } else if (hit && g < hit->blocks.size()) {
            there = static_cast<std::int64_t>(hit->blocks[g].size());
            for (const BlockId block : hit->blocks[g]) {
                if (block != noBlock && pools[group.pool].blocks.references(block) == 0)
                    ++out[group.pool];
            }
        }
        out[group.pool] += std::max<std::int64_t>(wanted - there, 0);
    }
}

bool CacheManager::State::isGood(const Hit& hit, const Sequence& sequence)
{
    if (hit.tokens == 0)
        return true;
    if (hit.blocks.size() != groups.size())
        return false;
    KeyChain& chain = chainFor(sequence);
    TokenReader reader(*sequence.request, hit.tokens, tokenBuffer);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const CacheGroup& group = groups[g];
        const CachePool& pool = pools[group.pool];
        if (static_cast<std::int64_t>(hit.blocks[g].size()) != hit.tokens / group.blockTokens)
            return false;
        for (std::size_t n = 0; n < hit.blocks[g].size(); ++n) {
            const BlockId block = hit.blocks[g][n];
            if (block == noBlock)
                continue;
            const BlockKey& key = chain.at(reader, group.size, group.blockTokens, static_cast<std::int64_t>(n)).key;
            if (std::int64_t {block} >= pool.blocks.total() || !pool.blocks.isIndexed(block)
                || pool.blocks.group(block) != g || pool.blocks.key(block) != key)
                return false;
        }
    }
    return true;
}

void CacheManager::State::dropPassed(CacheHolder& owner, std::uint32_t request, std::int64_t computed)
{
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::vector<BlockId>& table = owner.tables.groups[g];
        const std::int64_t end = std::min(groups[g].passedBlocks(computed), static_cast<std::int64_t>(table.size()));
        if (end <= owner.dropped[g])
            continue;
        // The nearest to the window goes first, as a released request's tail does.
        batch.clear();
        for (std::int64_t position = end - 1; position >= owner.dropped[g]; --position) {
            BlockId& block = table[static_cast<std::size_t>(position)];
            batch.push_back(block);
            note(EventKind::Drop, g, block, request, owner.tenant, position);
            block = noBlock;
        }
        owner.dropped[g] = end;
        pools[groups[g].pool].blocks.release(batch);
    }
}

CacheHolder& CacheManager::State::admit(const Sequence& sequence, const Hit* hit)
{
    const Request& request = *sequence.request;
    CacheHolder& owner = holders[request.id];
    owner.domain = sequence.domain.id;
    owner.tenant = request.tenant;
    owner.tables.groups.resize(groups.size());
    owner.dropped.assign(groups.size(), 0);
    owner.indexed.assign(groups.size(), 0);
    if (behaviour.prefixCaching) {
        owner.chain = std::move(chainFor(sequence));
        lookedUp = KeyChain();
    }
    if (!hit || hit->tokens == 0)
        return owner;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        BlockPool& blocks = pools[groups[g].pool].blocks;
        std::vector<BlockId>& table = owner.tables.groups[g];
        table = hit->blocks[g];
        owner.indexed[g] = static_cast<std::int64_t>(table.size());
        owner.dropped[g]
            = std::find_if(table.begin(), table.end(), [](BlockId b) { return b != noBlock; }) - table.begin();
        for (std::size_t n = 0; n < table.size(); ++n) {
            if (table[n] == noBlock)
                continue;
            assert(blocks.domain(table[n]) == owner.domain || blocks.domain(table[n]) == 0);
            blocks.reference(table[n]);
            note(EventKind::Reference, g, table[n], request.id, owner.tenant, static_cast<std::int64_t>(n));
        }
    }
    owner.tokens = hit->tokens;
    return owner;
}

void CacheManager::State::grow(CacheHolder& owner, std::uint32_t request, std::int64_t computed, std::int64_t total)
{
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::vector<BlockId>& table = owner.tables.groups[g];
        const std::int64_t wanted = groups[g].blocksFor(total);
        while (static_cast<std::int64_t>(table.size()) < wanted) {
            const auto position = static_cast<std::int64_t>(table.size());
            table.push_back(takeBlock(owner, request, g));
            note(EventKind::Allocate, g, table.back(), request, owner.tenant, position);
        }
    }
    for (std::size_t g = 0; g < groups.size() && total > computed; ++g) {
        const std::int64_t tokens = groups[g].blockTokens;
        for (std::int64_t n = computed / tokens; n < groups[g].blocksFor(total); ++n) {
            note(EventKind::Append, g, owner.tables.groups[g][static_cast<std::size_t>(n)], request, owner.tenant, n,
                std::min(tokens, total - n * tokens));
        }
    }
    owner.tokens = total;
}

void CacheManager::State::indexFull(CacheHolder& owner, const Request& request, std::int64_t total)
{
    // Beyond the last whole unit nothing could be hit: a smaller group's full block there waits for the unit to be
    // complete.
    const std::int64_t end = total / unit * unit;
    TokenReader reader(request, end, tokenBuffer);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const CacheGroup& group = groups[g];
        CachePool& pool = pools[group.pool];
        const auto number = static_cast<std::uint8_t>(g);
        for (std::int64_t& n = owner.indexed[g]; n < end / group.blockTokens; ++n) {
            const BlockId block = owner.tables.groups[g][static_cast<std::size_t>(n)];
            if (block == noBlock)
                continue; // left the window while it waited
            const BlockIdentity& identity = owner.chain.at(reader, group.size, group.blockTokens, n);
            pool.blocks.setKey(block, identity.key);
            pool.index.insert(identity.key, number, block);
            pool.contents.insert({identity.content, identity.content}, number, block);
            pool.seen.add(identity.key, number);
            if (log)
                note(EventKind::Index, g, block, request.id, owner.tenant, n, log->addDigest(identity.key));
        }
    }
}

BlockId CacheManager::State::takeBlock(const CacheHolder& owner, std::uint32_t request, std::size_t group)
{
    CachePool& pool = pools[groups[group].pool];
    const BlockId head = pool.blocks.head();
    if (pool.blocks.isIndexed(head)) {
        pool.index.remove(head);
        pool.contents.remove(head);
        pool.blocks.clearKey(head);
        note(EventKind::Evict, pool.blocks.group(head), head, request, owner.tenant, 0);
        ++evictions;
    }
    return pool.blocks.take(static_cast<std::uint8_t>(group), owner.tenant, owner.domain);
}

void CacheManager::State::note(EventKind kind, std::size_t group, BlockId block, std::uint32_t request,
    std::uint16_t tenant, std::int64_t position, std::int64_t value)
{
    if (!log)
        return;
    Event event;
    event.kind = kind;
    event.group = static_cast<std::uint8_t>(group);
    event.tenant = tenant;
    event.block = block;
    event.request = request;
    event.position = static_cast<std::uint32_t>(position);
    event.step = step;
    event.value = static_cast<std::uint32_t>(value);
    log->add(event);
}

} // namespace kvw
