// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QAbstractTableModel>

#include <vector>

namespace kvw::gui {

/// The live runs of the plan, newest first: those of this session, and those that only the plan file names.
class RunsModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column {
        Run,
        Device,
        ResultColumn,
        ColumnCount,
    };

    explicit RunsModel(PlanDocument& document, QObject* parent = nullptr);

    /// Id of the run in this row; empty beyond the last.
    QString idAt(int row) const;
    int rowOf(const QString& id) const; ///< −1: none

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    struct Entry
    {
        QString id;
        QString device;
        QString result;
        QString about;
        bool stale = false;
        bool differs = false;

        bool operator==(const Entry&) const = default;
    };

    std::vector<Entry> entries() const;
    void refresh();

    PlanDocument& m_document;
    std::vector<Entry> m_entries;
};

} // namespace kvw::gui
