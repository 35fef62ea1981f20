// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/celltablemodel.h"

#include "models/numbertext.h"
#include "models/roles.h"

#include <QFont>

namespace kvw::gui {

Cell Cell::words(const QString& text)
{
    Cell out;
    out.text = text;
    out.sort = text;
    return out;
}

Cell Cell::count(std::int64_t value, bool missing)
{
    Cell out;
    out.number = true;
    out.text = missing ? QStringLiteral("–") : countText(value);
    out.sort = missing ? -1.0 : static_cast<double>(value);
    return out;
}

Cell Cell::bytes(std::int64_t value)
{
    const NumberText text = bytesText(value);
    Cell out;
    out.number = true;
    out.text = text.number;
    out.unit = text.unit;
    out.exact = text.exact;
    out.sort = text.sort;
    return out;
}

CellTableModel::CellTableModel(const QStringList& headers, QObject* parent)
    : QAbstractTableModel(parent)
    , m_headers(headers)
{}

void CellTableModel::setRows(QVector<QVector<Cell>> rows)
{
    if (rows.size() == m_rows.size()) {
        m_rows = std::move(rows);
        if (!m_rows.isEmpty())
            emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        return;
    }
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

void CellTableModel::setHeaderTips(const QStringList& tips)
{
    m_tips = tips;
}

void CellTableModel::setStale(bool stale)
{
    if (m_stale == stale)
        return;
    m_stale = stale;
    if (!m_rows.isEmpty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), {MarkRole});
}

int CellTableModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int CellTableModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_headers.size());
}

QVariant CellTableModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid) || index.column() >= m_rows[index.row()].size())
        return {};
    const Cell& cell = m_rows[index.row()][index.column()];
    switch (role) {
    case Qt::DisplayRole:
        return cell.text;
    case Qt::TextAlignmentRole:
        return QVariant((cell.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        if (!cell.figure.isEmpty())
            return tr("%1 · F4 to explain").arg(cell.exact.isEmpty() ? cell.text : cell.exact);
        return cell.exact.isEmpty() ? QVariant() : QVariant(cell.exact);
    case FigureRole:
        return cell.figure;
    case Qt::FontRole:
        if (cell.strong) {
            QFont font;
            font.setWeight(QFont::DemiBold);
            return font;
        }
        return {};
    case Qt::DecorationRole:
        return cell.decoration;
    case SortRole:
        return cell.sort;
    case ExactRole:
        return cell.exact.isEmpty() ? cell.text : cell.exact;
    case UnitRole:
        return cell.unit;
    case MarkRole:
        if (m_stale)
            return int(StaleMark);
        return int(cell.warns ? NotStatedMark : NoMark);
    default:
        return {};
    }
}

QVariant CellTableModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section >= m_headers.size())
        return {};
    if (role == Qt::DisplayRole)
        return m_headers[section];
    if (role == Qt::ToolTipRole && section < m_tips.size())
        return m_tips[section];
    if (role == Qt::TextAlignmentRole && !m_rows.isEmpty() && section < m_rows.front().size())
        return static_cast<int>(
            (m_rows.front()[section].number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter | Qt::TextWordWrap);
    return {};
}

} // namespace kvw::gui
