// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QModelIndexList>

#include <memory>

class QAbstractItemView;
class QMimeData;

namespace kvw::gui {

/// Cells as a spreadsheet takes them: text with tabs, and HTML. Numbers are exact and in the C locale, whatever the
/// view shows. Rows come in the view's order, cells that are not selected between selected ones are empty.
std::unique_ptr<QMimeData> cellsAsMime(const QModelIndexList& indexes);

/// What a copy of the cell is: its plain number, else what it shows.
QString copiedText(const QModelIndex& index);

/// Puts the view's selected cells on the clipboard (nothing selected: nothing happens).
void copySelection(const QAbstractItemView& view);

} // namespace kvw::gui
