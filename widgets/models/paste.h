// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QModelIndex>
#include <QString>
#include <QStringList>
#include <QVector>

#include <utility>

class QAbstractItemView;

namespace kvw::gui {

/// A table whose cells edit fields of the plan, several at a time if need be.
class FieldCells
{
public:
    /// Field paths and texts.
    using Edits = QVector<std::pair<QString, QString>>;

    virtual ~FieldCells() = default;

    /// What an edit of the cell to `text` sets. Errors: the cell cannot be edited, or cannot take such a text; whether
    /// the fields take it is not looked at.
    virtual Result<Edits> editsOf(const QModelIndex& index, const QString& text) const = 0;
    /// "Layers of full".
    virtual QString cellName(const QModelIndex& index) const = 0;
    virtual PlanDocument& editedDocument() const = 0;
    /// Says that the cell did not take what it was given, as after a refused edit.
    virtual void refuse(const QModelIndex& index, const QString& why) = 0;
};

/// Rows of cells as spreadsheets put them on the clipboard: tabs between cells, a quoted cell may hold tabs, line ends
/// and doubled quotes. The line end after the last row is no row.
QVector<QStringList> cellsFromText(const QString& text);

/// Puts the block of cells into the view's table from its current cell on, to the right and down through what is
/// shown: one undo step, or nothing. One cell fills everything that is selected. A cell that already says what is
/// pasted is left alone, whether it can be edited or not; "–" clears. False when a cell refuses; it says why, and the
/// plan is as it was. REQUIRES a model that is FieldCells.
bool pasteCells(QAbstractItemView& view, const QString& text);
/// The same with the clipboard's text.
bool pasteClipboard(QAbstractItemView& view);

} // namespace kvw::gui
