// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/replay.h"

#include <cstdint>
#include <vector>

namespace kvw {

/// What a block map tells apart by colour and pattern.
enum class BlockClass : std::uint8_t {
    Free,
    Shared, ///< active, in two tables or more
    Private, ///< active, in one table
    Cached,
    Held,
};
constexpr std::size_t blockClassCount = 5;
BlockClass blockClass(const BlockSnapshot& block);
const char* blockClassName(BlockClass which); ///< "free", "shared", "private tail", "cached", "held"

/// Tenants as bits: tenant 63 stands for itself and all later ones.
using TenantSet = std::uint64_t;
TenantSet tenantBit(std::uint16_t tenant);

/// Whose tables name each block; of cached blocks the tenant that it was allocated for; nobody's for the rest. Each set
/// is kept once, so that blocks of the same tenants have the same number.
struct TenantSets
{
    std::vector<TenantSet> distinct; ///< the first is 0; some may be of no block
    std::vector<std::vector<std::uint32_t>> numbers; ///< [pool][block]: index into `distinct`

    TenantSet of(std::uint32_t pool, std::uint32_t block) const { return distinct[numbers[pool][block]]; }
};
TenantSets tenantSets(const EventLogHeader& header, const ReplayState& state);

/// One line of a block map's legend.
struct LegendCount
{
    BlockClass what = BlockClass::Free; ///< but by state, active blocks are Private, whatever they are shared by
    TenantSet tenants = 0; ///< by tenant: those whose tables name the blocks, or the last owner; by domain: its tenants
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;
    /// By domain: number of the domain in mapDomains(), −1 for blocks in tables of several, which must not occur. By
    /// group: the group. By age and references: the step, 0 to 5.
    std::int32_t index = -1;
    std::int64_t from = 0; ///< by age and references: the step's lowest value
    std::int64_t to = -1; ///< and its highest; −1: there is none
};

/// A legend: its lines add up to the pools' blocks and bytes.
struct Legend
{
    /// By state: all five, in a fixed order; by age and references: all steps; by the others: those that there are.
    std::vector<LegendCount> rows;
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;
    std::int64_t windowDropped = 0; ///< table positions of running requests that hold no block any more
    std::int64_t windowPositions = 0; ///< table positions of groups with a window
};
Legend legendByState(const EventLogHeader& header, const ReplayState& state);
Legend legendByTenant(const EventLogHeader& header, const ReplayState& state);

/// True when the tenants are of more than one sharing domain. `domains`: by tenant; a tenant without one counts as its
/// own.
bool crossesDomains(TenantSet tenants, const std::vector<SharingDomain>& domains);
/// Active blocks that tables of several domains name: must be 0.
std::int64_t crossDomainBlocks(const TenantSets& tenants, const std::vector<SharingDomain>& domains);

/// What became of the blocks that a preempted request held.
struct FormerBlocks
{
    std::int64_t here = 0; ///< still on the device, with the content that they had
    std::int64_t lost = 0;
};
FormerBlocks formerBlocks(const EventLogHeader& header, const ReplayState& state, const RequestTrace& request);

/// Requests whose tables name the block, with the position at which they do.
struct TableUse
{
    std::uint32_t request = 0;
    std::uint16_t tenant = 0;
    std::uint8_t group = 0;
    std::uint32_t position = 0;
};
std::vector<TableUse> usesOf(
    const EventLogHeader& header, const ReplayState& state, std::uint32_t pool, std::uint32_t block);

/// The blocks of one request, all groups.
struct RequestBlocks
{
    std::int64_t blocks = 0;
    std::int64_t shared = 0;
    std::int64_t bytes = 0;
};
RequestBlocks requestBlocks(const EventLogHeader& header, const ReplayState& state, const RequestTrace& request);

} // namespace kvw
