// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/cache_manager.h"

#include "cache/manager_state.h"

#include <cassert>
#include <limits>
#include <numeric>

namespace kvw {

namespace {

/// The least common multiple, or the largest number when it does not fit: then nothing is long enough to be a hit.
std::int64_t commonUnit(std::int64_t a, std::int64_t b)
{
    return checkedMultiply(a / std::gcd(a, b), b).value_or(std::numeric_limits<std::int64_t>::max());
}

} // namespace

const char* missCauseName(MissCause cause)
{
    switch (cause) {
    case MissCause::None:
        return "none";
    case MissCause::NeverSeen:
        return "never seen";
    case MissCause::Evicted:
        return "evicted";
    case MissCause::IdentityDiffers:
        return "not eligible";
    case MissCause::BelowUnit:
        return "below unit";
    }
    return "";
}

CacheManager::State::State(const PoolLayout& layout, const CacheBehaviour& cacheBehaviour, EventLog* eventLog)
    : behaviour(cacheBehaviour)
    , log(eventLog)
    , needed(layout.pools.size(), 0)
{
    for (const PoolSpec& spec : layout.pools) {
        BlockPool blocks(spec, behaviour);
        const std::int64_t capacity = behaviour.prefixCaching ? blocks.total() : 0;
        pools.push_back({std::move(blocks), PrefixIndex(capacity), PrefixIndex(capacity), SeenIdentities(capacity)});
    }
    std::vector<std::int64_t> blockSizes;
    for (const GroupLayout& group : layout.groups) {
        assert(group.pool < pools.size() && group.blockTokens > 0 && group.window.value_or(1) > 0);
        const std::int64_t tokens = std::max<std::int64_t>(group.blockTokens, 1);
        auto known = std::find(blockSizes.begin(), blockSizes.end(), tokens);
        if (known == blockSizes.end())
            known = blockSizes.insert(known, tokens);
        groups.push_back(
            {group.pool, tokens, group.window.value_or(0), static_cast<std::size_t>(known - blockSizes.begin())});
        unit = commonUnit(unit, tokens);
    }
    sizes = blockSizes.size();
    for (std::size_t p = 0; p < pools.size(); ++p) {
        // A block is named by a group of its pool; a pool without groups is never used and cannot be named.
        const auto group = std::find_if(groups.begin(), groups.end(), [p](const CacheGroup& g) { return g.pool == p; });
        for (std::int64_t block = 0; group != groups.end() && block < pools[p].blocks.held(); ++block)
            note(EventKind::Hold, static_cast<std::size_t>(group - groups.begin()), static_cast<BlockId>(block), 0, 0,
                0);
    }
}

CacheManager::CacheManager(const PoolLayout& layout, const CacheBehaviour& behaviour, EventLog* log)
    : m_state(std::make_unique<State>(layout, behaviour, log))
{}

CacheManager::~CacheManager() = default;

void CacheManager::setStep(std::int64_t step)
{
    assert(step >= std::int64_t {m_state->step} && step <= std::int64_t {std::numeric_limits<std::uint32_t>::max()});
    m_state->step = static_cast<std::uint32_t>(step);
}

std::vector<std::int64_t> CacheManager::blocksNeeded(
    const Sequence& sequence, const Hit& hit, std::int64_t tokens, std::int64_t inFlightTokens) const
{
    std::vector<std::int64_t> out;
    m_state->countNeeded(sequence, &hit, tokens, inFlightTokens, out);
    return out;
}

bool CacheManager::allocate(
    const Sequence& sequence, const Hit* hit, std::int64_t computed, std::int64_t added, std::int64_t keepFree)
{
    State& state = *m_state;
    const std::uint32_t request = sequence.request->id;
    CacheHolder* owner = state.holder(request);
    assert(computed == (owner ? owner->tokens : hit ? hit->tokens : 0) && added >= 0);
    if (owner)
        state.dropPassed(*owner, request, computed);
    else if (hit && !state.isGood(*hit, sequence))
        return false;
    state.countNeeded(sequence, hit, computed + added, 0, state.needed);
    for (std::size_t p = 0; p < state.pools.size(); ++p) {
        if (state.needed[p] + keepFree > state.pools[p].blocks.available())
            return false;
    }
    if (!owner)
        owner = &state.admit(sequence, hit);
    state.grow(*owner, request, computed, computed + added);
    if (state.behaviour.prefixCaching)
        state.indexFull(*owner, *sequence.request, computed + added);
    return true;
}

void CacheManager::release(std::uint32_t request)
{
    State& state = *m_state;
    const CacheHolder* owner = state.holder(request);
    if (!owner)
        return;
    for (std::size_t g = 0; g < state.groups.size(); ++g) {
        const std::vector<BlockId>& table = owner->tables.groups[g];
        state.batch.clear();
        for (std::size_t i = 0; i < table.size(); ++i) {
            const std::size_t position = state.behaviour.releaseTailsFirst ? table.size() - 1 - i : i;
            if (table[position] == noBlock)
                continue;
            state.batch.push_back(table[position]);
            state.note(
                EventKind::Release, g, table[position], request, owner->tenant, static_cast<std::int64_t>(position));
        }
        state.pools[state.groups[g].pool].blocks.release(state.batch);
    }
    state.holders.erase(request);
}

const BlockTables* CacheManager::tables(std::uint32_t request) const
{
    const CacheHolder* owner = static_cast<const State&>(*m_state).holder(request);
    return owner ? &owner->tables : nullptr;
}

const BlockPool& CacheManager::pool(std::size_t index) const
{
    return m_state->pools[index].blocks;
}

std::size_t CacheManager::poolCount() const
{
    return m_state->pools.size();
}

std::int64_t CacheManager::evictions() const
{
    return m_state->evictions;
}

} // namespace kvw
