// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/clipboard.h"

#include "models/roles.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QClipboard>
#include <QItemSelectionModel>
#include <QMap>
#include <QMimeData>
#include <QVector>

namespace kvw::gui {

namespace {

/// Row numbers from the root down: sorts rows of a tree as it shows them.
QVector<int> rowPath(const QModelIndex& index)
{
    QVector<int> out;
    for (QModelIndex at = index; at.isValid(); at = at.parent())
        out.prepend(at.row());
    return out;
}

} // namespace

QString copiedText(const QModelIndex& index)
{
    const QString raw = index.data(RawRole).toString();
    return raw.isEmpty() ? index.data(Qt::DisplayRole).toString() : raw;
}

std::unique_ptr<QMimeData> cellsAsMime(const QModelIndexList& indexes)
{
    QMap<QVector<int>, QMap<int, QString>> rows;
    QMap<int, bool> columns;
    for (const QModelIndex& index : indexes) {
        rows[rowPath(index)][index.column()] = copiedText(index);
        columns[index.column()] = !index.data(RawRole).toString().isEmpty();
    }
    QString tsv;
    QString html = QStringLiteral("<table>");
    for (const QMap<int, QString>& row : std::as_const(rows)) {
        QStringList cells;
        html += QStringLiteral("<tr>");
        for (auto column = columns.cbegin(); column != columns.cend(); ++column) {
            QString text = row.value(column.key());
            text.replace(QLatin1Char('\t'), QLatin1Char(' ')).replace(QLatin1Char('\n'), QLatin1Char(' '));
            cells.push_back(text);
            html += (column.value() ? QStringLiteral("<td align=\"right\">") : QStringLiteral("<td>"))
                + text.toHtmlEscaped() + QStringLiteral("</td>");
        }
        html += QStringLiteral("</tr>");
        tsv += cells.join(QLatin1Char('\t')) + QLatin1Char('\n');
    }
    auto out = std::make_unique<QMimeData>();
    out->setText(tsv);
    out->setHtml(html + QStringLiteral("</table>"));
    return out;
}

void copySelection(const QAbstractItemView& view)
{
    const QModelIndexList indexes
        = view.selectionModel() ? view.selectionModel()->selectedIndexes() : QModelIndexList();
    if (!indexes.isEmpty())
        QApplication::clipboard()->setMimeData(cellsAsMime(indexes).release());
}

} // namespace kvw::gui
