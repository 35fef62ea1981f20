// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "style/elidedlabel.h"

#include <QPainter>

namespace kvw::gui {

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent)
    : QFrame(parent)
    , m_text(text)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setAccessibleName(text);
}

void ElidedLabel::setText(const QString& text)
{
    if (text == m_text)
        return;
    m_text = text;
    setAccessibleName(text);
    refreshToolTip();
    updateGeometry();
    update();
}

QString ElidedLabel::text() const
{
    return m_text;
}

void ElidedLabel::setTip(const QString& tip)
{
    if (tip == m_tip)
        return;
    m_tip = tip;
    refreshToolTip();
}

void ElidedLabel::setInk(QPalette::ColorRole role, const QColor& color)
{
    if (role == m_role && color == m_color)
        return;
    m_role = role;
    m_color = color;
    update();
}

QSize ElidedLabel::sizeHint() const
{
    return {fontMetrics().horizontalAdvance(m_text) + 2, fontMetrics().height()};
}

QSize ElidedLabel::minimumSizeHint() const
{
    return {std::min(sizeHint().width(), fontMetrics().averageCharWidth() * 4), fontMetrics().height()};
}

void ElidedLabel::paintEvent(QPaintEvent* event)
{
    QFrame::paintEvent(event);
    QPainter painter(this);
    painter.setPen(m_color.isValid() ? m_color : palette().color(m_role));
    painter.drawText(
        rect(), Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(m_text, Qt::ElideRight, width()));
}

void ElidedLabel::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    refreshToolTip();
}

void ElidedLabel::refreshToolTip()
{
    QStringList lines;
    if (fontMetrics().horizontalAdvance(m_text) > width())
        lines.push_back(m_text);
    if (!m_tip.isEmpty())
        lines.push_back(m_tip);
    setToolTip(lines.join(QLatin1Char('\n')));
}

QFont smallFont(const QFont& font)
{
    QFont out = font;
    out.setPointSizeF(font.pointSizeF() * 0.92);
    return out;
}

QFont strongFont(const QFont& font, double scale)
{
    QFont out = font;
    out.setWeight(QFont::DemiBold);
    out.setPointSizeF(font.pointSizeF() * scale);
    return out;
}

} // namespace kvw::gui
