// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/tableview.h"

#include "models/clipboard.h"
#include "models/numberdelegate.h"
#include "models/paste.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QResizeEvent>
#include <QScrollBar>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int narrowest = 44; // px of a column before the table scrolls
constexpr int mostRowsMeasured = 200;

/// Of `title` on one line, or on two where that is narrower.
int titleWidth(const QString& title, const QFontMetrics& metrics)
{
    const QStringList words = title.split(QLatin1Char(' '));
    int best = metrics.horizontalAdvance(title);
    for (qsizetype i = 1; i < words.size(); ++i)
        best = std::min(best,
            std::max(metrics.horizontalAdvance(words.mid(0, i).join(QLatin1Char(' '))),
                metrics.horizontalAdvance(words.mid(i).join(QLatin1Char(' ')))));
    return best;
}

} // namespace

TableView::TableView(QWidget* parent)
    : QTableView(parent)
{
    setItemDelegate(new NumberDelegate(this));
    setEditTriggers(DoubleClicked | EditKeyPressed | AnyKeyPressed);
    setTabKeyNavigation(false);
    setAlternatingRowColors(true);
    setHorizontalScrollMode(ScrollPerPixel);
    setWordWrap(false);
    setCornerButtonEnabled(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    verticalHeader()->setMinimumSectionSize(fontMetrics().height() + 4);
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setFixedHeight(fontMetrics().height() + 7);
}

int TableView::heightForRows() const
{
    return horizontalHeader()->height() + verticalHeader()->length() + 2 * frameWidth()
        + (horizontalScrollBar()->isVisible() ? horizontalScrollBar()->height() : 0);
}

void TableView::setColumnsFitted()
{
    m_fitted = true;
    horizontalHeader()->setFixedHeight(2 * fontMetrics().height() + 6);
    fitColumns();
}

void TableView::fitColumns()
{
    if (!model())
        return;
    const QFontMetrics metrics = horizontalHeader()->fontMetrics();
    const int sortMark = isSortingEnabled() ? style()->pixelMetric(QStyle::PM_HeaderMarkSize, nullptr, this) + 4 : 0;
    QVector<int> widths;
    int sum = 0;
    for (int column = 0; column < model()->columnCount(); ++column) {
        int width = titleWidth(model()->headerData(column, Qt::Horizontal).toString(), metrics) + 10
            + (column == horizontalHeader()->sortIndicatorSection() ? sortMark : 0);
        for (int row = 0; row < std::min(model()->rowCount(), mostRowsMeasured); ++row)
            width = std::max(width, sizeHintForIndex(model()->index(row, column)).width());
        widths.push_back(width);
        sum += width;
    }
    const int room = viewport()->width();
    while (sum > room) {
        const auto widest = std::max_element(widths.begin(), widths.end());
        if (widest == widths.end() || *widest <= narrowest)
            break;
        --*widest;
        --sum;
    }
    const int columns = static_cast<int>(widths.size());
    const int left = std::max(0, room - sum);
    for (int column = 0; column < columns; ++column)
        setColumnWidth(column, widths[column] + left / columns + (column < left % columns ? 1 : 0));
}

void TableView::resizeEvent(QResizeEvent* event)
{
    QTableView::resizeEvent(event);
    if (m_fitted && event->size().width() != event->oldSize().width())
        fitColumns();
}

void TableView::keyPressEvent(QKeyEvent* event)
{
    const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (event->matches(QKeySequence::Copy))
        copySelection(*this);
    else if (event->matches(QKeySequence::Paste) && state() != EditingState)
        pasteClipboard(*this);
    else if (enter && state() != EditingState && currentIndex().flags().testFlag(Qt::ItemIsEditable))
        edit(currentIndex());
    else
        QTableView::keyPressEvent(event);
}

} // namespace kvw::gui
