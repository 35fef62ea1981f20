// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/paste.h"

#include "models/clipboard.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/field_table.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QItemSelectionModel>
#include <QTableView>
#include <QTreeView>

#include <algorithm>

namespace kvw::gui {

namespace {

QString words(const char* text)
{
    return QCoreApplication::translate("Paste", text);
}

/// The row below, as the view shows it; invalid after the last.
QModelIndex below(const QAbstractItemView& view, const QModelIndex& index)
{
    if (const auto* tree = qobject_cast<const QTreeView*>(&view))
        return tree->indexBelow(index.siblingAtColumn(0)).siblingAtColumn(index.column());
    return index.siblingAtRow(index.row() + 1);
}

bool isShown(const QAbstractItemView& view, int column)
{
    if (const auto* tree = qobject_cast<const QTreeView*>(&view))
        return !tree->isColumnHidden(column);
    const auto* table = qobject_cast<const QTableView*>(&view);
    return !table || !table->isColumnHidden(column);
}

/// The next column that is shown; invalid after the last.
QModelIndex after(const QAbstractItemView& view, QModelIndex index)
{
    do
        index = index.siblingAtColumn(index.column() + 1);
    while (index.isValid() && !isShown(view, index.column()));
    return index;
}

/// A text as the cell's parser has it: the name of a choice, and nothing for what is not stated.
QString asEdit(const QModelIndex& index, const QString& text)
{
    QString out = text.trimmed();
    if (out == QStringLiteral("–") || out == words("not stated"))
        return {};
    const qsizetype choice = index.data(ChoiceTitlesRole).toStringList().indexOf(out);
    return choice < 0 ? out : index.data(ChoicesRole).toStringList().value(choice, out);
}

struct Target
{
    QModelIndex index;
    QString text;
};

struct Targets
{
    QVector<Target> cells;
    QString problem; ///< why the block has no place
};

/// Which cell gets which text.
Targets targetsOf(const QAbstractItemView& view, const QVector<QStringList>& block)
{
    Targets out;
    const QModelIndex first = view.currentIndex();
    const QModelIndexList selected = view.selectionModel()->selectedIndexes();
    if (block.size() == 1 && block.front().size() == 1 && selected.size() > 1) {
        for (const QModelIndex& index : selected)
            out.cells.push_back({index, block.front().front()});
        return out;
    }
    QModelIndex row = first;
    for (qsizetype r = 0; r < block.size(); ++r, row = below(view, row)) {
        if (!row.isValid()) {
            out.problem = words("%1 rows do not fit from the selected cell on")
                              .arg(countText(static_cast<qint64>(block.size())));
            return out;
        }
        QModelIndex cell = row;
        for (const QString& text : block[r]) {
            if (!cell.isValid()) {
                out.problem = words("%1 columns do not fit from the selected cell on")
                                  .arg(countText(static_cast<qint64>(block[r].size())));
                return out;
            }
            out.cells.push_back({cell, text});
            cell = after(view, cell);
        }
    }
    return out;
}

/// What an edit would set, tried on a copy of the plan.
Result<FieldCells::Edits> tried(FieldCells& cells, const Target& target, Plan& plan)
{
    Result<FieldCells::Edits> edits = cells.editsOf(target.index, asEdit(target.index, target.text));
    if (!edits)
        return edits;
    for (const auto& [path, text] : *edits) {
        if (const Result<void> set = setField(plan, path.toStdString(), text.toStdString()); !set)
            return set.error();
    }
    return edits;
}

} // namespace

QVector<QStringList> cellsFromText(const QString& text)
{
    QVector<QStringList> out;
    QStringList row;
    QString cell;
    bool quoted = false;
    bool begun = false; // something of the row has come
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (quoted) {
            if (c == QLatin1Char('"') && i + 1 < text.size() && text[i + 1] == c)
                cell += text[++i];
            else if (c == QLatin1Char('"'))
                quoted = false;
            else
                cell += c;
        } else if (c == QLatin1Char('"') && cell.isEmpty()) {
            quoted = begun = true;
        } else if (c == QLatin1Char('\t')) {
            row.push_back(std::exchange(cell, {}));
            begun = true;
        } else if (c == QLatin1Char('\n')) {
            row.push_back(std::exchange(cell, {}));
            out.push_back(std::exchange(row, {}));
            begun = false;
        } else if (c != QLatin1Char('\r')) {
            cell += c;
            begun = true;
        }
    }
    if (begun) {
        row.push_back(cell);
        out.push_back(row);
    }
    return out;
}

bool pasteCells(QAbstractItemView& view, const QString& text)
{
    auto* cells = dynamic_cast<FieldCells*>(view.model());
    const QVector<QStringList> block = cellsFromText(text);
    if (!cells || block.isEmpty() || !view.currentIndex().isValid())
        return false;
    const Targets targets = targetsOf(view, block);
    if (!targets.problem.isEmpty()) {
        cells->refuse(view.currentIndex(), words("Not pasted: %1. Nothing was changed.").arg(targets.problem));
        return false;
    }
    PlanDocument& document = cells->editedDocument();
    Plan plan = document.plan();
    FieldCells::Edits edits;
    for (const Target& target : targets.cells) {
        if (target.text.trimmed() == copiedText(target.index).trimmed())
            continue;
        const Result<FieldCells::Edits> more = tried(*cells, target, plan);
        if (!more) {
            cells->refuse(target.index,
                words("Not pasted: %1: %2. Nothing was changed.")
                    .arg(cells->cellName(target.index), QString::fromStdString(more.error().text())));
            return false;
        }
        edits += *more;
    }
    const QString name = targets.cells.size() == 1
        ? words("Paste %1").arg(cells->cellName(targets.cells.front().index))
        : words("Paste %1 cells from %2 on")
              .arg(countText(static_cast<qint64>(targets.cells.size())), cells->cellName(targets.cells.front().index));
    return document.setFields(name, edits).ok(); // each has been tried
}

bool pasteClipboard(QAbstractItemView& view)
{
    return pasteCells(view, QApplication::clipboard()->text());
}

} // namespace kvw::gui
