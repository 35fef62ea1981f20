// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/map_colouring.h"

#include <algorithm>
#include <bit>

namespace kvw {

namespace {

constexpr std::uint32_t states = 4; // of BlockState

/// What is counted together: something of the colouring, and the state of the block.
constexpr std::uint32_t keyOf(std::uint32_t which, BlockState state)
{
    return which * states + static_cast<std::uint32_t>(state);
}

/// A line that the legend may have, in its order.
struct Slot
{
    std::uint32_t key = 0;
    LegendCount line;
    bool always = false; ///< also when it counts nothing
};

struct Sum
{
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;
};

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

/// Gives each block its key, counts the keys, makes lines of the slots and turns keys into lines. `key(pool, block)`.
template <typename Key>
ColouredMap classify(const EventLogHeader& header, const ReplayState& state, std::uint32_t kinds,
    const std::vector<Slot>& slots, Key key)
{
    ColouredMap out;
    std::vector<Sum> sums(std::size_t {kinds} * states);
    std::vector<std::int64_t> counts(sums.size());
    for (std::uint32_t p = 0; p < state.map.blocks().size(); ++p) {
        const auto blocks = static_cast<std::uint32_t>(state.map.blocks()[p].size());
        std::vector<std::uint32_t>& keys = out.lines.emplace_back(blocks);
        std::fill(counts.begin(), counts.end(), 0);
        for (std::uint32_t b = 0; b < blocks; ++b) {
            keys[b] = key(p, b);
            ++counts[keys[b]];
        }
        for (std::size_t k = 0; k < counts.size(); ++k) {
            sums[k].blocks += counts[k];
            sums[k].bytes += counts[k] * header.layout.pools[p].blockBytes.value;
        }
    }
    std::vector<std::uint32_t> lineOf(sums.size());
    for (const Slot& slot : slots) {
        const Sum& sum = sums[slot.key];
        if (sum.blocks == 0 && !slot.always)
            continue;
        lineOf[slot.key] = static_cast<std::uint32_t>(out.legend.rows.size());
        LegendCount& line = out.legend.rows.emplace_back(slot.line);
        line.blocks = sum.blocks;
        line.bytes = sum.bytes;
        out.legend.blocks += sum.blocks;
        out.legend.bytes += sum.bytes;
    }
    for (std::vector<std::uint32_t>& pool : out.lines) {
        for (std::uint32_t& line : pool)
            line = lineOf[line];
    }
    addWindows(header, state, out.legend);
    return out;
}

/// Free and held blocks belong to nobody: they end every legend.
void addNobodys(std::vector<Slot>& slots)
{
    slots.push_back({keyOf(0, BlockState::Free), {BlockClass::Free}, true});
    slots.push_back({keyOf(0, BlockState::Held), {BlockClass::Held}, false});
}

bool isOwned(BlockState state)
{
    return state == BlockState::Active || state == BlockState::Cached;
}

ColouredMap byState(const EventLogHeader& header, const ReplayState& state)
{
    const std::vector<Slot> slots {{keyOf(1, BlockState::Active), {BlockClass::Shared}, true},
        {keyOf(0, BlockState::Active), {BlockClass::Private}, true},
        {keyOf(0, BlockState::Cached), {BlockClass::Cached}, true},
        {keyOf(0, BlockState::Free), {BlockClass::Free}, true}, {keyOf(0, BlockState::Held), {BlockClass::Held}, true}};
    return classify(header, state, 2, slots, [&](std::uint32_t pool, std::uint32_t b) {
        const BlockSnapshot& block = state.map.blocks()[pool][b];
        return keyOf(block.state == BlockState::Active && block.references > 1 ? 1 : 0, block.state);
    });
}

ColouredMap byTenant(const EventLogHeader& header, const ReplayState& state, const TenantSets& tenants)
{
    std::vector<std::uint32_t> order(tenants.distinct.size());
    for (std::uint32_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::sort(order.begin(), order.end(),
        [&](std::uint32_t a, std::uint32_t b) { return tenants.distinct[a] < tenants.distinct[b]; });
    std::vector<Slot> slots;
    for (const auto& [owned, what] :
        {std::pair {BlockState::Active, BlockClass::Private}, {BlockState::Cached, BlockClass::Cached}}) {
        for (const std::uint32_t number : order)
            slots.push_back({keyOf(number, owned), {what, tenants.distinct[number]}, false});
    }
    addNobodys(slots);
    return classify(header, state, static_cast<std::uint32_t>(order.size()), slots,
        [&](std::uint32_t pool, std::uint32_t b) { // free and held blocks have the set of nobody, number 0
            return keyOf(tenants.numbers[pool][b], state.map.blocks()[pool][b].state);
        });
}

ColouredMap byDomain(const EventLogHeader& header, const ReplayState& state, const TenantSets& tenants,
    const std::vector<SharingDomain>& domains)
{
    const std::vector<MapDomain> known = mapDomains(header, domains);
    const auto several = static_cast<std::uint32_t>(known.size());
    std::vector<std::uint32_t> domainOf(tenants.distinct.size());
    for (std::size_t i = 1; i < domainOf.size(); ++i) {
        domainOf[i] = several;
        for (std::uint32_t d = 0; d < several; ++d) {
            if ((tenants.distinct[i] & ~known[d].tenants) == 0)
                domainOf[i] = d;
        }
    }
    std::vector<Slot> slots;
    for (const auto& [owned, what] :
        {std::pair {BlockState::Active, BlockClass::Private}, {BlockState::Cached, BlockClass::Cached}}) {
        for (std::uint32_t d = 0; d < several; ++d) {
            LegendCount line {what, known[d].tenants};
            line.index = static_cast<std::int32_t>(d);
            slots.push_back({keyOf(d, owned), line, false});
        }
        slots.push_back({keyOf(several, owned), {what}, false});
    }
    addNobodys(slots);
    return classify(header, state, several + 1, slots, [&](std::uint32_t pool, std::uint32_t b) {
        const BlockState now = state.map.blocks()[pool][b].state;
        return keyOf(isOwned(now) ? domainOf[tenants.numbers[pool][b]] : 0, now);
    });
}

ColouredMap byGroup(const EventLogHeader& header, const ReplayState& state)
{
    const auto groups = static_cast<std::uint32_t>(header.layout.groups.size());
    std::vector<Slot> slots;
    for (const auto& [owned, what] :
        {std::pair {BlockState::Active, BlockClass::Private}, {BlockState::Cached, BlockClass::Cached}}) {
        for (std::uint32_t g = 0; g < groups; ++g) {
            LegendCount line {what};
            line.index = static_cast<std::int32_t>(g);
            slots.push_back({keyOf(g, owned), line, false});
        }
    }
    addNobodys(slots);
    return classify(
        header, state, std::max(groups, std::uint32_t {1}), slots, [&](std::uint32_t pool, std::uint32_t b) {
            const BlockSnapshot& block = state.map.blocks()[pool][b];
            return keyOf(isOwned(block.state) ? block.group : 0, block.state);
        });
}

std::vector<Slot> scaleSlots(const StepLimits& limits)
{
    std::vector<Slot> out;
    for (std::uint32_t i = 0; i < sequentialSteps; ++i) {
        LegendCount line {BlockClass::Private};
        line.index = static_cast<std::int32_t>(i);
        line.from = limits[i];
        line.to = i + 1 < sequentialSteps ? limits[i + 1] - 1 : -1;
        out.push_back({keyOf(i, BlockState::Active), line, true});
    }
    return out;
}

std::uint32_t stepOf(const StepLimits& limits, std::int64_t value)
{
    std::uint32_t out = 0;
    for (std::size_t i = 1; i < sequentialSteps; ++i)
        out += value >= limits[i] ? 1 : 0;
    return out;
}

ColouredMap byAge(const EventLogHeader& header, const ReplayState& state, const MapMoment& moment)
{
    const StepLimits limits = ageLimits(moment.lastStep);
    std::vector<Slot> slots = scaleSlots(limits);
    addNobodys(slots);
    return classify(header, state, sequentialSteps, slots, [&](std::uint32_t pool, std::uint32_t b) {
        const BlockState now = state.map.blocks()[pool][b].state;
        if (!isOwned(now))
            return keyOf(0, now);
        const std::int64_t age = std::int64_t {moment.step} - state.since[pool][b];
        return keyOf(stepOf(limits, age), BlockState::Active); // cached ones age as the others do
    });
}

ColouredMap byReferences(const EventLogHeader& header, const ReplayState& state)
{
    const StepLimits limits = referenceLimits();
    std::vector<Slot> slots = scaleSlots(limits);
    slots.push_back({keyOf(0, BlockState::Cached), {BlockClass::Cached}, true});
    addNobodys(slots);
    return classify(header, state, sequentialSteps, slots, [&](std::uint32_t pool, std::uint32_t b) {
        const BlockSnapshot& block = state.map.blocks()[pool][b];
        return keyOf(block.state == BlockState::Active ? stepOf(limits, block.references) : 0, block.state);
    });
}

} // namespace

const char* colouringName(Colouring which)
{
    static constexpr std::array<const char*, colouringCount> names {
        "state", "tenant", "domain", "group", "age", "references"};
    return names[static_cast<std::size_t>(which)];
}

StepLimits ageLimits(std::uint32_t lastStep)
{
    const auto reach = [](std::int64_t base) {
        std::int64_t out = 1;
        for (std::size_t i = 0; i < sequentialSteps; ++i)
            out *= base;
        return out;
    };
    std::int64_t base = 2;
    while (reach(base) <= std::int64_t {lastStep})
        ++base;
    StepLimits out {};
    for (std::size_t i = 1; i < sequentialSteps; ++i)
        out[i] = i == 1 ? base : out[i - 1] * base;
    return out;
}

StepLimits referenceLimits()
{
    return {1, 2, 3, 5, 9, 17};
}

std::vector<MapDomain> mapDomains(const EventLogHeader& header, const std::vector<SharingDomain>& domains)
{
    std::vector<MapDomain> out;
    if (domains.empty()) {
        out.push_back({{}, ~TenantSet {0}});
        return out;
    }
    // Tenant 63 stands for all later ones, as it does in the sets.
    const std::size_t tenants = std::max(header.tenants.size(), domains.size());
    for (std::size_t t = 0; t < std::min<std::size_t>(tenants, 64); ++t) {
        const TenantSet bit = tenantBit(static_cast<std::uint16_t>(t));
        const bool stated = t < domains.size();
        const auto same = std::find_if(
            out.begin(), out.end(), [&](const MapDomain& known) { return stated && known.domain.id == domains[t].id; });
        if (same != out.end())
            same->tenants |= bit;
        else
            out.push_back({stated ? domains[t] : SharingDomain {}, bit});
    }
    return out;
}

Legend legendByState(const EventLogHeader& header, const ReplayState& state)
{
    return byState(header, state).legend;
}

Legend legendByTenant(const EventLogHeader& header, const ReplayState& state)
{
    return byTenant(header, state, tenantSets(header, state)).legend;
}

ColouredMap colourMap(const EventLogHeader& header, const ReplayState& state, Colouring colouring,
    const TenantSets& tenants, const std::vector<SharingDomain>& domains, const MapMoment& moment)
{
    switch (colouring) {
    case Colouring::Tenant:
        return byTenant(header, state, tenants);
    case Colouring::Domain:
        return byDomain(header, state, tenants, domains);
    case Colouring::Group:
        return byGroup(header, state);
    case Colouring::Age:
        return byAge(header, state, moment);
    case Colouring::References:
        return byReferences(header, state);
    case Colouring::State:
        break;
    }
    return byState(header, state);
}

} // namespace kvw
