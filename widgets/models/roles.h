// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <Qt>

namespace kvw::gui {

/// What every number cell of every table answers, so that one Explain dock and one delegate serve them all.
enum Role : int {
    SortRole = Qt::UserRole + 1, ///< the plain number, for sorting
    ExactRole, ///< QString: the exact value with unit, for tooltip, status bar and clipboard
    FigureRole, ///< QString: path of the figure in the estimate ("engine.blocks"); empty: cannot be opened
    FieldRole, ///< QString: path of the plan field that the cell edits
    UnitRole, ///< QString: unit to draw dim behind the number
    MarkRole, ///< int, a Mark
    RawRole, ///< QString: the plain number as a file has it, "7311458304": for the clipboard
    OddUnitRole, ///< bool: most cells of the column have another unit; this one's must not be missed
    DimRole, ///< bool: said for the reader, drawn in dim text
    RefusalRole, ///< QString: why the last edit of this cell was refused; empty when it was not
    ChoicesRole, ///< QStringList: values to choose from when edited
    ChoiceTitlesRole, ///< QStringList: the same as people read them
};

/// What a number says about itself.
enum Mark : int {
    NoMark,
    AssumedMark,
    MeasuredMark,
    StaleMark,
    NotStatedMark,
    TotalMark, ///< part of a total row
    DiffersMark, ///< an error is about it
};

} // namespace kvw::gui
