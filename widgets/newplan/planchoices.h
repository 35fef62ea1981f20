// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "plan/model_library.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace kvw::gui {

/// What a new plan can start from, as far as it fits what was typed: files that were open before, then models of the
/// user's own library and of the built-in one.
class PlanChoices : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column {
        Name,
        Layers, ///< "18 full + 18 sliding"; of a file, its folder
        From, ///< "library, config file", "own library", "recent"
        ColumnCount,
    };

    /// `recent`: paths, the last one first. `own`: the user's own models; they must outlive this.
    PlanChoices(QStringList recent, const std::vector<LibraryModel>& own, QObject* parent = nullptr);

    /// Shows what has every word of `text` in its name.
    void search(const QString& text);
    /// The model of a row, or null: then it is a file.
    const LibraryModel* modelAt(int row) const;
    /// The file of a row; empty when it is a model.
    QString fileAt(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QStringList m_recent;
    std::vector<const LibraryModel*> m_all;
    QStringList m_files; ///< that fit
    std::vector<const LibraryModel*> m_models; ///< that fit
};

} // namespace kvw::gui
