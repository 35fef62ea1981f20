// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/maplooks.h"

#include "style/tokens.h"

#include <algorithm>
#include <array>
#include <bit>

namespace kvw::gui {

namespace {

QColor tenantAt(const QPalette& palette, std::size_t place)
{
    const Tokens& tokens = tokensFor(palette);
    return tokens.tenants[place % tokens.tenants.size()];
}

MapVisual alarm(const QPalette& palette)
{
    MapVisual out;
    out.fill = tokensFor(palette).differs;
    out.pattern = MapVisual::Alarm;
    out.line = palette.color(QPalette::Base);
    return out;
}

/// A block of no colour but its state's.
MapVisual stateVisual(BlockClass what, const QPalette& palette)
{
    const Tokens& tokens = tokensFor(palette);
    MapVisual out;
    switch (what) {
    case BlockClass::Free:
        out.fill = tokens.blockFree;
        break;
    case BlockClass::Held:
        out.fill = tokens.blockHeld;
        out.pattern = MapVisual::Cross;
        out.line = palette.color(QPalette::Base);
        break;
    case BlockClass::Shared:
        out.fill = tokens.blockShared;
        break;
    case BlockClass::Private:
        out.fill = tokens.blockPrivate;
        break;
    case BlockClass::Cached:
        out.fill = tokens.blockCached;
        out.pattern = MapVisual::Diagonals;
        out.line = tokens.blockCachedLine;
        break;
    }
    return out;
}

/// One tenant's colour, halves of two, or the first and the text colour for more.
MapVisual tenantsVisual(TenantSet tenants, const QPalette& palette)
{
    const auto first = [](TenantSet set) { return static_cast<std::uint16_t>(std::countr_zero(set)); };
    MapVisual out;
    out.fill = tenantColor(palette, first(tenants));
    const TenantSet rest = tenants & (tenants - 1);
    if (rest != 0)
        out.lower = (rest & (rest - 1)) == 0 ? tenantColor(palette, first(rest)) : tokensFor(palette).text;
    return out;
}

/// How the blocks of a legend's line look while they are in a table.
MapVisual lineVisual(const LegendCount& line, Colouring colouring, const QPalette& palette)
{
    const bool owned = line.what == BlockClass::Private || line.what == BlockClass::Cached;
    MapVisual out;
    switch (owned ? colouring : Colouring::State) {
    case Colouring::Tenant:
        if (line.tenants == 0)
            return stateVisual(line.what, palette);
        return tenantsVisual(line.tenants, palette);
    case Colouring::Domain:
        if (line.index < 0)
            return alarm(palette);
        out.fill = domainColor(palette, line.index);
        return out;
    case Colouring::Group:
        out.fill = groupColor(palette, line.index);
        return out;
    case Colouring::Age:
    case Colouring::References:
        if (line.index < 0)
            return stateVisual(line.what, palette); // in no table: no references
        out.fill = tokensFor(palette).sequential[static_cast<std::size_t>(line.index)];
        return out;
    case Colouring::State:
        break;
    }
    return stateVisual(line.what, palette);
}

/// The same, kept but in no table.
MapVisual cachedVisual(MapVisual visual, const QPalette& palette)
{
    if (visual.pattern == MapVisual::Plain) {
        visual.pattern = MapVisual::WideDiagonals;
        visual.line = palette.color(QPalette::Base);
    }
    return visual;
}

} // namespace

QColor tenantColor(const QPalette& palette, std::uint16_t tenant)
{
    return tenantAt(palette, tenant);
}

QColor domainColor(const QPalette& palette, int domain)
{
    // From the other end, so that a tenant and a domain are not taken for each other.
    return tenantAt(palette, 7 - static_cast<std::size_t>(domain) % 8);
}

QColor groupColor(const QPalette& palette, int group)
{
    static constexpr std::array<std::size_t, 8> order {0, 5, 4, 6, 1, 2, 3, 7}; // A, F, E, G first
    return tenantAt(palette, order[static_cast<std::size_t>(group) % order.size()]);
}

void MapLooks::clear()
{
    *this = {};
}

void MapLooks::readMoment(const MapSource& source, std::uint32_t step, Colouring colouring, const QPalette& palette)
{
    m_tenants = tenantSets(source.header, source.replay->state());
    m_crosses.assign(m_tenants.distinct.size(), 0);
    m_crossDomain = 0;
    if (!source.domains.empty()) {
        for (std::size_t i = 0; i < m_crosses.size(); ++i)
            m_crosses[i] = crossesDomains(m_tenants.distinct[i], source.domains) ? 1 : 0;
        m_crossDomain = crossDomainBlocks(m_tenants, source.domains);
    }
    colour(source, step, colouring, palette);
}

void MapLooks::colour(const MapSource& source, std::uint32_t step, Colouring colouring, const QPalette& palette)
{
    m_colouring = colouring;
    m_map = colourMap(
        source.header, source.replay->state(), colouring, m_tenants, source.domains, {step, source.replay->lastStep()});
    paint(source, palette);
}

std::uint16_t MapLooks::add(const MapVisual& visual)
{
    const auto known = std::find(m_visuals.begin(), m_visuals.end(), visual);
    const auto index = static_cast<std::uint16_t>(known - m_visuals.begin());
    if (known == m_visuals.end())
        m_visuals.push_back(visual);
    return index;
}

void MapLooks::paint(const MapSource& source, const QPalette& palette)
{
    m_visuals.clear();
    m_activeLook.clear();
    m_cachedLook.clear();
    for (const LegendCount& line : m_map.legend.rows) {
        const MapVisual visual = lineVisual(line, m_colouring, palette);
        const MapVisual cached
            = line.what == BlockClass::Free || line.what == BlockClass::Held ? visual : cachedVisual(visual, palette);
        m_activeLook.push_back(add(line.what == BlockClass::Cached ? cached : visual));
        m_cachedLook.push_back(
            m_colouring == Colouring::Age || line.what == BlockClass::Cached ? add(cached) : m_activeLook.back());
    }
    const std::uint16_t wrong = m_crossDomain > 0 ? add(alarm(palette)) : std::uint16_t {0};
    const std::vector<std::vector<BlockSnapshot>>& pools = source.replay->state().map.blocks();
    m_byBlock.resize(pools.size());
    for (std::size_t p = 0; p < pools.size(); ++p) {
        const std::vector<BlockSnapshot>& blocks = pools[p];
        const std::vector<std::uint32_t>& lines = m_map.lines[p];
        const std::vector<std::uint32_t>& sets = m_tenants.numbers[p];
        std::vector<std::uint16_t>& out = m_byBlock[p];
        out.resize(blocks.size());
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const bool cached = blocks[b].state == BlockState::Cached;
            out[b] = m_crosses[sets[b]] != 0 ? wrong : cached ? m_cachedLook[lines[b]] : m_activeLook[lines[b]];
        }
    }
}

void MapLooks::filter(const MapSource& source, const MapFilter& filter)
{
    const std::vector<std::vector<BlockSnapshot>>& pools = source.replay->state().map.blocks();
    const TenantSet wanted = filter.tenant < 0 ? 0 : tenantBit(static_cast<std::uint16_t>(filter.tenant));
    const bool none = filter.tenant < 0 && filter.group < 0 && filter.line < 0;
    for (std::size_t p = 0; p < pools.size(); ++p) {
        const std::vector<BlockSnapshot>& blocks = pools[p];
        std::vector<std::uint16_t>& out = m_byBlock[p];
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            bool in = true;
            if (!none) {
                const BlockSnapshot& block = blocks[b];
                const bool owned = block.state == BlockState::Active || block.state == BlockState::Cached;
                in = (filter.tenant < 0 || (m_tenants.distinct[m_tenants.numbers[p][b]] & wanted) != 0)
                    && (filter.group < 0 || (owned && block.group == filter.group))
                    && (filter.line < 0 || m_map.lines[p][b] == static_cast<std::uint32_t>(filter.line));
            }
            const auto look = static_cast<std::uint16_t>(out[b] & ~fadedBit);
            out[b] = in ? look : static_cast<std::uint16_t>(look | fadedBit);
        }
    }
}

Colouring MapLooks::colouring() const
{
    return m_colouring;
}

const Legend& MapLooks::legend() const
{
    return m_map.legend;
}

const TenantSets& MapLooks::tenants() const
{
    return m_tenants;
}

std::int64_t MapLooks::crossDomain() const
{
    return m_crossDomain;
}

const QVector<MapVisual>& MapLooks::visuals() const
{
    return m_visuals;
}

const std::vector<std::uint16_t>& MapLooks::of(std::uint32_t pool) const
{
    return m_byBlock[pool];
}

std::size_t MapLooks::pools() const
{
    return m_byBlock.size();
}

const MapVisual& MapLooks::legendVisual(int line) const
{
    return m_visuals[m_activeLook[static_cast<std::size_t>(line)]];
}

std::uint32_t MapLooks::lineOf(const BlockRef& ref) const
{
    return m_map.lines[ref.pool][ref.block];
}

} // namespace kvw::gui
