// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/reportfonts.h"

#include <QColor>
#include <QLineF>
#include <QPointF>
#include <QPolygonF>
#include <QRectF>
#include <QString>

#include <variant>
#include <vector>

class QPainter;

namespace kvw::gui {

/// One line of text from its baseline.
struct TextOp
{
    QPointF baseline;
    QString text;
    TextStyle style = TextStyle::Body;
    QColor color;
    double width = 0;
};

struct LineOp
{
    QLineF line;
    double width = 0;
    QColor color;
    bool dashed = false;
};

enum class Hatch : std::uint8_t {
    None,
    Diagonal,
    Cross,
};

struct RectOp
{
    QRectF rect;
    QColor fill; ///< invalid: none
    QColor outline; ///< invalid: none
    Hatch hatch = Hatch::None;
    QColor hatchColor;
};

struct PolygonOp
{
    QPolygonF polygon;
    QColor fill;
};

/// What is drawn on a page, in order. Positions are in page units from the top left of the sheet.
using PageOp = std::variant<TextOp, LineOp, RectOp, PolygonOp>;
using PageOps = std::vector<PageOp>;

struct ReportSheet
{
    PageOps ops;
    QString section; ///< in the running head
    bool cover = false;
};

/// Draws the operations; the painter is in page units.
void paintOps(QPainter& painter, const PageOps& ops, const ReportFonts& fonts);
/// The same operations elsewhere.
void appendMoved(PageOps& to, const PageOps& ops, QPointF by);

} // namespace kvw::gui
