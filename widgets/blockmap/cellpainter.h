// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QImage>
#include <QRectF>

class QPainter;

namespace kvw::gui {

/// Draws grids of blocks into images, on whole device pixels: each look is drawn once at the size asked for and copied
/// row by row. Cells below 4 px are solid, from 4 px they have a gap and a pattern, from 8 px a fill.
class CellPainter
{
public:
    static constexpr int patternSize = 4;
    static constexpr int fillSize = 8;

    /// Cells of `size` device pixels in the looks of `state`. Build anew when they change.
    CellPainter(const MapState& state, int size);

    /// Blocks first … of a pool into `image`, row by row, `columns` a row, the first row's top at `top` (may be
    /// negative) and its left at `left`.
    void drawGrid(
        QImage& image, std::uint32_t pool, std::int64_t first, std::int64_t end, int columns, int left, int top) const;
    /// One cell.
    void drawCell(QImage& image, const BlockRef& ref, int left, int top) const;
    /// Several blocks a pixel: the mean of their colours; those that must not occur are never averaged away.
    void drawShares(QImage& image, std::uint32_t pool, std::int64_t perPixel, int columns, int left, int top) const;

    /// A look at `size` device pixels, for legends and rows.
    static QImage swatch(const MapVisual& visual, const QPalette& palette, int size);

private:
    static QImage drawLook(const MapVisual& visual, const QPalette& palette, int size, bool faded);
    const QImage& look(std::uint16_t visual) const;

    const MapState& m_state;
    int m_size;
    QVector<QImage> m_looks; ///< by index; faded ones after the others
    QVector<QRgb> m_means; ///< the same, as one colour
    QRgb m_ground;
    QRgb m_base;
};

/// What a large cell says: whose or what it is, and how many tables name it. In white or black, whichever is easier to
/// read.
void paintCellText(QPainter& painter, const MapState& map, const BlockRef& ref, const QRectF& rect);
/// White or black, whichever has the higher contrast on `ground`.
QColor inkOn(const QColor& ground);

} // namespace kvw::gui
