// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QFrame>
#include <QString>

namespace kvw::gui {

/// One line of text that gives way: what does not fit is elided at the end and shown whole in a tooltip.
class ElidedLabel : public QFrame
{
    Q_OBJECT

public:
    explicit ElidedLabel(const QString& text = {}, QWidget* parent = nullptr);

    void setText(const QString& text);
    QString text() const;
    /// What the tooltip says beside a text that does not fit.
    void setTip(const QString& tip);
    /// A role of the palette ("dim" is PlaceholderText), or a colour that replaces it while it is valid.
    void setInk(QPalette::ColorRole role, const QColor& color = {});
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void refreshToolTip();

    QString m_text;
    QString m_tip;
    QPalette::ColorRole m_role = QPalette::WindowText;
    QColor m_color;
};

/// The font at 0.92 of its size: captions, sources, axis labels.
QFont smallFont(const QFont& font);
/// The font at semibold, `scale` times its size.
QFont strongFont(const QFont& font, double scale = 1);

} // namespace kvw::gui
