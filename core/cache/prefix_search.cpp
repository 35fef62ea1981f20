// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/manager_state.h"

namespace kvw {

/// One lookup: finds the longest prefix that every group can serve, and why it is not longer.
class PrefixSearch
{
public:
    PrefixSearch(CacheManager::State& state, KeyChain& chain, const Request& request, std::int64_t limit)
        : m_state(state)
        , m_chain(chain)
        , m_reader(request, limit, state.tokenBuffer)
        , m_found(state.groups.size())
    {}

    /// The longest prefix of at most `length` tokens. REQUIRES a whole number of units.
    std::int64_t longest(std::int64_t length)
    {
        for (std::size_t g = 0; g < m_state.groups.size() && length > 0; ++g) {
            if (m_state.groups[g].window == 0)
                length = servedByFull(g, length);
        }
        // A group that retains everything serves every shorter prefix too. A windowed one may not: when it shortens the
        // length, the others must agree to the new one.
        for (std::int64_t before = -1; before != length && length > 0;) {
            before = length;
            for (std::size_t g = 0; g < m_state.groups.size() && length > 0; ++g) {
                if (m_state.groups[g].window > 0)
                    length = servedByWindow(g, length);
            }
        }
        return length;
    }

    /// The blocks of a prefix that longest() returned.
    std::vector<BlockId> blocks(std::size_t g, std::int64_t length)
    {
        const CacheGroup& group = m_state.groups[g];
        const std::int64_t count = length / group.blockTokens;
        if (group.window == 0)
            return {m_found[g].begin(), m_found[g].begin() + count};
        std::vector<BlockId> out(static_cast<std::size_t>(count), noBlock);
        for (std::int64_t n = group.passedBlocks(length); n < count; ++n)
            out[static_cast<std::size_t>(n)] = find(g, n);
        return out;
    }

    /// Why a prefix of `length` tokens, one unit more than the longest, cannot be served: the cause at the first
    /// missing block.
    MissCause cause(std::int64_t length)
    {
        for (std::size_t g = 0; g < m_state.groups.size(); ++g) {
            const CacheGroup& group = m_state.groups[g];
            const std::int64_t end = length / group.blockTokens;
            const std::int64_t first = group.window == 0 ? (length - m_state.unit) / group.blockTokens
                                                         : std::max<std::int64_t>(end - group.run(), 0);
            for (std::int64_t n = first; n < end; ++n) {
                if (find(g, n) == noBlock)
                    return causeAt(g, n);
            }
        }
        return MissCause::None;
    }

private:
    const BlockIdentity& identity(std::size_t g, std::int64_t number)
    {
        const CacheGroup& group = m_state.groups[g];
        return m_chain.at(m_reader, group.size, group.blockTokens, number);
    }

    BlockId find(std::size_t g, std::int64_t number)
    {
        const CachePool& pool = m_state.pools[m_state.groups[g].pool];
        return pool.index.find(identity(g, number).key, static_cast<std::uint8_t>(g));
    }

    /// Left to right until the first miss.
    std::int64_t servedByFull(std::size_t g, std::int64_t length)
    {
        const std::int64_t tokens = m_state.groups[g].blockTokens;
        std::vector<BlockId>& found = m_found[g];
        while (static_cast<std::int64_t>(found.size()) < length / tokens) {
            const BlockId block = find(g, static_cast<std::int64_t>(found.size()));
            if (block == noBlock)
                break;
            found.push_back(block);
        }
        const std::int64_t served = std::min(length, static_cast<std::int64_t>(found.size()) * tokens);
        return served / m_state.unit * m_state.unit;
    }

    /// Right to left until a run of blocks is long enough for the window, or reaches the start.
    std::int64_t servedByWindow(std::size_t g, std::int64_t length)
    {
        const CacheGroup& group = m_state.groups[g];
        while (length > 0) {
            std::int64_t n = length / group.blockTokens;
            const std::int64_t first = std::max<std::int64_t>(n - group.run(), 0);
            while (n > first && find(g, n - 1) != noBlock)
                --n;
            if (n == first)
                return length;
            // Block n − 1 is missing, and every longer prefix below this one would need it as well.
            length = (n - 1) * group.blockTokens / m_state.unit * m_state.unit;
        }
        return 0;
    }

    MissCause causeAt(std::size_t g, std::int64_t number)
    {
        const CachePool& pool = m_state.pools[m_state.groups[g].pool];
        const auto group = static_cast<std::uint8_t>(g);
        const BlockIdentity& missing = identity(g, number);
        if (pool.seen.contains(missing.key, group))
            return MissCause::Evicted;
        const bool elsewhere = pool.contents.find({missing.content, missing.content}, group) != noBlock;
        return elsewhere ? MissCause::IdentityDiffers : MissCause::NeverSeen;
    }

    CacheManager::State& m_state;
    KeyChain& m_chain;
    TokenReader m_reader;
    std::vector<std::vector<BlockId>> m_found;
};

Hit CacheManager::lookup(const Sequence& sequence, std::int64_t tokens)
{
    State& state = *m_state;
    Hit hit;
    hit.blocks.resize(state.groups.size());
    if (!state.behaviour.prefixCaching || state.groups.empty())
        return hit;
    const std::int64_t limit = tokens - (state.behaviour.recomputesLastToken ? 1 : 0);
    const std::int64_t longest = limit / state.unit * state.unit;
    if (longest <= 0) {
        hit.cause = MissCause::BelowUnit;
        return hit;
    }
    PrefixSearch search(state, state.chainFor(sequence), *sequence.request, limit);
    hit.tokens = search.longest(longest);
    for (std::size_t g = 0; g < state.groups.size() && hit.tokens > 0; ++g)
        hit.blocks[g] = search.blocks(g, hit.tokens);
    if (hit.tokens < longest)
        hit.cause = search.cause(hit.tokens + state.unit);
    return hit;
}

} // namespace kvw
