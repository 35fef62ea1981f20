// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapsource.h"

#include <QRect>
#include <QVector>

#include <optional>
#include <vector>

namespace kvw::gui {

/// Where each block of the pools lies in the pool view's picture: a titled grid for each pool, one under the other. All
/// lengths are device pixels of the whole content.
class PoolGrid
{
public:
    /// A pool's part of the picture.
    struct Section
    {
        std::uint32_t pool = 0;
        std::int64_t blocks = 0;
        int titleTop = 0;
        int top = 0;
        int rows = 0;
    };
    /// What the grids are laid out in.
    struct Room
    {
        int gutter = 0; ///< left of the grids, for block numbers
        int width = 8; ///< of the grids
        int height = 0; ///< that a fitted picture should not exceed
        int title = 0; ///< height of a pool's title
        int gap = 0; ///< under a grid
    };

    /// Lays the pools out with cells as large as fit, at most `largest`; when none does, several blocks a pixel.
    void fit(const std::vector<std::int64_t>& blocks, const Room& room, int largest);
    /// Lays them out with cells of this size, whatever height that takes.
    void arrange(const std::vector<std::int64_t>& blocks, const Room& room, int cell);

    const QVector<Section>& sections() const { return m_sections; }
    int columns() const { return m_columns; }
    int gutter() const { return m_gutter; }
    int cell() const { return m_cell; } ///< 1 where several blocks share a pixel
    std::int64_t perPixel() const { return m_perPixel; } ///< blocks; 1 where each has a cell of its own
    int height() const { return m_height; }
    /// The block whose cell holds the point, or the first of those that share it.
    std::optional<BlockRef> blockAt(const QPoint& point) const;
    QRect rectOf(const BlockRef& ref) const;

private:
    int place(const std::vector<std::int64_t>& blocks, const Room& room, int cell, std::int64_t perPixel);

    QVector<Section> m_sections;
    int m_columns = 1;
    int m_gutter = 0;
    int m_cell = 1;
    std::int64_t m_perPixel = 1;
    int m_height = 0;
};

} // namespace kvw::gui
