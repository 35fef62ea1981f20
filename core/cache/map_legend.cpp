// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/map_legend.h"

#include <algorithm>
#include <array>
#include <map>

namespace kvw {

BlockClass blockClass(const BlockSnapshot& block)
{
    switch (block.state) {
    case BlockState::Active:
        return block.references > 1 ? BlockClass::Shared : BlockClass::Private;
    case BlockState::Cached:
        return BlockClass::Cached;
    case BlockState::Held:
        return BlockClass::Held;
    case BlockState::Free:
        break;
    }
    return BlockClass::Free;
}

const char* blockClassName(BlockClass which)
{
    static constexpr std::array<const char*, blockClassCount> names {
        "free", "shared", "private tail", "cached", "held"};
    return names[static_cast<std::size_t>(which)];
}

TenantSet tenantBit(std::uint16_t tenant)
{
    return TenantSet {1} << std::min<std::uint16_t>(tenant, 63);
}

namespace {

/// Finds the set with one more tenant without looking it up twice: a table of what follows what.
class SetNumbers
{
public:
    explicit SetNumbers(std::vector<TenantSet>& distinct)
        : m_distinct(distinct)
    {
        add(0);
    }

    std::uint32_t with(std::uint32_t number, std::uint32_t bit)
    {
        const std::uint32_t known = m_next[number][bit];
        return known != unknown ? known : find(number, bit);
    }

private:
    static constexpr std::uint32_t unknown = 0xffffffff;

    void add(TenantSet set)
    {
        m_numbers.emplace(set, static_cast<std::uint32_t>(m_distinct.size()));
        m_distinct.push_back(set);
        m_next.emplace_back().fill(unknown);
    }
    std::uint32_t find(std::uint32_t number, std::uint32_t bit)
    {
        const TenantSet set = m_distinct[number] | TenantSet {1} << bit;
        if (!m_numbers.contains(set))
            add(set);
        return m_next[number][bit] = m_numbers.at(set);
    }

    std::vector<TenantSet>& m_distinct;
    std::vector<std::array<std::uint32_t, 64>> m_next;
    std::map<TenantSet, std::uint32_t> m_numbers;
};

std::uint32_t bitOf(std::uint16_t tenant)
{
    return std::min<std::uint32_t>(tenant, 63);
}

} // namespace

TenantSets tenantSets(const EventLogHeader& header, const ReplayState& state)
{
    TenantSets out;
    SetNumbers sets(out.distinct);
    for (const std::vector<BlockSnapshot>& pool : state.map.blocks()) {
        std::vector<std::uint32_t>& numbers = out.numbers.emplace_back(pool.size());
        for (std::size_t b = 0; b < pool.size(); ++b) {
            if (pool[b].state == BlockState::Cached)
                numbers[b] = sets.with(0, bitOf(pool[b].tenant));
        }
    }
    for (const auto& [id, request] : state.requests) {
        const std::uint32_t bit = bitOf(request.tenant);
        for (std::size_t g = 0; g < request.tables.size(); ++g) {
            std::vector<std::uint32_t>& numbers = out.numbers[header.layout.groups[g].pool];
            for (const std::uint32_t block : request.tables[g]) {
                if (block != noTableBlock)
                    numbers[block] = sets.with(numbers[block], bit);
            }
        }
    }
    return out;
}

bool crossesDomains(TenantSet tenants, const std::vector<SharingDomain>& domains)
{
    if ((tenants & (tenants - 1)) == 0)
        return false;
    std::optional<std::uint32_t> first;
    for (std::size_t t = 0; t < 64; ++t) {
        if ((tenants >> t & 1) == 0)
            continue;
        if (t >= domains.size() || (first && *first != domains[t].id))
            return true;
        first = domains[t].id;
    }
    return false;
}

std::int64_t crossDomainBlocks(const TenantSets& tenants, const std::vector<SharingDomain>& domains)
{
    std::vector<std::uint8_t> crosses;
    for (const TenantSet set : tenants.distinct)
        crosses.push_back(crossesDomains(set, domains) ? 1 : 0);
    std::int64_t out = 0;
    for (const std::vector<std::uint32_t>& pool : tenants.numbers) {
        for (const std::uint32_t number : pool)
            out += crosses[number];
    }
    return out;
}

FormerBlocks formerBlocks(const EventLogHeader& header, const ReplayState& state, const RequestTrace& request)
{
    FormerBlocks out;
    for (std::size_t g = 0; g < request.former.size(); ++g) {
        const std::uint32_t pool = header.layout.groups[g].pool;
        for (const RequestTrace::Former& former : request.former[g]) {
            const bool same = state.uses[pool][former.block] == former.use
                && state.map.blocks()[pool][former.block].state != BlockState::Free;
            ++(same ? out.here : out.lost);
        }
    }
    return out;
}

std::vector<TableUse> usesOf(
    const EventLogHeader& header, const ReplayState& state, std::uint32_t pool, std::uint32_t block)
{
    std::vector<TableUse> out;
    for (const auto& [id, request] : state.requests) {
        for (std::size_t g = 0; g < request.tables.size(); ++g) {
            if (header.layout.groups[g].pool != pool)
                continue;
            const std::vector<std::uint32_t>& table = request.tables[g];
            const auto at = std::find(table.begin(), table.end(), block);
            if (at != table.end())
                out.push_back(
                    {id, request.tenant, static_cast<std::uint8_t>(g), static_cast<std::uint32_t>(at - table.begin())});
        }
    }
    return out;
}

RequestBlocks requestBlocks(const EventLogHeader& header, const ReplayState& state, const RequestTrace& request)
{
    RequestBlocks out;
    for (std::size_t g = 0; g < request.tables.size(); ++g) {
        const std::uint32_t pool = header.layout.groups[g].pool;
        for (const std::uint32_t block : request.tables[g]) {
            if (block == noTableBlock)
                continue;
            ++out.blocks;
            out.bytes += header.layout.pools[pool].blockBytes.value;
            if (state.map.blocks()[pool][block].references > 1)
                ++out.shared;
        }
    }
    return out;
}

} // namespace kvw
