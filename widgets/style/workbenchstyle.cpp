// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "style/workbenchstyle.h"

#include "style/tokens.h"

#include <QApplication>
#include <QCache>
#include <QPainter>
#include <QStyleFactory>
#include <QStyleOption>

namespace kvw::gui {

namespace {

constexpr int frame = 2;
constexpr int outlineDarkening = 140; // percent: how Fusion makes the line from the window's colour

/// In a dark window Fusion's lines, darker than the ground, cannot be seen: they get the colour of lines.
void showLines(QStyleOption& option)
{
    // Kept, as Fusion keeps its drawings by the palette's key.
    static QCache<qint64, QPalette> palettes(64);
    QPalette* known = palettes.object(option.palette.cacheKey());
    if (!known) {
        known = new QPalette(option.palette);
        known->setColor(QPalette::Window, tokensFor(option.palette).line.lighter(outlineDarkening));
        palettes.insert(option.palette.cacheKey(), known);
    }
    option.palette = *known;
}

bool hasOutline(QStyle::PrimitiveElement element)
{
    switch (element) {
    case QStyle::PE_Frame:
    case QStyle::PE_FrameLineEdit:
    case QStyle::PE_PanelLineEdit:
    case QStyle::PE_FrameGroupBox:
    case QStyle::PE_FrameTabWidget:
    case QStyle::PE_IndicatorCheckBox:
    case QStyle::PE_IndicatorItemViewItemCheck:
    case QStyle::PE_IndicatorRadioButton:
    case QStyle::PE_PanelButtonCommand:
        return true;
    default:
        return false;
    }
}

} // namespace

WorkbenchStyle::WorkbenchStyle()
    : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion")))
{}

void WorkbenchStyle::drawPrimitive(
    PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const
{
    if (element == PE_FrameFocusRect) {
        QPalette palette = option->palette;
        if (option->state.testFlag(State_Selected)) // a cell on highlight
            palette.setColor(QPalette::Highlight, palette.color(QPalette::HighlightedText));
        drawFocusFrame(*painter, option->rect, palette);
        return;
    }
    if (element == PE_PanelButtonTool && option->state.testFlag(State_On)) {
        const QRect rect = option->rect;
        painter->fillRect(rect, option->palette.color(QPalette::Base));
        painter->save();
        painter->setPen(tokensFor(option->palette).line);
        painter->drawRect(rect.adjusted(0, 0, -1, -1));
        painter->restore();
        painter->fillRect(QRect(rect.left(), rect.bottom() - 1, rect.width(), 2), //
            option->palette.color(QPalette::Highlight));
        return;
    }
    if (!hasOutline(element) || !isDark(option->palette)) {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
    } else if (const auto* panel = qstyleoption_cast<const QStyleOptionFrame*>(option)) {
        QStyleOptionFrame own(*panel);
        showLines(own);
        QProxyStyle::drawPrimitive(element, &own, painter, widget);
    } else if (const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option)) {
        QStyleOptionButton own(*button);
        showLines(own);
        QProxyStyle::drawPrimitive(element, &own, painter, widget);
    } else if (const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option)) {
        QStyleOptionViewItem own(*item);
        showLines(own);
        QProxyStyle::drawPrimitive(element, &own, painter, widget);
    } else {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void WorkbenchStyle::drawControl(
    ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const
{
    if (element == CE_ToolBar && isDark(option->palette)) {
        // Fusion's bevel is white: in a dark window the brightest line of all.
        painter->fillRect(option->rect, option->palette.color(QPalette::Window));
        painter->fillRect(QRect(option->rect.bottomLeft(), QSize(option->rect.width(), 1)), //
            tokensFor(option->palette).line);
        return;
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

void WorkbenchStyle::drawComplexControl(
    ComplexControl control, const QStyleOptionComplex* option, QPainter* painter, const QWidget* widget) const
{
    const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
    if (control == CC_ComboBox && combo && isDark(combo->palette)) {
        QStyleOptionComboBox own(*combo);
        showLines(own);
        QProxyStyle::drawComplexControl(control, &own, painter, widget);
        return;
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

int WorkbenchStyle::styleHint(
    StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* result) const
{
    if (hint == SH_Table_GridLineColor)
        return static_cast<int>(tokensFor(widget ? widget->palette() : QApplication::palette()).hairLine.rgba());
    return QProxyStyle::styleHint(hint, option, widget, result);
}

void useWorkbenchStyle()
{
    if (!qobject_cast<WorkbenchStyle*>(QApplication::style()))
        QApplication::setStyle(new WorkbenchStyle);
}

void drawFocusFrame(QPainter& painter, const QRect& rect, const QPalette& palette)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setBrush(Qt::NoBrush);
    QPen pen(palette.color(QPalette::Highlight), frame);
    pen.setJoinStyle(Qt::MiterJoin);
    painter.setPen(pen);
    painter.drawRect(rect.adjusted(1, 1, -1, -1));
    painter.restore();
}

} // namespace kvw::gui
