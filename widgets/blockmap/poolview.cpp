// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/poolview.h"

#include "blockmap/cellpainter.h"
#include "models/numbertext.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr int largestFit = 28; ///< logical pixels of a cell when a small pool is fitted
constexpr int largestCell = 96;
constexpr int letterSize = 24; ///< logical pixels from which a cell has room for letters

QFont smallFont(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 0.92);
    return font;
}

} // namespace

PoolView::PoolView(MapState& map, QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_map(map)
{
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Device pool"));
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
    connect(&map, &MapState::hoverChanged, viewport(), qOverload<>(&QWidget::update));
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
    return m_perPixel > 1 ? 0 : m_cell;
}

int PoolView::columns() const
{
    return m_columns;
}

/// Lays the sections out for this cell size; returns the height in device pixels.
int PoolView::arrange(int cell, std::int64_t perPixel)
{
    const double ratio = devicePixelRatioF();
    m_cell = cell;
    m_perPixel = perPixel;
    int columns = std::max(1, m_width / cell);
    if (columns > 16)
        columns -= columns % (columns < 64 ? 4 : 8); // round numbers at the left
    m_columns = columns;
    const int title = static_cast<int>((fontMetrics().height() + 6) * ratio);
    int y = 0;
    m_sections.clear();
    for (std::uint32_t p = 0; m_map.source() && p < m_map.header().layout.pools.size(); ++p) {
        const auto blocks = static_cast<std::int64_t>(m_map.visualsOf(p).size());
        Section section {p, blocks, y, y + title, 0};
        const std::int64_t cells = (blocks + perPixel - 1) / perPixel;
        section.rows = static_cast<int>((cells + columns - 1) / columns);
        y = section.top + section.rows * cell + static_cast<int>(4 * ratio);
        m_sections.push_back(section);
    }
    return y;
}

void PoolView::relayout()
{
    const double ratio = devicePixelRatioF();
    std::int64_t most = 0;
    if (m_map.source()) {
        for (const PoolSpec& pool : m_map.header().layout.pools)
            most = std::max(most, pool.blocks.value);
    }
    const int digits = QFontMetrics(smallFont(font())).horizontalAdvance(countText(most));
    m_gutter = static_cast<int>(std::ceil((digits + 8) * ratio));
    const int viewHeight = static_cast<int>(viewport()->height() * ratio);
    m_width = std::max(8, static_cast<int>(viewport()->width() * ratio) - m_gutter - static_cast<int>(4 * ratio));
    if (m_fitted) {
        int cell = static_cast<int>(largestFit * ratio);
        while (cell > 1 && arrange(cell, 1) > viewHeight)
            --cell;
        std::int64_t perPixel = 1;
        if (cell == 1) {
            while (arrange(1, perPixel) > viewHeight && perPixel < (std::int64_t {1} << 20))
                ++perPixel;
        }
        m_height = arrange(cell, perPixel);
    } else {
        m_height = arrange(m_cell, 1);
    }
    const int page = viewport()->height();
    verticalScrollBar()->setPageStep(page);
    verticalScrollBar()->setSingleStep(std::max(8, static_cast<int>(m_cell / ratio)));
    verticalScrollBar()->setRange(0, std::max(0, static_cast<int>(std::ceil(m_height / ratio)) - page));
    m_dirty = true;
    viewport()->update();
    emit geometryChanged();
}

void PoolView::setCell(int cell)
{
    const std::optional<BlockRef> anchor = m_map.selectedBlock() ? m_map.selectedBlock() : blockAt({m_gutter, 40});
    m_fitted = false;
    m_cell = std::clamp(cell, 1, static_cast<int>(largestCell * devicePixelRatioF()));
    m_perPixel = 1;
    relayout();
    if (anchor)
        reveal(*anchor);
}

void PoolView::zoomIn()
{
    setCell(m_perPixel > 1 ? 1 : std::max(m_cell + 1, m_cell * 7 / 5));
}

void PoolView::zoomOut()
{
    if (m_fitted)
        return;
    const int before = m_cell;
    m_fitted = true;
    relayout();
    // Never smaller than what fits.
    if (m_perPixel == 1 && m_cell < std::min(before - 1, before * 5 / 7))
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
    const int x = static_cast<int>(point.x() * ratio) - m_gutter;
    const int y = static_cast<int>((point.y() + verticalScrollBar()->value()) * ratio);
    if (x < 0 || x >= m_columns * m_cell)
        return {};
    for (const Section& section : m_sections) {
        if (y < section.top || y >= section.top + section.rows * m_cell)
            continue;
        const std::int64_t cell = std::int64_t {(y - section.top) / m_cell} * m_columns + x / m_cell;
        const std::int64_t block = cell * m_perPixel;
        if (block < section.blocks)
            return BlockRef {section.pool, static_cast<std::uint32_t>(block)};
    }
    return {};
}

QRectF PoolView::rectOf(const BlockRef& ref) const
{
    const double ratio = devicePixelRatioF();
    for (const Section& section : m_sections) {
        if (section.pool != ref.pool)
            continue;
        const std::int64_t cell = ref.block / m_perPixel;
        const double x = static_cast<double>(m_gutter + cell % m_columns * m_cell);
        const double y = static_cast<double>(section.top + cell / m_columns * m_cell);
        return {x / ratio, y / ratio - verticalScrollBar()->value(), m_cell / ratio, m_cell / ratio};
    }
    return {};
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
    const CellPainter cells(m_map, m_cell);
    for (const Section& section : std::as_const(m_sections)) {
        const int top = section.top - scroll;
        if (top > size.height() || top + section.rows * m_cell < 0)
            continue;
        if (m_perPixel > 1) {
            cells.drawShares(m_image, section.pool, m_perPixel, m_columns, m_gutter, top);
            continue;
        }
        const std::int64_t skipped = std::max(0, -top) / m_cell;
        const std::int64_t shown = (size.height() - top) / m_cell + 1;
        cells.drawGrid(m_image, section.pool, skipped * m_columns, std::min(section.blocks, shown * m_columns),
            m_columns, m_gutter, top + static_cast<int>(skipped) * m_cell);
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
    if (m_perPixel > 1)
        out += tr(", %1 a pixel").arg(countText(m_perPixel));
    return out;
}

void PoolView::paintLabels(QPainter& painter)
{
    const double ratio = devicePixelRatioF();
    const Tokens& tokens = tokensFor(m_map.palette());
    const int scroll = verticalScrollBar()->value();
    const QFont small = smallFont(font());
    for (const Section& section : std::as_const(m_sections)) {
        const double titleTop = section.titleTop / ratio - scroll;
        painter.setFont(font());
        painter.setPen(tokens.text);
        const QRectF title(m_gutter / ratio, titleTop, viewport()->width() - m_gutter / ratio,
            (section.top - section.titleTop) / ratio);
        painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
            painter.fontMetrics().elidedText(poolTitle(section.pool), Qt::ElideRight, static_cast<int>(title.width())));
        painter.setFont(small);
        painter.setPen(tokens.dimText);
        const int lineHeight = painter.fontMetrics().height();
        // A number every so many rows that they do not touch.
        int every = 1;
        while (every * m_cell / ratio < lineHeight + 10)
            every *= 2;
        for (int row = 0; row < section.rows; row += every) {
            const double y = (section.top + row * m_cell) / ratio - scroll;
            if (y < -lineHeight || y > viewport()->height())
                continue;
            const QRectF at(0, y + std::min(0.0, m_cell / ratio / 2 - lineHeight / 2.0), m_gutter / ratio - 6,
                std::max<double>(lineHeight, m_cell / ratio));
            painter.drawText(at, Qt::AlignRight | (row == 0 ? Qt::AlignTop : Qt::AlignVCenter),
                countText(std::int64_t {row} * m_columns * m_perPixel));
        }
    }
}

void PoolView::ring(QPainter& painter, const BlockRef& ref, bool strong)
{
    QRectF rect = rectOf(ref);
    if (rect.isEmpty() || rect.bottom() < 0 || rect.top() > viewport()->height())
        return;
    const double gap = m_cell >= CellPainter::patternSize ? 1 / devicePixelRatioF() : 0;
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

void PoolView::paintRings(QPainter& painter)
{
    if (!m_map.source())
        return;
    const std::optional<std::uint32_t> request = m_map.focusRequest();
    const auto found = request ? m_map.state().requests.find(*request) : m_map.state().requests.end();
    if (found != m_map.state().requests.end() && m_cell / devicePixelRatioF() >= 3) {
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
    if (m_cell >= letterSize * ratio) {
        const QFont small = smallFont(font());
        painter.setFont(small);
        for (const Section& section : std::as_const(m_sections)) {
            for (std::int64_t b = 0; b < section.blocks; ++b) {
                const BlockRef ref {section.pool, static_cast<std::uint32_t>(b)};
                const QRectF rect = rectOf(ref);
                if (rect.top() > viewport()->height())
                    break;
                if (rect.bottom() >= 0)
                    paintCellText(painter, m_map, ref, rect);
            }
        }
    }
    paintRings(painter);
    if (hasFocus()) {
        painter.setPen(QPen(m_map.palette().color(QPalette::Highlight), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

void PoolView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    relayout();
}

void PoolView::scrollContentsBy(int, int)
{
    m_dirty = true;
    viewport()->update();
}

void PoolView::mouseMoveEvent(QMouseEvent* event)
{
    const std::optional<BlockRef> ref = m_map.source() ? blockAt(event->pos()) : std::nullopt;
    std::optional<std::uint32_t> request;
    if (ref) {
        const std::vector<TableUse> uses = usesOf(m_map.header(), m_map.state(), ref->pool, ref->block);
        if (!uses.empty())
            request = uses.front().request;
    }
    m_map.hover(ref, request);
}

bool PoolView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        m_map.hover({});
    if (event->type() == QEvent::ToolTip && m_map.source()) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const std::optional<BlockRef> ref = blockAt(help->pos()))
            QToolTip::showText(help->globalPos(), m_map.describe(*ref), viewport());
        else
            QToolTip::hideText();
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void PoolView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_map.source()) {
        if (const std::optional<BlockRef> ref = blockAt(event->pos()))
            m_map.select(ref);
    }
    QAbstractScrollArea::mousePressEvent(event);
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
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    const std::int64_t row = std::int64_t {m_columns} * m_perPixel;
    const std::int64_t page = row * std::max(1, static_cast<int>(viewport()->height() * devicePixelRatioF()) / m_cell);
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
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void PoolView::wheelEvent(QWheelEvent* event)
{
    if (!event->modifiers().testFlag(Qt::ControlModifier)) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    if (event->angleDelta().y() > 0)
        zoomIn();
    else
        zoomOut();
    event->accept();
}

void PoolView::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void PoolView::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace kvw::gui
