// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "newplan/planchoices.h"

#include "models/numbertext.h"

#include <QFileInfo>

#include <algorithm>

namespace kvw::gui {

PlanChoices::PlanChoices(QStringList recent, const std::vector<LibraryModel>& own, QObject* parent)
    : QAbstractTableModel(parent)
    , m_recent(std::move(recent))
{
    for (const LibraryModel& model : own)
        m_all.push_back(&model);
    for (const LibraryModel& model : builtInModels())
        m_all.push_back(&model);
    m_files = m_recent;
    m_models = m_all;
}

void PlanChoices::search(const QString& text)
{
    beginResetModel();
    m_models = searchModels(m_all, text.toStdString());
    m_files.clear();
    const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (const QString& file : std::as_const(m_recent)) {
        if (std::all_of(words.begin(), words.end(),
                [&](const QString& word) { return file.contains(word, Qt::CaseInsensitive); }))
            m_files.push_back(file);
    }
    endResetModel();
}

const LibraryModel* PlanChoices::modelAt(int row) const
{
    const qsizetype at = row - m_files.size();
    return at >= 0 && at < static_cast<qsizetype>(m_models.size()) ? m_models[static_cast<std::size_t>(at)] : nullptr;
}

QString PlanChoices::fileAt(int row) const
{
    return m_files.value(row);
}

int PlanChoices::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_files.size()) + static_cast<int>(m_models.size());
}

int PlanChoices::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant PlanChoices::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
        return {};
    const LibraryModel* model = modelAt(index.row());
    if (!model) {
        const QFileInfo file(fileAt(index.row()));
        if (role == Qt::ToolTipRole)
            return file.filePath();
        return index.column() == Name ? file.fileName() : index.column() == Layers ? file.path() : tr("recent");
    }
    if (index.column() == Name)
        return fromStd(model->id);
    if (index.column() == Layers) {
        QStringList parts;
        for (const LayerGroup& group : model->groups)
            parts.push_back(QStringLiteral("%1 %2").arg(group.layers).arg(fromStd(group.id)));
        return parts.join(QStringLiteral(" + "));
    }
    return (model->own ? tr("own library, %1") : tr("library, %1")).arg(fromStd(model->confidence));
}

QVariant PlanChoices::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == Name ? tr("Model or file") : section == Layers ? tr("Layers") : tr("From");
}

} // namespace kvw::gui
