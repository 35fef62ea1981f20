// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapsource.h"

#include <QColor>
#include <QPalette>
#include <QVector>

namespace kvw::gui {

/// How a kind of block looks, in one colouring.
struct MapVisual
{
    enum Pattern {
        Plain,
        Diagonals, ///< thin lines, of cached blocks by state
        WideDiagonals, ///< base-coloured, of cached blocks in the colour of something else
        Cross, ///< held
        Alarm, ///< must not occur
    };

    QColor fill;
    QColor lower; ///< of the lower half; invalid: all of it is `fill`
    Pattern pattern = Plain;
    QColor line;

    bool operator==(const MapVisual&) const = default;
};

/// What is left out of the map's picture: −1 for everything that is not filtered by.
struct MapFilter
{
    int tenant = -1;
    int group = -1;
    int line = -1; ///< of the legend
};

/// The look of each block of a map at one moment, by one colouring. Four stages, of which a change repeats only the
/// later ones: whose the blocks are, which line of the legend counts them, how a line looks, what a filter leaves out.
/// Each is one pass over contiguous arrays.
class MapLooks
{
public:
    /// Set in a block's entry when the filter leaves it out.
    static constexpr std::uint16_t fadedBit = 0x8000;

    void clear();
    /// The blocks at the source's present moment; also everything after it.
    void readMoment(const MapSource& source, std::uint32_t step, Colouring colouring, const QPalette& palette);
    void colour(const MapSource& source, std::uint32_t step, Colouring colouring, const QPalette& palette);
    void paint(const MapSource& source, const QPalette& palette);
    void filter(const MapSource& source, const MapFilter& filter);

    Colouring colouring() const;
    const Legend& legend() const;
    const TenantSets& tenants() const;
    std::int64_t crossDomain() const;
    const QVector<MapVisual>& visuals() const;
    /// By block of a pool: index into visuals(), with fadedBit.
    const std::vector<std::uint16_t>& of(std::uint32_t pool) const;
    std::size_t pools() const;
    const MapVisual& legendVisual(int line) const;
    /// Number of the legend's line that counts the block.
    std::uint32_t lineOf(const BlockRef& ref) const;

private:
    std::uint16_t add(const MapVisual& visual);

    Colouring m_colouring = Colouring::State;
    TenantSets m_tenants;
    std::vector<std::uint8_t> m_crosses; ///< by number of tenant set: of several domains
    std::int64_t m_crossDomain = 0;
    ColouredMap m_map;
    QVector<MapVisual> m_visuals;
    std::vector<std::uint16_t> m_activeLook; ///< by line
    std::vector<std::uint16_t> m_cachedLook; ///< by line: of cached blocks in it
    std::vector<std::vector<std::uint16_t>> m_byBlock;
};

/// The colour of a tenant, of the sharing domain with this number, and of a layer group.
QColor tenantColor(const QPalette& palette, std::uint16_t tenant);
QColor domainColor(const QPalette& palette, int domain);
QColor groupColor(const QPalette& palette, int group);

} // namespace kvw::gui
