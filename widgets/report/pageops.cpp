// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/pageops.h"

#include <QPainter>
#include <QPen>

#include <algorithm>

namespace kvw::gui {

namespace {

/// Lines at 45 degrees across `rect`, rising to the right, `step` apart; clipped by arithmetic, so that no medium needs
/// clipping or pattern brushes.
std::vector<QLineF> diagonals(const QRectF& rect, double step, bool rising)
{
    std::vector<QLineF> out;
    const double span = rect.width() + rect.height();
    for (double at = step / 2; at < span; at += step) {
        // x + y = at, from the left or lower edge to the upper or right one.
        const double x1 = std::max(0.0, at - rect.height());
        const double x2 = std::min(at, rect.width());
        const double y1 = at - x1;
        const double y2 = at - x2;
        if (x2 <= x1)
            continue;
        const double left = rising ? rect.left() + x1 : rect.right() - x1;
        const double right = rising ? rect.left() + x2 : rect.right() - x2;
        out.emplace_back(left, rect.top() + y1, right, rect.top() + y2);
    }
    return out;
}

struct Painting
{
    QPainter& painter;
    const ReportFonts& fonts;

    void operator()(const TextOp& op) const
    {
        painter.save();
        painter.setFont(fonts.largeFont(op.style));
        painter.setPen(op.color);
        painter.translate(op.baseline);
        painter.scale(1.0 / ReportFonts::metricsScale, 1.0 / ReportFonts::metricsScale);
        painter.drawText(QPointF(0, 0), op.text);
        painter.restore();
    }

    void operator()(const LineOp& op) const
    {
        QPen pen(op.color, op.width, op.dashed ? Qt::DashLine : Qt::SolidLine, Qt::FlatCap);
        painter.setPen(pen);
        painter.drawLine(op.line);
    }

    void operator()(const RectOp& op) const
    {
        painter.setPen(op.outline.isValid() ? QPen(op.outline, points(0.6)) : QPen(Qt::NoPen));
        painter.setBrush(op.fill.isValid() ? QBrush(op.fill) : QBrush(Qt::NoBrush));
        painter.drawRect(op.rect);
        if (op.hatch == Hatch::None)
            return;
        painter.setPen(QPen(op.hatchColor, points(0.4), Qt::SolidLine, Qt::FlatCap));
        const std::vector<QLineF> rising = diagonals(op.rect, points(3), true);
        painter.drawLines(rising.data(), static_cast<int>(rising.size()));
        if (op.hatch == Hatch::Cross) {
            const std::vector<QLineF> falling = diagonals(op.rect, points(3), false);
            painter.drawLines(falling.data(), static_cast<int>(falling.size()));
        }
    }

    void operator()(const PolygonOp& op) const
    {
        painter.setPen(Qt::NoPen);
        painter.setBrush(op.fill);
        painter.drawPolygon(op.polygon);
    }
};

struct Moving
{
    QPointF by;

    PageOp operator()(TextOp op) const
    {
        op.baseline += by;
        return op;
    }
    PageOp operator()(LineOp op) const
    {
        op.line.translate(by);
        return op;
    }
    PageOp operator()(RectOp op) const
    {
        op.rect.translate(by);
        return op;
    }
    PageOp operator()(PolygonOp op) const
    {
        op.polygon.translate(by);
        return op;
    }
};

} // namespace

void paintOps(QPainter& painter, const PageOps& ops, const ReportFonts& fonts)
{
    const Painting painting {painter, fonts};
    for (const PageOp& op : ops)
        std::visit(painting, op);
}

void appendMoved(PageOps& to, const PageOps& ops, QPointF by)
{
    to.reserve(to.size() + ops.size());
    for (const PageOp& op : ops)
        to.push_back(std::visit(Moving {by}, op));
}

} // namespace kvw::gui
