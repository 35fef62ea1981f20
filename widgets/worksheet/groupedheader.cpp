// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/groupedheader.h"

#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

namespace kvw::gui {

GroupedHeader::GroupedHeader(QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent)
{
    setSectionsClickable(false);
    setHighlightSections(false);
}

void GroupedHeader::setSpans(const QVector<Span>& spans)
{
    m_spans = spans;
    viewport()->update();
}

const QVector<GroupedHeader::Span>& GroupedHeader::spans() const
{
    return m_spans;
}

QSize GroupedHeader::sizeHint() const
{
    QSize size = QHeaderView::sizeHint();
    size.setHeight(3 * (fontMetrics().height() + 6));
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
    for (const Span& span : m_spans) {
        if (span.tinted && section >= span.first && section <= span.last)
            painter->fillRect(own, tokens.retainedHead);
    }
    painter->setPen(palette().color(QPalette::Text));
    const QString title = model()->headerData(section, Qt::Horizontal).toString();
    const int alignment = model()->headerData(section, Qt::Horizontal, Qt::TextAlignmentRole).toInt();
    painter->drawText(
        own.adjusted(6, 0, -5, 0), alignment, fontMetrics().elidedText(title, Qt::ElideRight, own.width() - 11));
    painter->setPen(tokens.line);
    painter->drawLine(rect.bottomLeft(), rect.bottomRight());
    painter->drawLine(own.topLeft(), own.topRight());
    if (section > 0)
        painter->drawLine(own.topLeft(), own.bottomLeft());
    painter->restore();
}

namespace {

void paintSign(QPainter& painter, GroupedHeader::Sign sign, const QRect& box, const Tokens& tokens)
{
    painter.save();
    if (sign == GroupedHeader::SolidFill) {
        painter.fillRect(box, tokens.idealNeed);
    } else {
        painter.setPen(QPen(tokens.text, 1, sign == GroupedHeader::DashedOutline ? Qt::DashLine : Qt::SolidLine));
        painter.setBrush(sign == GroupedHeader::PaleFill ? QBrush(tokens.engineNeed) : QBrush(Qt::NoBrush));
        painter.drawRect(box.adjusted(0, 0, -1, -1));
    }
    painter.restore();
}

} // namespace

void GroupedHeader::paintSpan(QPainter& painter, const Span& span, int line) const
{
    const Tokens& tokens = tokensFor(palette());
    const int left = sectionViewportPosition(span.first);
    const int right = sectionViewportPosition(span.last) + sectionSize(span.last);
    const QRect top(left, 0, right - left, line);
    if (span.tinted)
        painter.fillRect(QRect(left, 0, right - left, 2 * line), tokens.retainedHead);
    painter.setPen(tokens.line);
    painter.drawLine(left, line, right, line);
    painter.drawLine(left, 2 * line, right, 2 * line);
    painter.setPen(palette().color(QPalette::Text));
    const QFont strong = strongFont(font());
    painter.setFont(strong);
    painter.drawText(top.adjusted(7, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetrics(strong).elidedText(span.title, Qt::ElideRight, top.width() - 11));
    const QFont small = smallFont(font());
    painter.setFont(small);
    QRect note = top.translated(0, line).adjusted(7, 0, -4, 0);
    if (span.sign != NoSign) {
        paintSign(painter, span.sign, QRect(note.left(), note.center().y() - 3, 11, 8), tokens);
        note.setLeft(note.left() + 15);
    }
    painter.setPen(span.warned ? tokens.warning : tokens.dimText);
    painter.drawText(note, Qt::AlignVCenter | Qt::AlignLeft,
        QFontMetrics(small).elidedText(span.note, Qt::ElideRight, note.width()));
    painter.fillRect(QRect(left, 0, 2, height()), tokens.rule);
}

void GroupedHeader::paintEvent(QPaintEvent* event)
{
    QHeaderView::paintEvent(event);
    QPainter painter(viewport());
    for (const Span& span : m_spans)
        paintSpan(painter, span, height() / 3);
}

bool GroupedHeader::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const int section = logicalIndexAt(help->pos());
        for (const Span& span : m_spans) {
            if (section >= span.first && section <= span.last) {
                QToolTip::showText(help->globalPos(), span.title + QLatin1Char('\n') + span.note, this);
                return true;
            }
        }
    }
    return QHeaderView::event(event);
}

} // namespace kvw::gui
