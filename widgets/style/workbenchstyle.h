// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QProxyStyle>

namespace kvw::gui {

/// Fusion with the workbench's own lines: focus is a frame of 2 px in highlight, a checked tool button is underlined in
/// highlight, and in a dark window frames, fields and check boxes have lines that can be seen.
class WorkbenchStyle : public QProxyStyle
{
    Q_OBJECT

public:
    WorkbenchStyle();

    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
        const QWidget* widget = nullptr) const override;
    int styleHint(StyleHint hint, const QStyleOption* option = nullptr, const QWidget* widget = nullptr,
        QStyleHintReturn* result = nullptr) const override;
};

/// Sets the application's style, unless it is in force already.
void useWorkbenchStyle();

/// The frame of what has the focus, 2 px in highlight, just inside `rect`.
void drawFocusFrame(QPainter& painter, const QRect& rect, const QPalette& palette);

} // namespace kvw::gui
