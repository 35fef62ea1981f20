// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/memorybar.h"

#include "models/numbertext.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QPainter>

#include <algorithm>

namespace kvw::gui {

MemoryBar::MemoryBar(QWidget* parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setAccessibleName(tr("Memory of the device"));
}

void MemoryBar::setMemory(std::int64_t total, std::int64_t available, std::int64_t run, std::int64_t limit)
{
    const auto share = [&](std::int64_t bytes) {
        return total > 0 ? std::clamp(static_cast<double>(bytes) / static_cast<double>(total), 0.0, 1.0) : 0.0;
    };
    m_used = total > 0 ? share(total - available) : 0;
    m_run = share(run);
    m_limit = limit > 0 ? std::min(1.0, m_used + share(limit)) : 0;
    const QString text = tr("%1 used by others, %2 for the run, limit %3, of %4")
                             .arg(bytesText(std::max<std::int64_t>(0, total - available)).exact, bytesText(run).exact,
                                 bytesText(limit).exact, bytesText(total).exact);
    setToolTip(total > 0 ? text : QString());
    setAccessibleDescription(toolTip());
    update();
}

int MemoryBar::barHeight() const
{
    return fontMetrics().height();
}

QSize MemoryBar::sizeHint() const
{
    return {160, barHeight() + 2 + QFontMetrics(smallFont(font())).height()};
}

void MemoryBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Tokens& tokens = tokensFor(palette());
    const QRectF area = QRectF(0, 0, width(), barHeight()).adjusted(0.5, 0.5, -0.5, -0.5);
    painter.fillRect(area, palette().base());
    const auto part = [&](double from, double to) {
        return QRectF(area.left() + area.width() * from, area.top(), area.width() * (to - from), area.height());
    };
    painter.fillRect(part(0, m_used), QBrush(tokens.dimText, Qt::Dense4Pattern));
    if (m_run > 0) {
        QRectF run = part(m_used, std::min(1.0, m_used + m_run));
        run.setWidth(std::max(2.0, run.width())); // seen, however small
        painter.fillRect(run, tokens.tenants[0]);
    }
    painter.setPen(tokens.line);
    painter.drawRect(area);
    if (m_limit > 0) {
        const double x = part(0, m_limit).right();
        painter.setPen(QPen(tokens.text, 1, Qt::DashLine));
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()));
    }
    paintKey(painter);
}

/// What the parts of the bar are, below it.
void MemoryBar::paintKey(QPainter& painter) const
{
    const Tokens& tokens = tokensFor(palette());
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics(painter.font());
    const double top = barHeight() + 2;
    const double side = metrics.ascent() - 2;
    if (toolTip().isEmpty()) {
        painter.setPen(tokens.dimText);
        painter.drawText(QPointF(0, top + metrics.ascent()), tr("no reading yet"));
        return;
    }
    double x = 0;
    const auto entry = [&](const QBrush& fill, const QString& name) {
        const QRectF box(x + 0.5, top + metrics.ascent() - side - 0.5, side, side);
        painter.fillRect(box, fill);
        painter.setPen(tokens.line);
        painter.drawRect(box);
        x += side + 4;
        painter.setPen(tokens.dimText);
        painter.drawText(QPointF(x, top + metrics.ascent()), name);
        x += metrics.horizontalAdvance(name) + 10;
    };
    entry(QBrush(tokens.dimText, Qt::Dense4Pattern), tr("others"));
    entry(tokens.tenants[0], tr("this run"));
    painter.setPen(QPen(tokens.text, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, top + 1), QPointF(x, top + metrics.height() - 2));
    painter.setPen(tokens.dimText);
    painter.drawText(QPointF(x + 4, top + metrics.ascent()), tr("limit"));
}

} // namespace kvw::gui
