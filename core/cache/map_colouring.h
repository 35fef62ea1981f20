// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/map_legend.h"

#include <array>
#include <cstdint>
#include <vector>

namespace kvw {

/// What the colours of a block map tell.
enum class Colouring : std::uint8_t {
    State,
    Tenant, ///< whose tables name the block, or who kept it
    Domain, ///< the sharing domain of those
    Group, ///< the layer group whose state the block holds
    Age, ///< steps since the block was allocated for what it holds
    References, ///< tables that name it
};
constexpr std::size_t colouringCount = 6;
const char* colouringName(Colouring which); ///< "state", "tenant" … as a word of the legend

/// Ages and reference counts are shown in so many steps.
constexpr std::size_t sequentialSteps = 6;
/// The lowest value of each step.
using StepLimits = std::array<std::int64_t, sequentialSteps>;
/// Ages on a log scale that the log's length fills: 0, b, b² … with the smallest b ≥ 2 for which the last step is below
/// b⁶. The same at every moment of a log.
StepLimits ageLimits(std::uint32_t lastStep);
/// 1, 2, 3, 5, 9, 17: the same in every log.
StepLimits referenceLimits();

/// The moment that is coloured, within its log.
struct MapMoment
{
    std::uint32_t step = 0;
    std::uint32_t lastStep = 0; ///< of the log
};

/// A legend, and for each block the line that counts it.
struct ColouredMap
{
    Legend legend;
    std::vector<std::vector<std::uint32_t>> lines; ///< [pool][block]: index into legend.rows
};

/// Counts and classifies all blocks, in one pass over contiguous arrays for each colouring. `domains`: by tenant; empty
/// when they are not known, and all tenants count as of one then. REQUIRES `tenants` of the same state.
ColouredMap colourMap(const EventLogHeader& header, const ReplayState& state, Colouring colouring,
    const TenantSets& tenants, const std::vector<SharingDomain>& domains, const MapMoment& moment);

/// The sharing domains of a map, in order of their first tenant.
struct MapDomain
{
    SharingDomain domain;
    TenantSet tenants = 0;
};
std::vector<MapDomain> mapDomains(const EventLogHeader& header, const std::vector<SharingDomain>& domains);

} // namespace kvw
