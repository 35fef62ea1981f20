// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "models/fieldchoices.h"

#include <QString>
#include <QStringList>

#include <vector>

namespace kvw::gui {

/// Columns of the worksheet, in order. Rank columns follow from FirstRank on.
struct WorksheetColumns
{
    enum Column {
        Name,
        Kind,
        Layers,
        Shape, ///< heads × width
        Type,
        Growth,
        Placement,
        Shard,
        PerToken,
        Fixed,
        ConfiguredTokens,
        ConfiguredBytes,
        RetainedTokens,
        RetainedBytes,
        ReservedTokens,
        ReservedBytes,
        FirstRank,
    };
};

/// What a cell of the worksheet shows and edits.
struct WorksheetCell
{
    QString text;
    QString unit;
    QString exact;
    QString raw; ///< exact number for the clipboard
    QString figure; ///< path in the estimate
    QStringList fields; ///< plan fields that an edit sets, all to the same text; heads and width for a shape
    const FieldChoices* choices = nullptr;
    QString edit; ///< what an editor starts with
    double sort = 0;
    bool number = false;
    bool dim = false; ///< said for the reader, not the cell's own
    bool oddUnit = false; ///< most of the column has another unit
    int mark = 0;

    bool operator==(const WorksheetCell&) const = default;
};

/// A layer group with its tensors, a tensor, or the total.
struct WorksheetRow
{
    std::vector<WorksheetCell> cells;
    std::vector<WorksheetRow> tensors;
    QString element; ///< "worksheet.groups.full", "worksheet.groups.full.tensors.k"; empty for the total
};

/// The ranks that have a column: one that stands for all where they keep the same and are more than two.
struct WorksheetRanks
{
    static constexpr int mostShown = 8;
    int shown = 1; ///< columns, at least the one that says why there are none
    QString why; ///< why there are none
    int count = 0; ///< ranks in all; 0: no sharding rule chosen
    bool alike = false; ///< the one column stands for all

    bool operator==(const WorksheetRanks&) const = default;
};

WorksheetRanks ranksOf(const Estimate* estimate);
/// The rows for the document's plan and estimate: every group, then the total.
std::vector<WorksheetRow> worksheetRows(const PlanDocument& document, const WorksheetRanks& ranks);

/// The number in the notation of a growth cell: 4096 in "min(v, 4096)", nothing in "v". Any other text as it is: the
/// field says what it takes.
QString growthNumber(const WorksheetCell& cell, const QString& text);

} // namespace kvw::gui
