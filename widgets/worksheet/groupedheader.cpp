// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/groupedheader.h"

#include "style/tokens.h"

#include <QPainter>

namespace kvw::gui {

GroupedHeader::GroupedHeader(QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent)
{
    setSectionsClickable(false);
    setDefaultAlignment(Qt::AlignLeft | Qt::AlignBottom);
    setHighlightSections(false);
}

void GroupedHeader::setSpans(const QVector<Span>& spans)
{
    m_spans = spans;
    viewport()->update();
}

QSize GroupedHeader::sizeHint() const
{
    QSize size = QHeaderView::sizeHint();
    size.setHeight(3 * (fontMetrics().height() + 4));
    return size;
}

void GroupedHeader::paintSection(QPainter* painter, const QRect& rect, int section) const
{
    // The lower third is the section's own; the upper two belong to the spans, which paintEvent() draws.
    const int line = rect.height() / 3;
    const QRect own(rect.left(), rect.top() + 2 * line, rect.width(), rect.height() - 2 * line);
    const Tokens& tokens = tokensFor(palette());
    painter->save();
    painter->fillRect(rect, palette().color(QPalette::Window));
    painter->setPen(palette().color(QPalette::Text));
    const QString title = model()->headerData(section, Qt::Horizontal).toString();
    painter->drawText(own.adjusted(6, 0, -6, 0), Qt::AlignVCenter | (section >= 10 ? Qt::AlignRight : Qt::AlignLeft),
        fontMetrics().elidedText(title, Qt::ElideRight, own.width() - 12));
    painter->setPen(tokens.line);
    painter->drawLine(rect.bottomLeft(), rect.bottomRight());
    painter->restore();
}

void GroupedHeader::paintEvent(QPaintEvent* event)
{
    QHeaderView::paintEvent(event);
    QPainter painter(viewport());
    const Tokens& tokens = tokensFor(palette());
    const int line = height() / 3;
    QFont strong = font();
    strong.setWeight(QFont::DemiBold);
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.92);
    for (const Span& span : m_spans) {
        const int left = sectionViewportPosition(span.first);
        const int right = sectionViewportPosition(span.last) + sectionSize(span.last);
        const QRect top(left, 0, right - left, line);
        if (span.tinted)
            painter.fillRect(QRect(left, 0, right - left, 2 * line), tokens.retainedHead);
        painter.setPen(palette().color(QPalette::Text));
        painter.setFont(strong);
        painter.drawText(top.adjusted(6, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft,
            QFontMetrics(strong).elidedText(span.title, Qt::ElideRight, top.width() - 10));
        painter.setFont(small);
        painter.setPen(tokens.dimText);
        painter.drawText(top.translated(0, line).adjusted(6, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft,
            QFontMetrics(small).elidedText(span.note, Qt::ElideRight, top.width() - 10));
        painter.fillRect(QRect(left, 0, 2, height()), tokens.line); // the rule that parts the token columns
    }
}

} // namespace kvw::gui
