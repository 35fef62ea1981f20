// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/mapview.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

namespace kvw::gui {

QFont smallFont(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 0.92);
    return font;
}

MapView::MapView(MapState& map, const QString& name, QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_map(map)
{
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::StrongFocus);
    setFrameShape(QFrame::NoFrame);
    viewport()->setMouseTracking(true);
    setAccessibleName(name);
    connect(&map, &MapState::hoverChanged, viewport(), qOverload<>(&QWidget::update));
}

void MapView::paintFocusFrame(QPainter& painter) const
{
    if (!hasFocus())
        return;
    painter.setPen(QPen(m_map.palette().color(QPalette::Highlight), 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(viewport()->rect().adjusted(1, 1, -1, -1));
}

void MapView::mouseMoveEvent(QMouseEvent* event)
{
    const Spot spot = spotAt(event->pos());
    m_map.hover(spot.block, spot.request);
}

void MapView::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton && m_map.source())
        choose(spotAt(event->pos()));
    QAbstractScrollArea::mousePressEvent(event);
}

bool MapView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        m_map.hover({});
    if (event->type() == QEvent::ToolTip && m_map.source()) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const QString text = describe(spotAt(help->pos()));
        if (text.isEmpty())
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), text, viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void MapView::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void MapView::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace kvw::gui
