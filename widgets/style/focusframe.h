// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QPointer>
#include <QWidget>

namespace kvw::gui {

/// Frames the view that has the focus, 2 px in highlight: tables, lists, plots and other widgets that show no focus of
/// their own. Buttons and text fields have theirs by the style.
class FocusFrame : public QObject
{
    Q_OBJECT

public:
    /// For whatever has the focus within `window`.
    explicit FocusFrame(QWidget* window);

    /// The widget that is framed now; null: none.
    QWidget* framed() const;

private:
    void follow(QWidget* focus);

    QWidget* m_window;
    QPointer<QWidget> m_frame; ///< a child of what it frames
};

} // namespace kvw::gui
