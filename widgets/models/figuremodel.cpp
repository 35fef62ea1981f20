// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/figuremodel.h"

#include "models/numbertext.h"
#include "models/roles.h"

#include <QPainter>
#include <QPixmap>

namespace kvw::gui {

FigureModel::FigureModel(QObject* parent)
    : QAbstractTableModel(parent)
{}

void FigureModel::setLines(std::vector<Line> lines)
{
    const bool sameSize = lines.size() == m_lines.size();
    if (!sameSize)
        beginResetModel();
    m_lines = std::move(lines);
    if (!sameSize)
        endResetModel();
    else if (!m_lines.empty())
        emit dataChanged(index(0, 0), index(rowCount() - 1, 1));
}

int FigureModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_lines.size());
}

int FigureModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : 2;
}

namespace {

QPixmap swatchOf(const QBrush& brush)
{
    QPixmap out(12, 12);
    out.fill(Qt::transparent);
    QPainter painter(&out);
    painter.fillRect(out.rect(), brush);
    painter.setPen(brush.color());
    painter.drawRect(out.rect().adjusted(0, 0, -1, -1));
    return out;
}

} // namespace

QVariant FigureModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Line& line = m_lines[static_cast<std::size_t>(index.row())];
    if (role == FigureRole)
        return line.figure;
    if (index.column() == 0) {
        if (role == Qt::DecorationRole && line.swatch.style() != Qt::NoBrush)
            return swatchOf(line.swatch);
        return role == Qt::DisplayRole || role == ExactRole ? QVariant(line.title) : QVariant();
    }
    const NumberText text
        = line.quantity ? numberText(*line.quantity) : NumberText {QStringLiteral("–"), {}, {}, {}, 0};
    switch (role) {
    case Qt::DisplayRole:
        return text.number;
    case UnitRole:
        return text.unit;
    case ExactRole:
        return text.exact;
    case RawRole:
        return text.plain;
    case SortRole:
        return text.sort;
    case Qt::ToolTipRole:
        return text.exact.isEmpty() ? QVariant() : QVariant(tr("%1 · F4 to explain").arg(text.exact));
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::AccessibleTextRole:
        return line.title + QLatin1Char(' ') + text.exact;
    default:
        return {};
    }
}

QVariant FigureModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole || section > 1)
        return {};
    return section == 0 ? tr("Figure") : tr("Value");
}

QModelIndex FigureModel::indexOfFigure(const QString& path) const
{
    for (std::size_t i = 0; i < m_lines.size(); ++i) {
        if (m_lines[i].quantity && m_lines[i].figure == path)
            return index(static_cast<int>(i), 1);
    }
    return {};
}

} // namespace kvw::gui
