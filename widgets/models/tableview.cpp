// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/tableview.h"

#include "models/clipboard.h"
#include "models/numberdelegate.h"
#include "models/paste.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QScrollBar>

namespace kvw::gui {

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
