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

std::vector<std::vector<TenantSet>> tenantSets(const EventLogHeader& header, const ReplayState& state)
{
    std::vector<std::vector<TenantSet>> out;
    for (const std::vector<BlockSnapshot>& pool : state.map.blocks()) {
        std::vector<TenantSet>& sets = out.emplace_back(pool.size());
        for (std::size_t b = 0; b < pool.size(); ++b) {
            if (pool[b].state == BlockState::Cached)
                sets[b] = tenantBit(pool[b].tenant);
        }
    }
    for (const auto& [id, request] : state.requests) {
        for (std::size_t g = 0; g < request.tables.size(); ++g) {
            std::vector<TenantSet>& sets = out[header.layout.groups[g].pool];
            for (const std::uint32_t block : request.tables[g]) {
                if (block != noTableBlock)
                    sets[block] |= tenantBit(request.tenant);
            }
        }
    }
    return out;
}

namespace {

/// Adds what the legend has under its sum.
void addWindows(const EventLogHeader& header, const ReplayState& state, Legend& legend)
{
    for (const auto& [id, request] : state.requests) {
        for (std::size_t g = 0; g < request.tables.size(); ++g) {
            const std::vector<std::uint32_t>& table = request.tables[g];
            legend.windowDropped += std::count(table.begin(), table.end(), noTableBlock);
            if (header.layout.groups[g].window)
                legend.windowPositions += static_cast<std::int64_t>(table.size());
        }
    }
}

} // namespace

Legend legendByState(const EventLogHeader& header, const ReplayState& state)
{
    Legend out;
    for (const BlockClass which :
        {BlockClass::Shared, BlockClass::Private, BlockClass::Cached, BlockClass::Free, BlockClass::Held}) {
        LegendCount row;
        row.what = which;
        out.rows.push_back(row);
    }
    for (std::size_t p = 0; p < state.map.blocks().size(); ++p) {
        std::array<std::int64_t, blockClassCount> counts {};
        for (const BlockSnapshot& block : state.map.blocks()[p])
            ++counts[static_cast<std::size_t>(blockClass(block))];
        for (LegendCount& row : out.rows) {
            const std::int64_t blocks = counts[static_cast<std::size_t>(row.what)];
            row.blocks += blocks;
            row.bytes += blocks * header.layout.pools[p].blockBytes.value;
        }
    }
    for (const LegendCount& row : out.rows) {
        out.blocks += row.blocks;
        out.bytes += row.bytes;
    }
    addWindows(header, state, out);
    return out;
}

Legend legendByTenant(const EventLogHeader& header, const ReplayState& state)
{
    struct Sum
    {
        std::int64_t blocks = 0;
        std::int64_t bytes = 0;
    };
    std::map<std::pair<BlockClass, TenantSet>, Sum> sums;
    const std::vector<std::vector<TenantSet>> tenants = tenantSets(header, state);
    Legend out;
    for (std::size_t p = 0; p < tenants.size(); ++p) {
        const std::int64_t bytes = header.layout.pools[p].blockBytes.value;
        for (std::size_t b = 0; b < tenants[p].size(); ++b) {
            BlockClass what = blockClass(state.map.blocks()[p][b]);
            if (what == BlockClass::Shared)
                what = BlockClass::Private;
            Sum& sum = sums[{what, tenants[p][b]}];
            ++sum.blocks;
            sum.bytes += bytes;
        }
    }
    for (const BlockClass what : {BlockClass::Private, BlockClass::Cached, BlockClass::Free, BlockClass::Held}) {
        for (const auto& [key, sum] : sums) {
            if (key.first != what)
                continue;
            out.rows.push_back({what, key.second, sum.blocks, sum.bytes});
            out.blocks += sum.blocks;
            out.bytes += sum.bytes;
        }
    }
    addWindows(header, state, out);
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

std::int64_t crossDomainBlocks(
    const std::vector<std::vector<TenantSet>>& tenants, const std::vector<SharingDomain>& domains)
{
    std::int64_t out = 0;
    for (const std::vector<TenantSet>& pool : tenants)
        out += std::count_if(pool.begin(), pool.end(), [&](TenantSet set) { return crossesDomains(set, domains); });
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
