// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/requestsview.h"

#include "models/numbertext.h"
#include "style/tokens.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr int tallRow = 20;
constexpr int lowRowsFrom = 39; ///< so many rows of 20 px would be too much
constexpr int pixelRowsFrom = 401;

QString requestsText(int count)
{
    return count == 1 ? RequestsView::tr("1 request") : RequestsView::tr("%1 requests").arg(countText(count));
}

} // namespace

RequestsView::RequestsView(MapState& map, QWidget* parent)
    : MapView(map, tr("Requests and their block tables"), parent)
{
    connect(&map, &MapState::changed, this, &RequestsView::refresh);
    connect(&map, &MapState::selectionChanged, this, [this] {
        if (const std::optional<std::uint32_t> request = m_map.selectedRequest()) {
            const QRect rect = rowRect(*request);
            if (!rect.isEmpty() && (rect.top() < axisHeight() || rect.bottom() > viewport()->height()))
                verticalScrollBar()->setValue(verticalScrollBar()->value() + rect.top() - viewport()->height() / 2);
            setAccessibleDescription(tr("Request r%1").arg(*request));
        }
        viewport()->update();
    });
}

QSize RequestsView::sizeHint() const
{
    return {520, 360};
}

const RequestRows& RequestsView::rows() const
{
    return m_rows;
}

int RequestsView::axisHeight() const
{
    return fontMetrics().height() + 8;
}

int RequestsView::labelWidth() const
{
    return fontMetrics().height() + fontMetrics().horizontalAdvance(QStringLiteral("r0000 00,000")) + 16;
}

TokenAxis RequestsView::axis() const
{
    const double left = labelWidth();
    return {left, viewport()->width() - left - 12, m_rows.mostTokens};
}

void RequestsView::refresh()
{
    m_rows = RequestRows::of(m_map);
    relayout();
    QString title = tr("%1 running").arg(countText(m_rows.running));
    if (m_rows.preempted > 0)
        title += tr(", %1 preempted").arg(countText(m_rows.preempted));
    if (m_rows.waiting > 0)
        title += tr(", %1 waiting").arg(countText(m_rows.waiting));
    emit titleChanged(title);
}

void RequestsView::relayout()
{
    const int count = static_cast<int>(m_rows.rows.size());
    m_rowHeight = count >= pixelRowsFrom ? 1 : count >= lowRowsFrom ? RequestPainter::lowRow : tallRow;
    m_places.clear();
    m_sectionTops.clear();
    const int header = fontMetrics().height() + 6;
    int y = 0;
    int row = 0;
    for (const RequestSection& section : std::as_const(m_rows.sections)) {
        m_sectionTops.push_back(y);
        y += header;
        for (int i = 0; i < section.rows; ++i, ++row, y += m_rowHeight)
            m_places.push_back({row, y});
        y += 4;
    }
    m_height = y;
    const int page = viewport()->height() - axisHeight();
    verticalScrollBar()->setPageStep(page);
    verticalScrollBar()->setSingleStep(tallRow);
    verticalScrollBar()->setRange(0, std::max(0, m_height - page));
    viewport()->update();
}

QRect RequestsView::rowRect(std::uint32_t request) const
{
    for (const Place& place : m_places) {
        if (m_rows.rows[place.row].request == request)
            return {0, axisHeight() + place.top - verticalScrollBar()->value(), viewport()->width(), m_rowHeight};
    }
    return {};
}

/// The block at this token of a row, in a group's table, or what a preempted request held there.
std::optional<BlockRef> RequestsView::blockOf(const RequestRow& row, std::size_t group, double token) const
{
    const GroupLayout& layout = m_map.header().layout.groups[group];
    const auto position = static_cast<std::size_t>(token) / static_cast<std::size_t>(layout.blockTokens);
    if (row.trace->phase == RequestPhase::Preempted) {
        if (group < row.trace->former.size() && position < row.trace->former[group].size())
            return BlockRef {layout.pool, row.trace->former[group][position].block};
        return {};
    }
    const std::vector<std::uint32_t>& table = row.trace->tables[group];
    if (position < table.size() && table[position] != noTableBlock)
        return BlockRef {layout.pool, table[position]};
    return {};
}

MapView::Spot RequestsView::spotAt(const QPoint& point) const
{
    Spot out;
    const int y = point.y() - axisHeight() + verticalScrollBar()->value();
    if (point.y() < axisHeight() || !m_map.source())
        return out;
    const auto after = std::upper_bound(
        m_places.begin(), m_places.end(), y, [](int wanted, const Place& place) { return wanted < place.top; });
    if (after == m_places.begin() || y >= (after - 1)->top + m_rowHeight)
        return out;
    const Place& place = *(after - 1);
    const RequestRow& row = m_rows.rows[place.row];
    out.request = row.request;
    const double token = axis().tokenAt(point.x());
    if (token < 0)
        return out;
    // The lowest pixels belong to the groups with a window.
    std::size_t group = barGroup(m_map.header());
    if (m_map.header().layout.groups.size() > 1 && y - place.top >= m_rowHeight - RequestPainter::windowLine - 2)
        group = group == 0 ? 1 : 0;
    out.block = blockOf(row, group, token);
    return out;
}

void RequestsView::choose(const Spot& spot)
{
    if (spot.request)
        m_map.select(spot.block ? spot.block : m_map.selectedBlock(), spot.request);
}

QString RequestsView::describe(const Spot& spot) const
{
    QString out;
    if (spot.request)
        out = QStringLiteral("r%1").arg(*spot.request);
    if (spot.block)
        out += QStringLiteral(" · ") + m_map.describe(*spot.block);
    return out;
}

void RequestsView::paintAxis(QPainter& painter)
{
    const TokenAxis along = axis();
    const Tokens& tokens = tokensFor(m_map.palette());
    painter.setFont(smallFont(font()));
    const int width = painter.fontMetrics().horizontalAdvance(countText(m_rows.mostTokens)) + 24;
    // Steps of 1, 2, 5 times a power of two blocks would be odd numbers: multiples of the block, doubled.
    std::int64_t every = m_map.header().layout.groups.empty() ? 16 : m_map.header().layout.groups.front().blockTokens;
    while (m_rows.mostTokens > 0 && along.xOf(every) - along.xOf(0) < width)
        every *= 2;
    for (std::int64_t token = 0; token <= m_rows.mostTokens; token += every) {
        const double x = std::floor(along.xOf(token)) + 0.5;
        painter.setPen(tokens.dimText);
        painter.drawText(
            QRectF(x - width, 0, 2 * width, axisHeight() - 6), Qt::AlignHCenter | Qt::AlignVCenter, countText(token));
        painter.setPen(tokens.hairLine);
        painter.drawLine(QPointF(x, axisHeight() - 4), QPointF(x, viewport()->height()));
        if (m_rows.mostTokens == 0)
            break;
    }
}

void RequestsView::paintSections(QPainter& painter)
{
    const Tokens& tokens = tokensFor(m_map.palette());
    QFont strong = font();
    strong.setWeight(QFont::DemiBold);
    for (int s = 0; s < m_rows.sections.size(); ++s) {
        const QRect rect(0, axisHeight() + m_sectionTops[s] - verticalScrollBar()->value(), viewport()->width(),
            fontMetrics().height() + 6);
        painter.fillRect(rect, m_map.palette().color(QPalette::AlternateBase));
        painter.setFont(strong);
        painter.setPen(tokens.text);
        painter.drawText(rect.adjusted(6, 0, -6, 0), Qt::AlignLeft | Qt::AlignVCenter, m_rows.sections[s].title);
        painter.setFont(smallFont(font()));
        painter.setPen(tokens.dimText);
        painter.drawText(rect.adjusted(6, 0, -6, 0), Qt::AlignRight | Qt::AlignVCenter,
            requestsText(m_rows.sections[s].rows)
                + (m_map.source()->domains.empty() ? QString() : tr(", one sharing domain")));
    }
}

void RequestsView::paintFocus(QPainter& painter)
{
    const TokenAxis along = axis();
    const std::optional<BlockRef> focus = m_map.focusBlock();
    if (!focus)
        return;
    const Tokens& tokens = tokensFor(m_map.palette());
    const std::size_t bar = barGroup(m_map.header());
    double top = 0;
    double bottom = 0;
    double line = -1;
    for (const TableUse& use : usesOf(m_map.header(), m_map.state(), focus->pool, focus->block)) {
        const QRect row = rowRect(use.request);
        if (row.isEmpty())
            continue;
        const std::int64_t tokensPerBlock = m_map.header().layout.groups[use.group].blockTokens;
        const double left = along.xOf(use.position * tokensPerBlock);
        const double right = along.xOf((use.position + 1) * tokensPerBlock);
        const bool window = use.group != bar;
        QRectF mark(left, row.top() + 1, std::max(2.0, right - left), row.height() - 2);
        if (window)
            mark.setTop(mark.bottom() - RequestPainter::windowLine - 2);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(m_map.palette().color(QPalette::Base), 1));
        painter.drawRect(mark.adjusted(-0.5, 0.5, 0.5, -0.5));
        painter.setPen(QPen(tokens.text, 1));
        painter.drawRect(mark.adjusted(-1.5, -0.5, 1.5, 0.5));
        line = std::floor((left + right) / 2) + 0.5;
        top = axisHeight() - 4;
        bottom = std::max<double>(bottom, row.bottom());
    }
    if (line >= 0) {
        painter.setPen(QPen(tokens.text, 1));
        painter.drawLine(QPointF(line, top), QPointF(line, bottom));
    }
}

void RequestsView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), m_map.palette().color(QPalette::Base));
    if (!m_map.source())
        return;
    const Tokens& tokens = tokensFor(m_map.palette());
    paintAxis(painter);
    painter.save();
    painter.setClipRect(0, axisHeight(), viewport()->width(), viewport()->height() - axisHeight());
    paintSections(painter);
    const RequestPainter rows(m_map, axis(), font());
    for (const Place& place : std::as_const(m_places)) {
        const QRect rect(0, axisHeight() + place.top - verticalScrollBar()->value(), viewport()->width(), m_rowHeight);
        if (rect.bottom() >= axisHeight() && rect.top() <= viewport()->height())
            rows.paint(painter, m_rows.rows[place.row], rect);
    }
    painter.restore();
    paintFocus(painter);
    if (m_rows.rows.isEmpty()) {
        painter.setPen(tokens.dimText);
        painter.setFont(font());
        painter.drawText(viewport()->rect(), Qt::AlignCenter, tr("No request holds a block at the end of this step."));
    }
    paintFocusFrame(painter);
}

void RequestsView::resizeEvent(QResizeEvent* event)
{
    MapView::resizeEvent(event);
    relayout();
}

void RequestsView::moveRow(int by, bool sameBlock)
{
    const auto current = std::find_if(m_rows.rows.begin(), m_rows.rows.end(),
        [&](const RequestRow& row) { return m_map.selectedRequest() == row.request; });
    auto at = static_cast<int>(current - m_rows.rows.begin());
    if (current == m_rows.rows.end())
        at = by > 0 ? -1 : static_cast<int>(m_rows.rows.size());
    const std::optional<BlockRef> block = m_map.selectedBlock();
    for (at += by; at >= 0 && at < m_rows.rows.size(); at += by) {
        const RequestRow& row = m_rows.rows[at];
        if (!sameBlock || !block)
            return m_map.select(block, row.request);
        const std::vector<TableUse> uses = usesOf(m_map.header(), m_map.state(), block->pool, block->block);
        if (std::any_of(uses.begin(), uses.end(), [&](const TableUse& use) { return use.request == row.request; }))
            return m_map.select(block, row.request);
    }
}

void RequestsView::moveBlock(int by)
{
    const std::optional<std::uint32_t> request = m_map.selectedRequest();
    const auto found = request ? m_map.state().requests.find(*request) : m_map.state().requests.end();
    if (found == m_map.state().requests.end() || found->second.tables.empty())
        return moveRow(1, false);
    std::size_t group = barGroup(m_map.header());
    std::int64_t at = -1;
    if (const std::optional<BlockRef> block = m_map.selectedBlock()) {
        for (const TableUse& use : usesOf(m_map.header(), m_map.state(), block->pool, block->block)) {
            if (use.request == *request) {
                group = use.group;
                at = use.position;
            }
        }
    }
    const std::vector<std::uint32_t>& table = found->second.tables[group];
    for (at += by; at >= 0 && at<static_cast<std::int64_t>(table.size()); at += by> 0 ? 1 : -1) {
        const std::uint32_t block = table[static_cast<std::size_t>(at)];
        if (block != noTableBlock)
            return m_map.select(BlockRef {m_map.header().layout.groups[group].pool, block}, request);
    }
}

void RequestsView::keyPressEvent(QKeyEvent* event)
{
    if (!m_map.source())
        return MapView::keyPressEvent(event);
    const bool alt = event->modifiers().testFlag(Qt::AltModifier);
    switch (event->key()) {
    case Qt::Key_Up:
        return moveRow(-1, alt);
    case Qt::Key_Down:
        return moveRow(1, alt);
    case Qt::Key_Left:
        return moveBlock(-1);
    case Qt::Key_Right:
        return moveBlock(1);
    default:
        MapView::keyPressEvent(event);
    }
}

} // namespace kvw::gui
