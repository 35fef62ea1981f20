// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QAbstractItemModel>
#include <QStringList>

#include <vector>

namespace kvw::gui {

/// The worksheet as a tree: layer groups, each with its tensors below, and a total at the end.
///
/// Only translates: cells come from the document's estimate, edits go to the document. Rows and columns keep their
/// places over an edit of a value, so that views keep selection and scrolling; a change of the groups resets the model.
class WorksheetModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Column {
        Name,
        Kind,
        Layers,
        Heads,
        Width,
        Type,
        Growth,
        Limit,
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
        FirstRank, ///< one column for each rank shown, or one that says why there is none
    };
    static constexpr int mostRanks = 8; ///< more ranks keep the same; a table of them helps nobody

    explicit WorksheetModel(PlanDocument& document, QObject* parent = nullptr);

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;

    /// Where the field at `path` is edited; invalid when it is not in the worksheet.
    QModelIndex indexOfField(const QString& path) const;

signals:
    /// An edit was refused; the old value stays.
    void editRefused(const QString& path, const QString& why);

private:
    struct Cell
    {
        QString text;
        QString unit;
        QString exact;
        QString figure;
        QString field;
        QStringList choices;
        QString edit; ///< what an editor starts with
        double sort = 0;
        bool number = false;
        int mark = 0;
    };
    struct Row
    {
        std::vector<Cell> cells;
        std::vector<Row> tensors;
        bool total = false;
    };

    void rebuild();
    Row groupRow(const LayerGroup& group, const GroupEstimate* estimate) const;
    Row tensorRow(const LayerGroup& group, const StateTensor& tensor, const TensorEstimate* estimate) const;
    Row totalRow() const;
    void fieldCell(Row& row, int column, const std::string& path) const;
    void figureCell(Row& row, int column, const std::string& path, const Quantity& quantity) const;
    const Cell* cellAt(const QModelIndex& index) const;

    PlanDocument& m_document;
    std::vector<Row> m_rows;
    int m_ranks = 0; // rank columns, at least the one that says why there are none
};

} // namespace kvw::gui
