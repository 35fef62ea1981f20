// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/lensview.h"

#include "blockmap/cellpainter.h"
#include "blockmap/poolview.h"
#include "models/numbertext.h"
#include "style/tokens.h"

#include <QMouseEvent>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr int cellSize = 30; ///< logical pixels

} // namespace

LensView::LensView(MapState& map, const PoolView& pool, QWidget* parent)
    : QWidget(parent)
    , m_map(map)
    , m_pool(pool)
{
    setAccessibleName(tr("Blocks around the focus"));
    connect(&map, &MapState::changed, this, &LensView::refresh);
    connect(&map, &MapState::selectionChanged, this, &LensView::refresh);
    connect(&map, &MapState::hoverChanged, this, &LensView::refresh);
    connect(&pool, &PoolView::geometryChanged, this, &LensView::refresh);
}

QSize LensView::sizeHint() const
{
    return {320, 4 * cellSize + 2};
}

QSize LensView::minimumSizeHint() const
{
    return {120, 2 * cellSize + 2};
}

void LensView::refresh()
{
    const std::optional<BlockRef> focus = m_map.source() ? m_map.focusBlock() : std::nullopt;
    emit titleChanged(focus ? tr("Around block %1").arg(countText(focus->block)) : tr("First blocks"));
    update();
}

LensView::Window LensView::window() const
{
    const BlockRef focus = m_map.focusBlock().value_or(BlockRef {});
    const int gutter = m_pool.viewport() ? fontMetrics().horizontalAdvance(QStringLiteral("000,000")) : 0;
    Window out;
    out.pool = focus.pool;
    const auto blocks = static_cast<std::int64_t>(m_map.visualsOf(focus.pool).size());
    const int all = std::max(1, m_pool.columns());
    out.columns = std::clamp((width() - gutter) / cellSize, 1, all);
    out.rows = std::max(1, height() / cellSize);
    const std::int64_t row = focus.block / static_cast<unsigned>(all);
    const auto column = static_cast<int>(focus.block % static_cast<unsigned>(all));
    out.firstColumn = std::clamp(column - out.columns / 2, 0, all - out.columns);
    const std::int64_t lastRow = (blocks - 1) / all;
    out.firstRow = std::max<std::int64_t>(0, std::min(row - out.rows / 2, lastRow - out.rows + 1));
    return out;
}

std::optional<BlockRef> LensView::blockAt(const QPoint& point) const
{
    if (!m_map.source())
        return {};
    const Window shown = window();
    const int x = point.x() - fontMetrics().horizontalAdvance(QStringLiteral("000,000"));
    if (x < 0 || x / cellSize >= shown.columns || point.y() / cellSize >= shown.rows)
        return {};
    const std::int64_t block
        = (shown.firstRow + point.y() / cellSize) * m_pool.columns() + shown.firstColumn + x / cellSize;
    if (block >= static_cast<std::int64_t>(m_map.visualsOf(shown.pool).size()))
        return {};
    return BlockRef {shown.pool, static_cast<std::uint32_t>(block)};
}

void LensView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), m_map.palette().color(QPalette::Base));
    if (!m_map.source())
        return;
    const double ratio = devicePixelRatioF();
    const Window shown = window();
    const int gutter = fontMetrics().horizontalAdvance(QStringLiteral("000,000"));
    const auto cell = static_cast<int>(cellSize * ratio);
    QImage image(static_cast<int>(std::ceil(width() * ratio)), static_cast<int>(std::ceil(height() * ratio)),
        QImage::Format_RGB32);
    image.fill(m_map.palette().color(QPalette::Base));
    const CellPainter cells(m_map, cell);
    const auto blocks = static_cast<std::int64_t>(m_map.visualsOf(shown.pool).size());
    const auto blockOf
        = [&](int row, int column) { return (shown.firstRow + row) * m_pool.columns() + shown.firstColumn + column; };
    for (int row = 0; row < shown.rows; ++row) {
        for (int column = 0; column < shown.columns && blockOf(row, column) < blocks; ++column) {
            cells.drawCell(image, {shown.pool, static_cast<std::uint32_t>(blockOf(row, column))},
                static_cast<int>(gutter * ratio) + column * cell, row * cell);
        }
    }
    image.setDevicePixelRatio(ratio);
    painter.drawImage(QPointF(0, 0), image);

    const Tokens& tokens = tokensFor(m_map.palette());
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.92);
    painter.setFont(small);
    for (int row = 0; row < shown.rows && blockOf(row, 0) < blocks; ++row) {
        painter.setPen(tokens.dimText);
        painter.drawText(QRect(0, row * cellSize, gutter - 6, cellSize), Qt::AlignRight | Qt::AlignVCenter,
            countText(blockOf(row, 0)));
        for (int column = 0; column < shown.columns && blockOf(row, column) < blocks; ++column) {
            const BlockRef ref {shown.pool, static_cast<std::uint32_t>(blockOf(row, column))};
            const QRectF at(gutter + column * cellSize, row * cellSize, cellSize, cellSize);
            paintCellText(painter, m_map, ref, at);
            if (ref == m_map.focusBlock()) {
                painter.setBrush(Qt::NoBrush);
                painter.setPen(QPen(m_map.palette().color(QPalette::Base), 2));
                painter.drawRect(at.adjusted(3, 3, -4, -4));
                painter.setPen(QPen(tokens.text, 2));
                painter.drawRect(at.adjusted(1, 1, -2, -2));
            }
        }
    }
}

void LensView::mousePressEvent(QMouseEvent* event)
{
    if (const std::optional<BlockRef> ref = blockAt(event->pos()))
        m_map.select(ref);
}

} // namespace kvw::gui
