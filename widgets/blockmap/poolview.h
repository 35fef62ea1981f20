// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapview.h"
#include "blockmap/poolgrid.h"

#include <QImage>

namespace kvw::gui {

/// The device's pools, block by block in order of their numbers, at any zoom. Follows and sets the map's selection and
/// hover.
class PoolView : public MapView
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
    Spot spotAt(const QPoint& point) const override;
    /// Where a block is drawn, in the viewport's coordinates.
    QRectF rectOf(const BlockRef& ref) const;
    QSize sizeHint() const override;

signals:
    /// Cells or columns changed: a lens wants to know.
    void geometryChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;
    void choose(const Spot& spot) override;
    QString describe(const Spot& spot) const override;

private:
    void relayout();
    void setCell(int cell);
    void render();
    void paintLabels(QPainter& painter);
    void paintTexts(QPainter& painter);
    void paintRings(QPainter& painter);
    void paintOthersPale(QPainter& painter, const RequestTrace& request);
    void ring(QPainter& painter, const BlockRef& ref, bool strong);
    void reveal(const BlockRef& ref);
    void moveBy(std::int64_t blocks);
    QString poolTitle(std::uint32_t pool) const;

    PoolGrid m_grid;
    bool m_fitted = true;
    int m_cell = 1; ///< device pixels that were asked for, when not fitted
    QImage m_image;
    bool m_dirty = true;
};

} // namespace kvw::gui
