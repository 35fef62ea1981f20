// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"
#include "blockmap/requestrows.h"

#include <QFont>
#include <QRect>

class QPainter;

namespace kvw::gui {

/// Tokens along a viewport's width.
struct TokenAxis
{
    double left = 0; ///< where token 0 lies
    double room = 1; ///< for all tokens
    std::int64_t tokens = 0; ///< that fill the room

    double xOf(std::int64_t token) const;
    double tokenAt(double x) const; ///< negative left of token 0
};

/// Draws the rows of the logical view: a request's chip, name and block table, in the looks of the map.
class RequestPainter
{
public:
    static constexpr int lowRow = 13; ///< px: rows below that have no label
    static constexpr int windowLine = 3; ///< px of a group with a window, under the bar

    RequestPainter(const MapState& map, const TokenAxis& axis, const QFont& font);

    void paint(QPainter& painter, const RequestRow& row, const QRect& rect) const;

private:
    void paintLabel(QPainter& painter, const RequestRow& row, const QRect& rect) const;
    void paintTable(QPainter& painter, const RequestRow& row, std::size_t group, const QRect& rect) const;
    void paintFormer(QPainter& painter, const RequestRow& row, const QRect& rect, bool labelled) const;
    void paintFormerNote(QPainter& painter, const RequestRow& row, double x, const QRect& rect) const;
    void paintRun(QPainter& painter, const QRectF& rect, std::uint16_t visual) const;

    const MapState& m_map;
    TokenAxis m_axis;
    QFont m_font;
};

} // namespace kvw::gui
