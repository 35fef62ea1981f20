// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "support/naive_cache.h"

#include <algorithm>
#include <numeric>

namespace naive {

namespace {

std::string tokenBytes(const kvw::Request& request, int tokens)
{
    std::vector<kvw::TokenId> values(static_cast<std::size_t>(std::max(tokens, 0)));
    request.tokens(0, values);
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(kvw::TokenId)};
}

Identity identityOf(const Asker& asker, int group, const std::string& tokens, int count)
{
    return {group, asker.domain, asker.request->adapter,
        tokens.substr(0, static_cast<std::size_t>(count) * sizeof(kvw::TokenId))};
}

int roundUp(int a, int b)
{
    return (a + b - 1) / b;
}

} // namespace

bool Identity::operator<(const Identity& other) const
{
    if (group != other.group)
        return group < other.group;
    if (domain != other.domain)
        return domain < other.domain;
    const int adapters = adapter.compare(other.adapter);
    return adapters != 0 ? adapters < 0 : tokens.compare(other.tokens) < 0;
}

bool Identity::operator==(const Identity& other) const
{
    return !(*this < other) && !(other < *this);
}

Cache::Cache(Rules rules)
    : m_rules(std::move(rules))
{
    for (const Pool& pool : m_rules.pools) {
        m_blocks.emplace_back(static_cast<std::size_t>(pool.blocks));
        m_queues.emplace_back();
        for (int i = 0; i < pool.blocks; ++i) {
            if (i < pool.held)
                m_blocks.back()[static_cast<std::size_t>(i)].held = true;
            else
                m_queues.back().push_back(i);
        }
    }
}

int Cache::find(const Identity& identity) const
{
    const auto found = m_index.find(identity);
    return found == m_index.end() ? -1 : found->second.front();
}

/// Whether a group can serve a prefix of exactly `tokens` tokens; `there` says which of its blocks are in the index.
bool Cache::serves(int group, int tokens, const std::vector<int>& there) const
{
    const Group& g = m_rules.groups[static_cast<std::size_t>(group)];
    const int count = tokens / g.blockTokens;
    int first = 0;
    if (g.window > 0)
        first = std::max(0, count - std::max(1, roundUp(g.window - 1, g.blockTokens)));
    for (int n = first; n < count; ++n) {
        if (there[static_cast<std::size_t>(n)] < 0)
            return false;
    }
    return true;
}

std::string Cache::cause(const Identity& missing) const
{
    if (m_everIndexed.count(missing) > 0)
        return "evicted";
    for (const auto& [identity, blocks] : m_index) {
        if (identity.group == missing.group && identity.tokens == missing.tokens)
            return "not eligible";
    }
    return "never seen";
}

Hit Cache::lookup(const Asker& asker, int tokens) const
{
    Hit hit;
    hit.blocks.resize(m_rules.groups.size());
    hit.cause = "none";
    if (!m_rules.caching)
        return hit;
    int unit = 1;
    for (const Group& group : m_rules.groups)
        unit = std::lcm(unit, group.blockTokens);
    const int longest = (tokens - (m_rules.recomputesLast ? 1 : 0)) / unit * unit;
    if (longest <= 0) {
        hit.cause = "below unit";
        return hit;
    }
    const std::string bytes = tokenBytes(*asker.request, longest);
    std::vector<std::vector<int>> there(m_rules.groups.size());
    for (std::size_t g = 0; g < there.size(); ++g) {
        for (int end = m_rules.groups[g].blockTokens; end <= longest; end += m_rules.groups[g].blockTokens)
            there[g].push_back(find(identityOf(asker, static_cast<int>(g), bytes, end)));
    }
    const auto allServe = [&](int length) {
        for (std::size_t g = 0; g < there.size(); ++g) {
            if (!serves(static_cast<int>(g), length, there[g]))
                return false;
        }
        return true;
    };
    hit.tokens = longest;
    while (hit.tokens > 0 && !allServe(hit.tokens))
        hit.tokens -= unit;
    for (std::size_t g = 0; g < there.size(); ++g) {
        const Group& group = m_rules.groups[g];
        for (int n = 0; n < hit.tokens / group.blockTokens; ++n) {
            // A block whose last position is hit.tokens − window or less is not looked at any more.
            const bool passed = group.window > 0 && (n + 1) * group.blockTokens - 1 <= hit.tokens - group.window;
            hit.blocks[g].push_back(passed ? -1 : there[g][static_cast<std::size_t>(n)]);
        }
    }
    if (hit.tokens == longest)
        return hit;
    const int next = hit.tokens + unit;
    for (std::size_t g = 0; g < there.size(); ++g) {
        const Group& group = m_rules.groups[g];
        const int count = next / group.blockTokens;
        const int run = group.window > 0 ? std::max(1, roundUp(group.window - 1, group.blockTokens)) : count;
        for (int n = std::max(0, count - run); n < count; ++n) {
            if (there[g][static_cast<std::size_t>(n)] < 0) {
                hit.cause = cause(identityOf(asker, static_cast<int>(g), bytes, (n + 1) * group.blockTokens));
                return hit;
            }
        }
    }
    hit.cause = "nobody is missing anything";
    return hit;
}

std::vector<int> Cache::needed(const Asker& asker, const Hit& hit, int tokens) const
{
    std::vector<int> out(m_rules.pools.size(), 0);
    const auto holder = m_holders.find(asker.request->id);
    for (std::size_t g = 0; g < m_rules.groups.size(); ++g) {
        const Group& group = m_rules.groups[g];
        const std::vector<int>& table = holder == m_holders.end() ? hit.blocks[g] : holder->second.tables[g];
        int count = std::max(0, roundUp(tokens, group.blockTokens) - static_cast<int>(table.size()));
        for (const int block : table) {
            if (block >= 0
                && m_blocks[static_cast<std::size_t>(group.pool)][static_cast<std::size_t>(block)].references == 0)
                ++count;
        }
        out[static_cast<std::size_t>(group.pool)] += count;
    }
    return out;
}

void Cache::giveBack(int pool, const std::vector<int>& blocks)
{
    std::list<int>& queue = m_queues[static_cast<std::size_t>(pool)];
    std::list<int> front;
    for (const int number : blocks) {
        Block& block = m_blocks[static_cast<std::size_t>(pool)][static_cast<std::size_t>(number)];
        if (--block.references > 0)
            continue;
        if (!block.hasIdentity && m_rules.unhashedToFront)
            front.push_back(number);
        else
            queue.push_back(number);
    }
    queue.splice(queue.begin(), front);
}

void Cache::dropPassed(Holder& holder, int computed)
{
    for (std::size_t g = 0; g < m_rules.groups.size(); ++g) {
        const Group& group = m_rules.groups[g];
        std::vector<int> passed;
        for (int n = static_cast<int>(holder.tables[g].size()) - 1; n >= 0; --n) {
            int& block = holder.tables[g][static_cast<std::size_t>(n)];
            if (group.window == 0 || block < 0 || (n + 1) * group.blockTokens - 1 > computed - group.window)
                continue;
            passed.push_back(block);
            block = -1;
        }
        giveBack(group.pool, passed);
    }
}

int Cache::take(int group, const Asker& asker)
{
    const auto pool = static_cast<std::size_t>(m_rules.groups[static_cast<std::size_t>(group)].pool);
    const int number = m_queues[pool].front();
    m_queues[pool].pop_front();
    Block& block = m_blocks[pool][static_cast<std::size_t>(number)];
    if (block.hasIdentity) {
        std::vector<int>& same = m_index[block.identity];
        same.erase(std::find(same.begin(), same.end(), number));
        if (same.empty())
            m_index.erase(block.identity);
        ++m_evictions;
    }
    block = Block {1, false, false, {}, group, asker.request->tenant, asker.domain};
    return number;
}

bool Cache::allocate(const Asker& asker, const Hit& hit, int computed, int added, int keepFree)
{
    const std::uint32_t request = asker.request->id;
    const bool isNew = m_holders.count(request) == 0;
    if (!isNew)
        dropPassed(m_holders[request], computed);
    const std::vector<int> want = needed(asker, hit, computed + added);
    for (std::size_t p = 0; p < want.size(); ++p) {
        if (want[p] + keepFree > static_cast<int>(m_queues[p].size()))
            return false;
    }
    Holder& holder = m_holders[request];
    if (isNew) {
        holder.domain = asker.domain;
        holder.tenant = asker.request->tenant;
        holder.tables = hit.blocks;
        for (std::size_t g = 0; g < m_rules.groups.size(); ++g) {
            const auto pool = static_cast<std::size_t>(m_rules.groups[g].pool);
            holder.identified.push_back(static_cast<int>(hit.blocks[g].size()));
            for (const int block : hit.blocks[g]) {
                if (block >= 0 && m_blocks[pool][static_cast<std::size_t>(block)].references++ == 0)
                    m_queues[pool].remove(block);
            }
        }
    }
    for (std::size_t g = 0; g < m_rules.groups.size(); ++g) {
        while (static_cast<int>(holder.tables[g].size()) * m_rules.groups[g].blockTokens < computed + added)
            holder.tables[g].push_back(take(static_cast<int>(g), asker));
    }
    if (!m_rules.caching)
        return true;
    int unit = 1;
    for (const Group& group : m_rules.groups)
        unit = std::lcm(unit, group.blockTokens);
    const int end = (computed + added) / unit * unit;
    const std::string bytes = tokenBytes(*asker.request, end);
    for (std::size_t g = 0; g < m_rules.groups.size(); ++g) {
        const Group& group = m_rules.groups[g];
        for (int& n = holder.identified[g]; (n + 1) * group.blockTokens <= end; ++n) {
            const int number = holder.tables[g][static_cast<std::size_t>(n)];
            if (number < 0)
                continue;
            Block& block = m_blocks[static_cast<std::size_t>(group.pool)][static_cast<std::size_t>(number)];
            block.hasIdentity = true;
            block.identity = identityOf(asker, static_cast<int>(g), bytes, (n + 1) * group.blockTokens);
            m_index[block.identity].push_back(number);
            m_everIndexed.insert(block.identity);
        }
    }
    return true;
}

void Cache::release(std::uint32_t request)
{
    const auto holder = m_holders.find(request);
    if (holder == m_holders.end())
        return;
    for (std::size_t g = 0; g < m_rules.groups.size(); ++g) {
        std::vector<int> blocks = holder->second.tables[g];
        blocks.erase(std::remove(blocks.begin(), blocks.end(), -1), blocks.end());
        if (m_rules.tailsFirst)
            std::reverse(blocks.begin(), blocks.end());
        giveBack(m_rules.groups[g].pool, blocks);
    }
    m_holders.erase(holder);
}

} // namespace naive
