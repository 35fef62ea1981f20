// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/poolgrid.h"

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr std::int64_t mostPerPixel = std::int64_t {1} << 20;

} // namespace

int PoolGrid::place(const std::vector<std::int64_t>& blocks, const Room& room, int cell, std::int64_t perPixel)
{
    m_gutter = room.gutter;
    m_cell = cell;
    m_perPixel = perPixel;
    int columns = std::max(1, room.width / cell);
    if (columns > 16)
        columns -= columns % (columns < 64 ? 4 : 8); // round numbers at the left
    m_columns = columns;
    int y = 0;
    m_sections.clear();
    for (std::uint32_t p = 0; p < blocks.size(); ++p) {
        Section section {p, blocks[p], y, y + room.title, 0};
        const std::int64_t cells = (blocks[p] + perPixel - 1) / perPixel;
        section.rows = static_cast<int>((cells + columns - 1) / columns);
        y = section.top + section.rows * cell + room.gap;
        m_sections.push_back(section);
    }
    m_height = y;
    return y;
}

void PoolGrid::fit(const std::vector<std::int64_t>& blocks, const Room& room, int largest)
{
    int cell = std::max(1, largest);
    while (cell > 1 && place(blocks, room, cell, 1) > room.height)
        --cell;
    std::int64_t perPixel = 1;
    if (cell == 1) {
        while (place(blocks, room, 1, perPixel) > room.height && perPixel < mostPerPixel)
            ++perPixel;
    }
    place(blocks, room, cell, perPixel);
}

void PoolGrid::arrange(const std::vector<std::int64_t>& blocks, const Room& room, int cell)
{
    place(blocks, room, cell, 1);
}

std::optional<BlockRef> PoolGrid::blockAt(const QPoint& point) const
{
    const int x = point.x() - m_gutter;
    if (x < 0 || x >= m_columns * m_cell)
        return {};
    for (const Section& section : m_sections) {
        if (point.y() < section.top || point.y() >= section.top + section.rows * m_cell)
            continue;
        const std::int64_t cell = std::int64_t {(point.y() - section.top) / m_cell} * m_columns + x / m_cell;
        const std::int64_t block = cell * m_perPixel;
        if (block < section.blocks)
            return BlockRef {section.pool, static_cast<std::uint32_t>(block)};
    }
    return {};
}

QRect PoolGrid::rectOf(const BlockRef& ref) const
{
    for (const Section& section : m_sections) {
        if (section.pool != ref.pool)
            continue;
        const std::int64_t cell = ref.block / m_perPixel;
        return {m_gutter + static_cast<int>(cell % m_columns) * m_cell,
            section.top + static_cast<int>(cell / m_columns) * m_cell, m_cell, m_cell};
    }
    return {};
}

} // namespace kvw::gui
