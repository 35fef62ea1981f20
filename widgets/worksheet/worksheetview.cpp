// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/worksheetview.h"

#include "models/clipboard.h"
#include "models/numberdelegate.h"
#include "models/paste.h"
#include "models/roles.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"
#include "worksheet/groupedheader.h"
#include "worksheet/worksheetmodel.h"

#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>

namespace kvw::gui {

namespace {

using C = WorksheetColumns;

/// Tints the column of what is presently retained.
class WorksheetDelegate final : public NumberDelegate
{
public:
    using NumberDelegate::NumberDelegate;

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override
    {
        NumberDelegate::initStyleOption(option, index);
        if (index.column() == C::RetainedTokens || index.column() == C::RetainedBytes)
            option->backgroundBrush = tokensFor(option->palette).retainedCell;
        else if (index.data(MarkRole).toInt() == TotalMark)
            option->backgroundBrush = option->palette.color(QPalette::AlternateBase);
    }
};

constexpr int leastName = 84;
constexpr int slant = 3; // what is assumed is in italics, which lean out

/// Columns that may go, the first of them first.
constexpr int optional[] {C::Fixed, C::PerToken, C::Placement, C::Kind};

bool startsRule(int column)
{
    return column == C::ConfiguredTokens || column == C::RetainedTokens || column == C::ReservedTokens
        || column == C::FirstRank;
}

} // namespace

WorksheetView::WorksheetView(WorksheetModel& model, QWidget* parent)
    : QTreeView(parent)
    , m_model(model)
    , m_header(new GroupedHeader(this))
{
    setHeader(m_header);
    setModel(&model);
    setItemDelegate(new WorksheetDelegate(this));
    setSelectionBehavior(QAbstractItemView::SelectItems);
    setSelectionMode(QAbstractItemView::ExtendedSelection);
    setEditTriggers(DoubleClicked | EditKeyPressed | AnyKeyPressed);
    setUniformRowHeights(true);
    setTabKeyNavigation(false);
    setIndentation(14);
    setMouseTracking(true);
    setAccessibleName(tr("Layer groups"));
    setHorizontalScrollMode(ScrollPerPixel);
    m_header->setMinimumSectionSize(24);
    m_header->setStretchLastSection(false);
}

GroupedHeader* WorksheetView::groupedHeader() const
{
    return m_header;
}

void WorksheetView::measure()
{
    // Widths of texts with the fonts that the delegate uses, not sizeHint(): that would be slow for hundreds of rows.
    const QFontMetrics plain(font());
    const QFontMetrics strong(strongFont(font()));
    const int unit = QFontMetrics(smallFont(font())).horizontalAdvance(QStringLiteral("MiB")) + 3;
    m_wanted.fill(0, m_model.columnCount());
    for (int column = 0; column < m_wanted.size(); ++column) {
        int most = plain.horizontalAdvance(m_model.headerData(column, Qt::Horizontal).toString());
        const auto visit = [&](const QModelIndex& cell, const QFontMetrics& metrics, int indent) {
            const QString text = cell.data().toString();
            if (text.isEmpty())
                return;
            most = std::max(most,
                metrics.horizontalAdvance(text) + indent + (cell.data(UnitRole).toString().isEmpty() ? 0 : unit)
                    + (cell.data(MarkRole).toInt() == AssumedMark ? slant : 0));
        };
        for (int g = 0; g < m_model.rowCount(); ++g) {
            const QModelIndex group = m_model.index(g, 0);
            visit(m_model.index(g, column), strong, column == 0 ? indentation() + 4 : 0);
            for (int t = 0; t < m_model.rowCount(group); ++t)
                visit(m_model.index(t, column, group), plain, column == 0 ? 2 * indentation() + 4 : 0);
        }
        m_wanted[column] = most + 12;
    }
    if (m_model.ranks().count == 0)
        m_wanted[C::FirstRank] = plain.horizontalAdvance(tr("sharding")) + 18; // it wraps
    m_wanted[C::Name] = std::clamp(m_wanted[C::Name], leastName, 260);
    for (const GroupedHeader::Span& span : m_header->spans()) {
        // Titles that stand over several columns need their width too; the note may be elided.
        int has = 0;
        for (int column = span.first; column <= span.last; ++column)
            has += m_wanted[column];
        const int lacks = strong.horizontalAdvance(span.title) + 14 - has;
        if (lacks > 0)
            m_wanted[span.last] += lacks;
    }
}

void WorksheetView::fitColumns()
{
    measure();
    const int room = viewport()->width();
    QVector<bool> shown(m_wanted.size(), true);
    const auto total = [&] {
        int sum = 0;
        for (int column = 0; column < m_wanted.size(); ++column)
            sum += shown[column] ? m_wanted[column] : 0;
        return sum;
    };
    for (const int column : optional) {
        if (total() <= room)
            break;
        shown[column] = false;
    }
    QVector<int> widths = m_wanted;
    int spare = room - total();
    if (spare < 0) {
        // The name gives way before anything scrolls.
        const int give = std::min(-spare, std::max(0, widths[C::Name] - leastName));
        widths[C::Name] -= give;
    } else {
        const int name = std::min(spare, std::max(0, 200 - widths[C::Name]) / 2);
        widths[C::Name] += name;
        spare -= name;
        QVector<int> growing;
        for (int column = C::ConfiguredTokens; column < widths.size(); ++column)
            growing.push_back(column);
        const int each = std::min(40, spare / static_cast<int>(growing.size()));
        for (const int column : std::as_const(growing))
            widths[column] += each;
        spare -= each * static_cast<int>(growing.size());
        widths[C::Name] += spare; // so that the table ends where its frame does
    }
    for (int column = 0; column < widths.size(); ++column) {
        setColumnHidden(column, !shown[column]);
        if (shown[column] && columnWidth(column) != widths[column])
            setColumnWidth(column, widths[column]);
    }
}

int WorksheetView::lowestRow() const
{
    const QModelIndex last = m_model.index(m_model.rowCount() - 1, 0);
    return visualRect(last).bottom();
}

int WorksheetView::heightForRows() const
{
    int rows = m_model.rowCount();
    for (int g = 0; g < m_model.rowCount(); ++g) {
        if (isExpanded(m_model.index(g, 0)))
            rows += m_model.rowCount(m_model.index(g, 0));
    }
    const int bar = horizontalScrollBar()->maximum() > 0 ? horizontalScrollBar()->sizeHint().height() : 0;
    return m_header->sizeHint().height() + rows * (fontMetrics().height() + 6) + 2 * frameWidth() + 1 + bar;
}

void WorksheetView::drawRow(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QTreeView::drawRow(painter, option, index);
    const Tokens& tokens = tokensFor(palette());
    const QRect rect = option.rect;
    painter->save();
    painter->setPen(tokens.hairLine);
    painter->drawLine(rect.bottomLeft(), QPoint(m_header->length() - m_header->offset(), rect.bottom()));
    for (int column = 1; column < m_model.columnCount(); ++column) {
        if (isColumnHidden(column))
            continue;
        const int x = m_header->sectionViewportPosition(column);
        if (startsRule(column))
            painter->fillRect(QRect(x, rect.top(), 2, rect.height()), tokens.rule);
        else
            painter->drawLine(x, rect.top(), x, rect.bottom());
    }
    if (!index.parent().isValid() && index.row() == m_model.rowCount() - 1) {
        painter->setPen(QPen(tokens.rule, 1));
        painter->drawLine(rect.topLeft(), QPoint(m_header->length() - m_header->offset(), rect.top()));
    }
    painter->restore();
}

void WorksheetView::paintEvent(QPaintEvent* event)
{
    QTreeView::paintEvent(event);
    if (m_model.ranks().count > 0 || isColumnHidden(C::FirstRank))
        return;
    // No engine, no ranks: one merged cell says so.
    QPainter painter(viewport());
    const int left = m_header->sectionViewportPosition(C::FirstRank);
    const QRect cell(left + 2, 0, columnWidth(C::FirstRank) - 2, lowestRow());
    painter.fillRect(cell, palette().color(QPalette::AlternateBase));
    painter.setPen(tokensFor(palette()).dimText);
    const QRect inside = cell.adjusted(6, 4, -4, -4);
    constexpr int flags = Qt::AlignCenter | Qt::TextWordWrap;
    QString why = m_model.ranks().why;
    if (painter.boundingRect(inside, flags, why).height() > inside.height())
        why = why.section(QStringLiteral(": "), -1); // of a few rows only the outcome
    painter.drawText(inside, flags, why);
}

void WorksheetView::resizeEvent(QResizeEvent* event)
{
    QTreeView::resizeEvent(event);
    if (event->size().width() != event->oldSize().width())
        fitColumns();
}

void WorksheetView::keyPressEvent(QKeyEvent* event)
{
    const QModelIndex current = currentIndex();
    if (event->matches(QKeySequence::Copy)) {
        copySelection(*this);
    } else if (event->matches(QKeySequence::Paste) && state() != EditingState) {
        pasteClipboard(*this);
    } else if ((event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) && state() != EditingState) {
        if (current.flags().testFlag(Qt::ItemIsEditable))
            edit(current);
        else if (current.isValid())
            setExpanded(current.siblingAtColumn(0), !isExpanded(current.siblingAtColumn(0)));
    } else {
        QTreeView::keyPressEvent(event);
    }
}

void WorksheetView::mouseMoveEvent(QMouseEvent* event)
{
    QTreeView::mouseMoveEvent(event);
    const bool opens = !indexAt(event->pos()).data(FigureRole).toString().isEmpty();
    viewport()->setCursor(opens ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void WorksheetView::changeEvent(QEvent* event)
{
    QTreeView::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        fitColumns();
}

} // namespace kvw::gui
