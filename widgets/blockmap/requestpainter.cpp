// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/requestpainter.h"

#include "blockmap/cellpainter.h"
#include "blockmap/mapview.h"
#include "models/numbertext.h"
#include "style/tokens.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int nothing = -1; ///< the look of a position without a block

/// Calls `draw(from, to)` for each run of neighbours that look alike.
template <typename Look, typename Draw>
void eachRun(std::size_t count, Look look, Draw draw)
{
    for (std::size_t from = 0; from < count;) {
        const int first = look(from);
        std::size_t to = from + 1;
        while (to < count && look(to) == first)
            ++to;
        draw(from, to, first);
        from = to;
    }
}

} // namespace

double TokenAxis::xOf(std::int64_t token) const
{
    return left + room * static_cast<double>(token) / static_cast<double>(std::max<std::int64_t>(1, tokens));
}

double TokenAxis::tokenAt(double x) const
{
    return (x - left) / room * static_cast<double>(tokens);
}

RequestPainter::RequestPainter(const MapState& map, const TokenAxis& axis, const QFont& font)
    : m_map(map)
    , m_axis(axis)
    , m_font(font)
{}

void RequestPainter::paintRun(QPainter& painter, const QRectF& rect, std::uint16_t visual) const
{
    const MapVisual& look = m_map.visuals()[visual & ~MapState::fadedBit];
    const bool faded = (visual & MapState::fadedBit) != 0;
    const auto color = [&](QColor c) {
        if (faded)
            c.setAlphaF(0.22F);
        return c;
    };
    painter.fillRect(rect, color(look.fill));
    if (look.lower.isValid())
        painter.fillRect(rect.adjusted(0, rect.height() / 2, 0, 0), color(look.lower));
    if (look.pattern == MapVisual::Diagonals || look.pattern == MapVisual::WideDiagonals)
        painter.fillRect(rect, QBrush(color(look.line), Qt::BDiagPattern));
}

void RequestPainter::paintTable(QPainter& painter, const RequestRow& row, std::size_t group, const QRect& rect) const
{
    const GroupLayout& layout = m_map.header().layout.groups[group];
    const std::vector<std::uint32_t>& table = row.trace->tables[group];
    const std::vector<std::uint16_t>& visuals = m_map.visualsOf(layout.pool);
    const QColor dropped = tokensFor(m_map.palette()).line;
    const auto look = [&](std::size_t i) { return table[i] == noTableBlock ? nothing : int(visuals[table[i]]); };
    // One rectangle for each run of blocks that look alike; dropped positions are a 1 px line.
    eachRun(table.size(), look, [&](std::size_t from, std::size_t to, int shown) {
        std::int64_t end = static_cast<std::int64_t>(to) * layout.blockTokens;
        if (to == table.size() && table[to - 1] != noTableBlock) // the last block may not be full
            end += std::int64_t {m_map.block({layout.pool, table[to - 1]}).tokens} - layout.blockTokens;
        const double left = m_axis.xOf(static_cast<std::int64_t>(from) * layout.blockTokens);
        const QRectF run(left, rect.top(), m_axis.xOf(end) - left, rect.height());
        if (shown == nothing)
            painter.fillRect(QRectF(run.left(), run.top() + run.height() - 1, run.width(), 1), dropped);
        else
            paintRun(painter, run, static_cast<std::uint16_t>(shown));
    });
}

void RequestPainter::paintFormer(QPainter& painter, const RequestRow& row, const QRect& rect, bool labelled) const
{
    const std::size_t group = barGroup(m_map.header());
    const GroupLayout& layout = m_map.header().layout.groups[group];
    const std::vector<std::uint16_t>& visuals = m_map.visualsOf(layout.pool);
    std::size_t count = 0;
    if (group < row.trace->former.size()) {
        const std::vector<RequestTrace::Former>& former = row.trace->former[group];
        count = former.size();
        const std::vector<std::uint32_t>& uses = m_map.state().uses[layout.pool];
        const auto look = [&](std::size_t i) {
            const RequestTrace::Former& was = former[i];
            const bool here
                = uses[was.block] == was.use && m_map.block({layout.pool, was.block}).state != BlockState::Free;
            return here ? int(visuals[was.block]) : nothing;
        };
        eachRun(count, look, [&](std::size_t from, std::size_t to, int shown) {
            const double left = m_axis.xOf(static_cast<std::int64_t>(from) * layout.blockTokens);
            const double right = m_axis.xOf(static_cast<std::int64_t>(to) * layout.blockTokens);
            const QRectF run(left, rect.top(), right - left, rect.height());
            if (shown != nothing) {
                paintRun(painter, run, static_cast<std::uint16_t>(shown));
            } else { // lost: hollow, dashed, dim
                painter.setPen(QPen(tokensFor(m_map.palette()).dimText, 1, Qt::DashLine));
                painter.setBrush(Qt::NoBrush);
                painter.drawRect(run.adjusted(0.5, 0.5, -0.5, -0.5));
            }
        });
    }
    if (labelled)
        paintFormerNote(painter, row, m_axis.xOf(static_cast<std::int64_t>(count) * layout.blockTokens) + 6, rect);
}

/// What became of a preempted request's blocks, in words.
void RequestPainter::paintFormerNote(QPainter& painter, const RequestRow& row, double x, const QRect& rect) const
{
    painter.setFont(smallFont(m_font));
    painter.setPen(tokensFor(m_map.palette()).dimText);
    const QString text = QCoreApplication::translate("BlockMap", "preempted: %1 still on the device, %2 lost")
                             .arg(countText(row.former.here), countText(row.former.lost));
    const double width = painter.fontMetrics().horizontalAdvance(text);
    painter.drawText(QRectF(std::min(x, rect.width() - width - 4), rect.top() - 2, width + 4, rect.height() + 4),
        Qt::AlignLeft | Qt::AlignVCenter, text);
}

void RequestPainter::paintLabel(QPainter& painter, const RequestRow& row, const QRect& rect) const
{
    const Tokens& tokens = tokensFor(m_map.palette());
    const bool coloured = m_map.colouring() == Colouring::Tenant;
    const QColor chip
        = coloured ? tenantColor(m_map.palette(), row.trace->tenant) : m_map.palette().color(QPalette::Base);
    const QRect box(6, rect.top() + 1, rect.height() - 2, rect.height() - 2);
    painter.setFont(smallFont(m_font));
    painter.setBrush(chip);
    painter.setPen(coloured ? chip : tokens.dimText);
    painter.drawRect(box.adjusted(0, 0, -1, -1));
    painter.setPen(coloured ? inkOn(chip) : tokens.text);
    painter.drawText(box, Qt::AlignCenter, tenantLetter(row.trace->tenant));
    QFont name = m_font;
    name.setWeight(m_map.selectedRequest() == row.request ? QFont::DemiBold : QFont::Normal);
    painter.setFont(name);
    painter.setPen(tokens.text);
    const QRect label(box.right() + 5, rect.top(), static_cast<int>(m_axis.left) - box.right() - 14, rect.height());
    painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("r%1").arg(row.request));
    if (row.trace->phase != RequestPhase::Preempted) {
        painter.setFont(smallFont(m_font));
        painter.setPen(tokens.dimText);
        painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter, countText(row.trace->held));
    }
}

void RequestPainter::paint(QPainter& painter, const RequestRow& row, const QRect& rect) const
{
    const bool selected = m_map.selectedRequest() == row.request;
    if (selected || m_map.hoveredRequest() == row.request) {
        QColor tint = m_map.palette().color(QPalette::Highlight);
        tint.setAlphaF(selected ? 0.22F : 0.10F);
        painter.fillRect(rect, tint);
    }
    const bool labelled = rect.height() >= lowRow;
    if (labelled)
        paintLabel(painter, row, rect);
    const std::vector<GroupLayout>& groups = m_map.header().layout.groups;
    const std::size_t bar = barGroup(m_map.header());
    const int lines = static_cast<int>(groups.size()) - 1;
    const int air = labelled ? 2 : 0;
    const int under = labelled ? std::min(lines, 2) * (windowLine + 1) : 0;
    const QRect area = rect.adjusted(0, air, 0, -air - under + (under > 0 ? 1 : 0));
    if (row.trace->phase == RequestPhase::Preempted) {
        paintFormer(painter, row, area, labelled);
        return;
    }
    paintTable(painter, row, bar, area);
    int y = area.bottom() + 1;
    for (std::size_t g = 0; under > 0 && g < groups.size() && y + windowLine <= rect.bottom() + 2; ++g) {
        if (g == bar)
            continue;
        paintTable(painter, row, g, QRect(0, y, rect.width(), windowLine));
        y += windowLine + 1;
    }
}

} // namespace kvw::gui
