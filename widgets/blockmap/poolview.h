// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QAbstractScrollArea>
#include <QImage>

namespace kvw::gui {

/// The device's pools, block by block in order of their numbers, at any zoom. Follows and sets the map's selection and
/// hover.
class PoolView : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit PoolView(MapState& map, QWidget* parent = nullptr);

    void zoomIn();
    void zoomOut();
    void zoomFit();
    bool isFitted() const;
    /// Device pixels of one cell; 0 when several blocks share a pixel.
    int cellSize() const;
    /// Blocks in one row of a pool's grid.
    int columns() const;
    /// The block at a point of the viewport.
    std::optional<BlockRef> blockAt(const QPoint& point) const;
    /// Where a block is drawn, in the viewport's coordinates.
    QRectF rectOf(const BlockRef& ref) const;
    QSize sizeHint() const override;

signals:
    /// Cells or columns changed: a lens wants to know.
    void geometryChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    bool viewportEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    /// A pool's part of the picture, in device pixels of the whole content.
    struct Section
    {
        std::uint32_t pool = 0;
        std::int64_t blocks = 0;
        int titleTop = 0;
        int top = 0;
        int rows = 0;
    };

    void relayout();
    int arrange(int cell, std::int64_t perPixel);
    void setCell(int cell);
    void render();
    void paintLabels(QPainter& painter);
    void paintRings(QPainter& painter);
    void ring(QPainter& painter, const BlockRef& ref, bool strong);
    void reveal(const BlockRef& ref);
    void moveBy(std::int64_t blocks);
    QString poolTitle(std::uint32_t pool) const;

    MapState& m_map;
    QVector<Section> m_sections;
    int m_gutter = 0; ///< device pixels left of the grids, for block numbers
    int m_width = 0; ///< device pixels of the grids
    int m_columns = 1;
    int m_cell = 1; ///< device pixels; with m_perPixel > 1: 1
    std::int64_t m_perPixel = 1;
    bool m_fitted = true;
    int m_height = 0; ///< device pixels of the whole content
    QImage m_image;
    bool m_dirty = true;
};

} // namespace kvw::gui
