// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/census.h"

#include <algorithm>
#include <vector>

namespace kvw {

namespace {

using Tags = std::vector<std::optional<EntryTag>>;

/// Whether the block at logical number `number` holds what the request computed there.
bool holdsContentOf(const Tags& tags, const RunningRequest& running, std::int64_t number, std::int64_t blockTokens)
{
    const std::int64_t first = number * blockTokens;
    const std::int64_t count = std::min(blockTokens, running.computed - first);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::optional<EntryTag>& tag = tags[static_cast<std::size_t>(i)];
        if (!tag || tag->chain != (*running.chains)[static_cast<std::size_t>(first + i)])
            return false;
    }
    return true;
}

class Census
{
public:
    Census(const PoolLayout& layout, const Device& device)
        : m_layout(layout)
        , m_device(device)
    {
        for (const PoolSpec& pool : layout.pools)
            m_seen.emplace_back(static_cast<std::size_t>(pool.blocks.value), false);
    }

    Result<void> tables(const RunningRequest& running)
    {
        for (std::uint32_t g = 0; g < m_layout.groups.size(); ++g) {
            const GroupLayout& group = m_layout.groups[g];
            const std::vector<BlockId>& table = running.tables->groups[g];
            for (std::size_t n = 0; n < table.size(); ++n) {
                if (table[n] == noBlock || m_seen[group.pool][table[n]])
                    continue;
                m_seen[group.pool][table[n]] = true;
                const Result<Tags> tags = m_device.readTags(g, table[n]);
                if (!tags)
                    return tags.error();
                note(*tags);
                const bool right = holdsContentOf(*tags, running, static_cast<std::int64_t>(n), group.blockTokens);
                ++(right ? m_census.active : m_census.wrong);
            }
        }
        return {};
    }

    Result<void> others()
    {
        for (std::uint32_t p = 0; p < m_layout.pools.size(); ++p) {
            const PoolSpec& pool = m_layout.pools[p];
            m_census.held += pool.held.value;
            for (std::int64_t block = pool.held.value; block < pool.blocks.value; ++block) {
                if (m_seen[p][static_cast<std::size_t>(block)])
                    continue;
                const Result<bool> full = isFull(p, static_cast<std::uint32_t>(block));
                if (!full)
                    return full.error();
                ++(*full ? m_census.cached : m_census.free);
            }
        }
        return {};
    }

    BlockCensus result() const { return m_census; }

private:
    void note(const Tags& tags)
    {
        for (const std::optional<EntryTag>& tag : tags) {
            if (tag)
                m_census.domains.insert(tag->domain);
        }
    }

    Result<bool> isFull(std::uint32_t pool, std::uint32_t block)
    {
        for (std::uint32_t g = 0; g < m_layout.groups.size(); ++g) {
            if (m_layout.groups[g].pool != pool)
                continue;
            const Result<Tags> tags = m_device.readTags(g, block);
            if (!tags)
                return tags.error();
            note(*tags);
            if (std::all_of(tags->begin(), tags->end(), [](const auto& tag) { return tag.has_value(); }))
                return true;
        }
        return false;
    }

    const PoolLayout& m_layout;
    const Device& m_device;
    std::vector<std::vector<bool>> m_seen; // by pool and block: reached through a table
    BlockCensus m_census;
};

} // namespace

Result<BlockCensus> takeCensus(const PoolLayout& layout, const Device& device, std::span<const RunningRequest> running)
{
    Census census(layout, device);
    for (const RunningRequest& request : running) {
        if (Result<void> read = census.tables(request); !read)
            return read.error();
    }
    if (Result<void> read = census.others(); !read)
        return read.error();
    return census.result();
}

} // namespace kvw
