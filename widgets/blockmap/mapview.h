// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QAbstractScrollArea>

namespace kvw::gui {

/// The font of captions, axes and labels in a map.
QFont smallFont(QFont font);

/// What the two pictures of a map have in common: hover, tooltip, selection by the pointer and the frame of the focus,
/// all through the map's state.
class MapView : public QAbstractScrollArea
{
    Q_OBJECT

public:
    /// What is at a point of the viewport: a request, and a block where one lies there.
    struct Spot
    {
        std::optional<std::uint32_t> request;
        std::optional<BlockRef> block;
    };
    /// REQUIRES nothing: without a source there is nothing anywhere.
    virtual Spot spotAt(const QPoint& point) const = 0;

protected:
    MapView(MapState& map, const QString& name, QWidget* parent);

    /// Selects what was clicked.
    virtual void choose(const Spot& spot) = 0;
    /// What a tooltip says about it; empty for none.
    virtual QString describe(const Spot& spot) const = 0;
    /// To be drawn last.
    void paintFocusFrame(QPainter& painter) const;

    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

    MapState& m_map;
};

} // namespace kvw::gui
