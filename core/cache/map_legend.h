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

/// Whose tables name each block, [pool][block]; of cached blocks the tenant that it was allocated for; 0 for the rest.
std::vector<std::vector<TenantSet>> tenantSets(const EventLogHeader& header, const ReplayState& state);

/// One line of a block map's legend.
struct LegendCount
{
    BlockClass what = BlockClass::Free; ///< by tenant, active blocks are Private, whatever they are shared by
    TenantSet tenants = 0; ///< by tenant only: the tenants whose tables name the blocks, or the last owner
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;
};

/// A legend: its lines add up to the pools' blocks and bytes.
struct Legend
{
    std::vector<LegendCount> rows; ///< by state: all five, in a fixed order; by tenant: those that there are
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
std::int64_t crossDomainBlocks(
    const std::vector<std::vector<TenantSet>>& tenants, const std::vector<SharingDomain>& domains);

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
