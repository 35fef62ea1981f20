// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/requestsview.h"

#include "blockmap/cellpainter.h"
#include "models/numbertext.h"
#include "style/tokens.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr int tallRow = 20;
constexpr int lowRow = 13; ///< from so many rows on that 20 px would be too much
constexpr int lowRowsFrom = 39;
constexpr int pixelRowsFrom = 401;
constexpr int windowLine = 3; ///< px of a group with a window, under the bar

QFont smallFont(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 0.92);
    return font;
}

QString requestsText(int count)
{
    return count == 1 ? RequestsView::tr("1 request") : RequestsView::tr("%1 requests").arg(countText(count));
}

} // namespace

RequestsView::RequestsView(MapState& map, QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_map(map)
{
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    viewport()->setMouseTracking(true);
    setAccessibleName(tr("Requests and their block tables"));
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
    connect(&map, &MapState::hoverChanged, viewport(), qOverload<>(&QWidget::update));
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

double RequestsView::xOf(std::int64_t token) const
{
    const double room = viewport()->width() - labelWidth() - 12;
    return labelWidth()
        + room * static_cast<double>(token) / static_cast<double>(std::max<std::int64_t>(1, m_rows.mostTokens));
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
    m_rowHeight = count >= pixelRowsFrom ? 1 : count >= lowRowsFrom ? lowRow : tallRow;
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

RequestsView::Spot RequestsView::spotAt(const QPoint& point) const
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
    const double room = xOf(m_rows.mostTokens) - xOf(0);
    const double token = (point.x() - xOf(0)) / room * static_cast<double>(m_rows.mostTokens);
    if (token < 0)
        return out;
    // The lowest pixels belong to the groups with a window.
    std::size_t group = barGroup(m_map.header());
    const std::vector<GroupLayout>& groups = m_map.header().layout.groups;
    if (groups.size() > 1 && y - place.top >= m_rowHeight - windowLine - 2)
        group = group == 0 ? 1 : 0;
    const auto position = static_cast<std::size_t>(token) / static_cast<std::size_t>(groups[group].blockTokens);
    if (row.trace->phase == RequestPhase::Preempted) {
        if (group < row.trace->former.size() && position < row.trace->former[group].size())
            out.block = BlockRef {groups[group].pool, row.trace->former[group][position].block};
        return out;
    }
    const std::vector<std::uint32_t>& table = row.trace->tables[group];
    if (position < table.size() && table[position] != noTableBlock)
        out.block = BlockRef {groups[group].pool, table[position]};
    return out;
}

void RequestsView::paintAxis(QPainter& painter)
{
    const Tokens& tokens = tokensFor(m_map.palette());
    painter.setFont(smallFont(font()));
    const int width = painter.fontMetrics().horizontalAdvance(countText(m_rows.mostTokens)) + 24;
    // Steps of 1, 2, 5 times a power of two blocks would be odd numbers: multiples of the block, doubled.
    std::int64_t every = m_map.header().layout.groups.empty() ? 16 : m_map.header().layout.groups.front().blockTokens;
    while (m_rows.mostTokens > 0 && xOf(every) - xOf(0) < width)
        every *= 2;
    for (std::int64_t token = 0; token <= m_rows.mostTokens; token += every) {
        const double x = std::floor(xOf(token)) + 0.5;
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

void RequestsView::paintRun(QPainter& painter, const QRectF& rect, std::uint8_t visual)
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

void RequestsView::paintTable(QPainter& painter, const RequestRow& row, std::size_t group, const QRect& rect)
{
    const GroupLayout& layout = m_map.header().layout.groups[group];
    const std::vector<std::uint32_t>& table = row.trace->tables[group];
    const std::vector<std::uint8_t>& visuals = m_map.visualsOf(layout.pool);
    const Tokens& tokens = tokensFor(m_map.palette());
    // One rectangle for each run of blocks that look alike; dropped positions are a 1 px line.
    for (std::size_t from = 0; from < table.size();) {
        const auto lookOf
            = [&](std::size_t i) { return table[i] == noTableBlock ? -1 : static_cast<int>(visuals[table[i]]); };
        std::size_t to = from + 1;
        while (to < table.size() && lookOf(to) == lookOf(from))
            ++to;
        std::int64_t end = static_cast<std::int64_t>(to) * layout.blockTokens;
        if (to == table.size() && table[to - 1] != noTableBlock) // the last block may not be full
            end += std::int64_t {m_map.block({layout.pool, table[to - 1]}).tokens} - layout.blockTokens;
        const double left = xOf(static_cast<std::int64_t>(from) * layout.blockTokens);
        const QRectF run(left, rect.top(), xOf(end) - left, rect.height());
        if (lookOf(from) < 0)
            painter.fillRect(QRectF(run.left(), run.top() + run.height() - 1, run.width(), 1), tokens.line);
        else
            paintRun(painter, run, static_cast<std::uint8_t>(lookOf(from)));
        from = to;
    }
}

void RequestsView::paintFormer(QPainter& painter, const RequestRow& row, const QRect& rect)
{
    const std::size_t group = barGroup(m_map.header());
    const GroupLayout& layout = m_map.header().layout.groups[group];
    const Tokens& tokens = tokensFor(m_map.palette());
    const std::vector<std::uint8_t>& visuals = m_map.visualsOf(layout.pool);
    std::size_t count = 0;
    if (group < row.trace->former.size()) {
        const std::vector<RequestTrace::Former>& former = row.trace->former[group];
        count = former.size();
        const std::vector<std::uint32_t>& uses = m_map.state().uses[layout.pool];
        const auto lookOf = [&](std::size_t i) {
            const RequestTrace::Former& was = former[i];
            const bool here
                = uses[was.block] == was.use && m_map.block({layout.pool, was.block}).state != BlockState::Free;
            return here ? static_cast<int>(visuals[was.block]) : -1;
        };
        for (std::size_t from = 0; from < count;) {
            std::size_t to = from + 1;
            while (to < count && lookOf(to) == lookOf(from))
                ++to;
            const double left = xOf(static_cast<std::int64_t>(from) * layout.blockTokens);
            const QRectF run(
                left, rect.top(), xOf(static_cast<std::int64_t>(to) * layout.blockTokens) - left, rect.height());
            if (lookOf(from) >= 0) {
                paintRun(painter, run, static_cast<std::uint8_t>(lookOf(from)));
            } else { // lost: hollow, dashed, dim
                painter.setPen(QPen(tokens.dimText, 1, Qt::DashLine));
                painter.setBrush(Qt::NoBrush);
                painter.drawRect(run.adjusted(0.5, 0.5, -0.5, -0.5));
            }
            from = to;
        }
    }
    if (m_rowHeight < lowRow)
        return;
    painter.setFont(smallFont(font()));
    painter.setPen(tokens.dimText);
    const double x = xOf(static_cast<std::int64_t>(count) * layout.blockTokens) + 6;
    const QString text
        = tr("preempted: %1 still on the device, %2 lost").arg(countText(row.former.here), countText(row.former.lost));
    const double width = painter.fontMetrics().horizontalAdvance(text);
    painter.drawText(QRectF(std::min(x, viewport()->width() - width - 4), rect.top() - 2, width + 4, rect.height() + 4),
        Qt::AlignLeft | Qt::AlignVCenter, text);
}

void RequestsView::paintRow(QPainter& painter, const RequestRow& row, const QRect& rect)
{
    const Tokens& tokens = tokensFor(m_map.palette());
    const bool selected = m_map.selectedRequest() == row.request;
    const bool hovered = m_map.hoveredRequest() == row.request;
    if (selected || hovered) {
        QColor tint = m_map.palette().color(QPalette::Highlight);
        tint.setAlphaF(selected ? 0.22F : 0.10F);
        painter.fillRect(rect, tint);
    }
    if (m_rowHeight >= lowRow) {
        const QColor chip = m_map.colouring() == Colouring::Tenant
            ? tokens.tenants[row.trace->tenant % tokens.tenants.size()]
            : m_map.palette().color(QPalette::Base);
        const QRect box(6, rect.top() + 1, rect.height() - 2, rect.height() - 2);
        painter.setFont(smallFont(font()));
        painter.setBrush(chip);
        painter.setPen(m_map.colouring() == Colouring::Tenant ? chip : tokens.dimText);
        painter.drawRect(box.adjusted(0, 0, -1, -1));
        painter.setPen(m_map.colouring() == Colouring::Tenant ? inkOn(chip) : tokens.text);
        painter.drawText(box, Qt::AlignCenter, MapState::tenantLetter(row.trace->tenant));
        QFont name = font();
        name.setWeight(selected ? QFont::DemiBold : QFont::Normal);
        painter.setFont(name);
        painter.setPen(tokens.text);
        const QRect label(box.right() + 5, rect.top(), labelWidth() - box.right() - 14, rect.height());
        painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("r%1").arg(row.request));
        if (row.trace->phase != RequestPhase::Preempted) {
            painter.setFont(smallFont(font()));
            painter.setPen(tokens.dimText);
            painter.drawText(label, Qt::AlignRight | Qt::AlignVCenter, countText(row.trace->held));
        }
    }
    const std::vector<GroupLayout>& groups = m_map.header().layout.groups;
    const std::size_t bar = barGroup(m_map.header());
    const int lines = static_cast<int>(groups.size()) - 1;
    const int air = m_rowHeight >= lowRow ? 2 : 0;
    const int under = m_rowHeight >= lowRow ? std::min(lines, 2) * (windowLine + 1) : 0;
    const QRect area = rect.adjusted(0, air, 0, -air - under + (under > 0 ? 1 : 0));
    if (row.trace->phase == RequestPhase::Preempted) {
        paintFormer(painter, row, area);
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

void RequestsView::paintFocus(QPainter& painter)
{
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
        const double left = xOf(use.position * tokensPerBlock);
        const double right = xOf((use.position + 1) * tokensPerBlock);
        const bool window = use.group != bar;
        QRectF mark(left, row.top() + 1, std::max(2.0, right - left), row.height() - 2);
        if (window)
            mark.setTop(mark.bottom() - windowLine - 2);
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
    for (const Place& place : std::as_const(m_places)) {
        const QRect rect(0, axisHeight() + place.top - verticalScrollBar()->value(), viewport()->width(), m_rowHeight);
        if (rect.bottom() >= axisHeight() && rect.top() <= viewport()->height())
            paintRow(painter, m_rows.rows[place.row], rect);
    }
    painter.restore();
    paintFocus(painter);
    if (m_rows.rows.isEmpty()) {
        painter.setPen(tokens.dimText);
        painter.setFont(font());
        painter.drawText(viewport()->rect(), Qt::AlignCenter, tr("No request holds a block at the end of this step."));
    }
    if (hasFocus()) {
        painter.setPen(QPen(m_map.palette().color(QPalette::Highlight), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
    }
}

void RequestsView::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    relayout();
}

void RequestsView::mouseMoveEvent(QMouseEvent* event)
{
    const Spot spot = spotAt(event->pos());
    m_map.hover(spot.block, spot.request);
}

void RequestsView::mousePressEvent(QMouseEvent* event)
{
    const Spot spot = spotAt(event->pos());
    if (event->button() == Qt::LeftButton && spot.request)
        m_map.select(spot.block ? spot.block : m_map.selectedBlock(), spot.request);
    QAbstractScrollArea::mousePressEvent(event);
}

bool RequestsView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        m_map.hover({});
    if (event->type() == QEvent::ToolTip && m_map.source()) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const Spot spot = spotAt(help->pos());
        QString text;
        if (spot.request)
            text = QStringLiteral("r%1").arg(*spot.request);
        if (spot.block)
            text += QStringLiteral(" · ") + m_map.describe(*spot.block);
        if (text.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), text, viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
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
        return QAbstractScrollArea::keyPressEvent(event);
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
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void RequestsView::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void RequestsView::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace kvw::gui
