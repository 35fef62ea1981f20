// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/poolview.h"

#include "blockmap/cellpainter.h"
#include "models/numbertext.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr int largestFit = 28; ///< logical pixels of a cell when a small pool is fitted
constexpr int largestCell = 96;
constexpr int ringedCell = 8; ///< logical pixels from which a ring leaves something of the cell to be seen
constexpr int letterSize = 24; ///< logical pixels from which a cell has room for letters

} // namespace

PoolView::PoolView(MapState& map, QWidget* parent)
    : MapView(map, tr("Device pool"), parent)
{
    connect(&map, &MapState::sourceChanged, this, [this] {
        m_fitted = true;
        relayout();
    });
    connect(&map, &MapState::changed, this, [this] {
        m_dirty = true;
        viewport()->update();
    });
    connect(&map, &MapState::selectionChanged, this, [this] {
        if (const std::optional<BlockRef> ref = m_map.selectedBlock()) {
            if (!hasFocus())
                reveal(*ref);
            setAccessibleDescription(m_map.describe(*ref));
        }
        viewport()->update();
    });
}

QSize PoolView::sizeHint() const
{
    return {320, 320};
}

bool PoolView::isFitted() const
{
    return m_fitted;
}

int PoolView::cellSize() const
{
    return m_grid.perPixel() > 1 ? 0 : m_grid.cell();
}

int PoolView::columns() const
{
    return m_grid.columns();
}

void PoolView::relayout()
{
    const double ratio = devicePixelRatioF();
    std::vector<std::int64_t> blocks;
    if (m_map.source()) {
        for (const PoolSpec& pool : m_map.header().layout.pools)
            blocks.push_back(pool.blocks.value);
    }
    const std::int64_t most = blocks.empty() ? 0 : *std::max_element(blocks.begin(), blocks.end());
    const int digits = QFontMetrics(smallFont(font())).horizontalAdvance(countText(most));
    PoolGrid::Room room;
    room.gutter = static_cast<int>(std::ceil((digits + 8) * ratio));
    room.width = std::max(8, static_cast<int>(viewport()->width() * ratio) - room.gutter - static_cast<int>(4 * ratio));
    room.height = static_cast<int>(viewport()->height() * ratio);
    room.title = static_cast<int>((fontMetrics().height() + 6) * ratio);
    room.gap = static_cast<int>(4 * ratio);
    if (m_fitted)
        m_grid.fit(blocks, room, static_cast<int>(largestFit * ratio));
    else
        m_grid.arrange(blocks, room, m_cell);
    const int page = viewport()->height();
    verticalScrollBar()->setPageStep(page);
    verticalScrollBar()->setSingleStep(std::max(8, static_cast<int>(m_grid.cell() / ratio)));
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(m_grid.height() / ratio)) - page));
    m_dirty = true;
    viewport()->update();
    emit geometryChanged();
}

void PoolView::setCell(int cell)
{
    const std::optional<BlockRef> anchor
        = m_map.selectedBlock() ? m_map.selectedBlock() : blockAt({m_grid.gutter(), 40});
    m_fitted = false;
    m_cell = std::clamp(cell, 1, static_cast<int>(largestCell * devicePixelRatioF()));
    relayout();
    if (anchor)
        reveal(*anchor);
}

void PoolView::zoomIn()
{
    setCell(m_grid.perPixel() > 1 ? 1 : std::max(m_grid.cell() + 1, m_grid.cell() * 7 / 5));
}

void PoolView::zoomOut()
{
    if (m_fitted)
        return;
    const int before = m_grid.cell();
    m_fitted = true;
    relayout();
    // Never smaller than what fits.
    if (m_grid.perPixel() == 1 && m_grid.cell() < std::min(before - 1, before * 5 / 7))
        setCell(std::min(before - 1, before * 5 / 7));
}

void PoolView::zoomFit()
{
    m_fitted = true;
    relayout();
}

std::optional<BlockRef> PoolView::blockAt(const QPoint& point) const
{
    const double ratio = devicePixelRatioF();
    return m_grid.blockAt(
        {static_cast<int>(point.x() * ratio), static_cast<int>((point.y() + verticalScrollBar()->value()) * ratio)});
}

MapView::Spot PoolView::spotAt(const QPoint& point) const
{
    Spot out;
    out.block = m_map.source() ? blockAt(point) : std::nullopt;
    if (out.block) {
        const std::vector<TableUse> uses = usesOf(m_map.header(), m_map.state(), out.block->pool, out.block->block);
        if (!uses.empty())
            out.request = uses.front().request;
    }
    return out;
}

void PoolView::choose(const Spot& spot)
{
    if (spot.block)
        m_map.select(spot.block);
}

QString PoolView::describe(const Spot& spot) const
{
    return spot.block ? m_map.describe(*spot.block) : QString();
}

QRectF PoolView::rectOf(const BlockRef& ref) const
{
    const double ratio = devicePixelRatioF();
    const QRect rect = m_grid.rectOf(ref);
    return {
        rect.x() / ratio, rect.y() / ratio - verticalScrollBar()->value(), rect.width() / ratio, rect.height() / ratio};
}

void PoolView::reveal(const BlockRef& ref)
{
    const QRectF rect = rectOf(ref);
    if (rect.top() < 0)
        verticalScrollBar()->setValue(verticalScrollBar()->value() + static_cast<int>(rect.top()) - 8);
    else if (rect.bottom() > viewport()->height())
        verticalScrollBar()->setValue(
            verticalScrollBar()->value() + static_cast<int>(rect.bottom()) - viewport()->height() + 8);
}

void PoolView::render()
{
    m_dirty = false;
    const double ratio = devicePixelRatioF();
    const QSize size(static_cast<int>(std::ceil(viewport()->width() * ratio)),
        static_cast<int>(std::ceil(viewport()->height() * ratio)));
    if (m_image.size() != size)
        m_image = QImage(size, QImage::Format_RGB32);
    m_image.setDevicePixelRatio(1);
    m_image.fill(m_map.palette().color(QPalette::Base));
    const int scroll = static_cast<int>(verticalScrollBar()->value() * ratio);
    const CellPainter cells(m_map, m_grid.cell());
    for (const PoolGrid::Section& section : m_grid.sections()) {
        const int top = section.top - scroll;
        if (top > size.height() || top + section.rows * m_grid.cell() < 0)
            continue;
        if (m_grid.perPixel() > 1) {
            cells.drawShares(m_image, section.pool, m_grid.perPixel(), m_grid.columns(), m_grid.gutter(), top);
            continue;
        }
        const std::int64_t skipped = std::max(0, -top) / m_grid.cell();
        const std::int64_t shown = (size.height() - top) / m_grid.cell() + 1;
        cells.drawGrid(m_image, section.pool, skipped * m_grid.columns(),
            std::min(section.blocks, shown * m_grid.columns()), m_grid.columns(), m_grid.gutter(),
            top + static_cast<int>(skipped) * m_grid.cell());
    }
    m_image.setDevicePixelRatio(ratio);
}

QString PoolView::poolTitle(std::uint32_t pool) const
{
    const EventLogHeader& header = m_map.header();
    QStringList groups;
    for (const GroupLayout& group : header.layout.groups) {
        if (group.pool == pool)
            groups.push_back(QString::fromStdString(group.id));
    }
    const PoolSpec& spec = header.layout.pools[pool];
    const NumberText bytes = bytesText(spec.blockBytes.value);
    QString out = tr("%1: %2 blocks × %3 %4")
                      .arg(groups.join(QStringLiteral(", ")), countText(spec.blocks.value), bytes.number, bytes.unit);
    if (m_grid.perPixel() > 1)
        out += tr(", %1 a pixel").arg(countText(m_grid.perPixel()));
    return out;
}

void PoolView::paintLabels(QPainter& painter)
{
    const double ratio = devicePixelRatioF();
    const Tokens& tokens = tokensFor(m_map.palette());
    const int scroll = verticalScrollBar()->value();
    const QFont small = smallFont(font());
    for (const PoolGrid::Section& section : m_grid.sections()) {
        const double titleTop = section.titleTop / ratio - scroll;
        painter.setFont(font());
        painter.setPen(tokens.text);
        const QRectF title(m_grid.gutter() / ratio, titleTop, viewport()->width() - m_grid.gutter() / ratio,
            (section.top - section.titleTop) / ratio);
        painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(poolTitle(section.pool), Qt::ElideRight, static_cast<int>(title.width())));
        painter.setFont(small);
        painter.setPen(tokens.dimText);
        const int lineHeight = painter.fontMetrics().height();
        // A number every so many rows that they do not touch.
        int every = 1;
        while (every * m_grid.cell() / ratio < lineHeight + 10)
            every *= 2;
        for (int row = 0; row < section.rows; row += every) {
            const double y = (section.top + row * m_grid.cell()) / ratio - scroll;
            if (y < -lineHeight || y > viewport()->height())
                continue;
            const QRectF at(0, y + std::min(0.0, m_grid.cell() / ratio / 2 - lineHeight / 2.0),
                m_grid.gutter() / ratio - 6, std::max<double>(lineHeight, m_grid.cell() / ratio));
            painter.drawText(at, Qt::AlignRight | (row == 0 ? Qt::AlignTop : Qt::AlignVCenter),
                countText(std::int64_t {row} * m_grid.columns() * m_grid.perPixel()));
        }
    }
}

void PoolView::ring(QPainter& painter, const BlockRef& ref, bool strong)
{
    QRectF rect = rectOf(ref);
    if (rect.isEmpty() || rect.bottom() < 0 || rect.top() > viewport()->height())
        return;
    const double gap = m_grid.cell() >= CellPainter::patternSize ? 1 / devicePixelRatioF() : 0;
    rect.adjust(0, 0, -gap, -gap);
    const Tokens& tokens = tokensFor(m_map.palette());
    painter.setBrush(Qt::NoBrush);
    if (!strong) {
        painter.setPen(QPen(tokens.text, 1));
        painter.drawRect(rect.adjusted(-0.5, -0.5, 0.5, 0.5));
        return;
    }
    painter.setPen(QPen(m_map.palette().color(QPalette::Base), 2));
    painter.drawRect(rect.adjusted(-1, -1, 1, 1));
    painter.setPen(QPen(tokens.text, 2));
    painter.drawRect(rect.adjusted(-3, -3, 3, 3));
}

/// Where rings would cover the cells, what is not the request's steps back instead.
void PoolView::paintOthersPale(QPainter& painter, const RequestTrace& request)
{
    if (m_grid.perPixel() > 1)
        return;
    QRegion others;
    for (const PoolGrid::Section& section : m_grid.sections()) {
        if (section.blocks > 0)
            others += rectOf({section.pool, 0})
                          .united(rectOf({section.pool, static_cast<std::uint32_t>(section.blocks - 1)}))
                          .united(QRectF(m_grid.gutter() / devicePixelRatioF(), rectOf({section.pool, 0}).top(),
                              m_grid.columns() * m_grid.cell() / devicePixelRatioF(), 1))
                          .toAlignedRect();
    }
    QRegion own;
    for (std::size_t g = 0; g < request.tables.size(); ++g) {
        for (const std::uint32_t block : request.tables[g]) {
            if (block != noTableBlock)
                own += rectOf({m_map.header().layout.groups[g].pool, block}).toAlignedRect();
        }
    }
    QColor veil = m_map.palette().color(QPalette::Base);
    veil.setAlphaF(m_map.selectedRequest() ? 0.72F : 0.4F);
    painter.save();
    painter.setClipRegion(others - own);
    painter.fillRect(viewport()->rect(), veil);
    painter.restore();
}

void PoolView::paintRings(QPainter& painter)
{
    if (!m_map.source())
        return;
    const std::optional<std::uint32_t> request = m_map.focusRequest();
    const auto found = request ? m_map.state().requests.find(*request) : m_map.state().requests.end();
    const bool small = m_grid.cell() / devicePixelRatioF() < ringedCell;
    if (found != m_map.state().requests.end() && small)
        paintOthersPale(painter, found->second);
    if (found != m_map.state().requests.end() && !small) {
        for (std::size_t g = 0; g < found->second.tables.size(); ++g) {
            const std::uint32_t pool = m_map.header().layout.groups[g].pool;
            for (const std::uint32_t block : found->second.tables[g]) {
                if (block != noTableBlock)
                    ring(painter, {pool, block}, false);
            }
        }
    }
    if (m_map.selectedBlock())
        ring(painter, *m_map.selectedBlock(), true);
    if (m_map.hoveredBlock() && m_map.hoveredBlock() != m_map.selectedBlock())
        ring(painter, *m_map.hoveredBlock(), false);
}

void PoolView::paintTexts(QPainter& painter)
{
    painter.setFont(smallFont(font()));
    for (const PoolGrid::Section& section : m_grid.sections()) {
        const int above = static_cast<int>(verticalScrollBar()->value() * devicePixelRatioF()) - section.top;
        const std::int64_t first = std::int64_t {std::max(0, above) / m_grid.cell()} * m_grid.columns();
        for (std::int64_t b = first; b < section.blocks; ++b) {
            const BlockRef ref {section.pool, static_cast<std::uint32_t>(b)};
            const QRectF rect = rectOf(ref);
            if (rect.top() > viewport()->height())
                break;
            paintCellText(painter, m_map, ref, rect);
        }
    }
}

void PoolView::paintEvent(QPaintEvent*)
{
    const double ratio = devicePixelRatioF();
    if (m_dirty || m_image.devicePixelRatio() != ratio)
        render();
    QPainter painter(viewport());
    painter.drawImage(QPointF(0, 0), m_image);
    if (!m_map.source())
        return;
    paintLabels(painter);
    if (m_grid.cell() >= letterSize * ratio)
        paintTexts(painter);
    paintRings(painter);
    paintFocusFrame(painter);
}

void PoolView::resizeEvent(QResizeEvent* event)
{
    MapView::resizeEvent(event);
    relayout();
}

void PoolView::scrollContentsBy(int, int)
{
    m_dirty = true;
    viewport()->update();
}

void PoolView::moveBy(std::int64_t blocks)
{
    const BlockRef from = m_map.selectedBlock().value_or(BlockRef {});
    const std::int64_t last = m_map.header().layout.pools[from.pool].blocks.value - 1;
    const std::int64_t to = std::int64_t {from.block} + blocks;
    BlockRef ref = from;
    if (to > last && from.pool + 1 < m_map.header().layout.pools.size() && from.block == last)
        ref = {from.pool + 1, 0};
    else if (to < 0 && from.pool > 0 && from.block == 0)
        ref = {from.pool - 1, static_cast<std::uint32_t>(m_map.header().layout.pools[from.pool - 1].blocks.value - 1)};
    else
        ref.block = static_cast<std::uint32_t>(std::clamp<std::int64_t>(to, 0, last));
    m_map.select(ref);
    reveal(ref);
}

void PoolView::keyPressEvent(QKeyEvent* event)
{
    if (!m_map.source() || event->modifiers().testFlag(Qt::AltModifier)) {
        MapView::keyPressEvent(event);
        return;
    }
    const std::int64_t row = std::int64_t {m_grid.columns()} * m_grid.perPixel();
    const std::int64_t page
        = row * std::max(1, static_cast<int>(viewport()->height() * devicePixelRatioF()) / m_grid.cell());
    switch (event->key()) {
    case Qt::Key_Left:
        return moveBy(-1);
    case Qt::Key_Right:
        return moveBy(1);
    case Qt::Key_Up:
        return moveBy(-row);
    case Qt::Key_Down:
        return moveBy(row);
    case Qt::Key_PageUp:
        return moveBy(-page);
    case Qt::Key_PageDown:
        return moveBy(page);
    case Qt::Key_Home:
        return moveBy(INT32_MIN);
    case Qt::Key_End:
        return moveBy(INT32_MAX);
    default:
        MapView::keyPressEvent(event);
    }
}

void PoolView::wheelEvent(QWheelEvent* event)
{
    if (!event->modifiers().testFlag(Qt::ControlModifier)) {
        MapView::wheelEvent(event);
        return;
    }
    if (event->angleDelta().y() > 0)
        zoomIn();
    else
        zoomOut();
    event->accept();
}

} // namespace kvw::gui
