// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "models/paste.h"
#include "worksheet/worksheetrows.h"

#include <QAbstractItemModel>

namespace kvw::gui {

/// The worksheet as a tree: layer groups, each with its tensors below, and a total at the end.
///
/// Only translates: cells come from the document's estimate, edits go to the document. Rows and columns keep their
/// places over an edit of a value, and only cells that changed are announced, so that views keep selection and
/// scrolling and paint little; a change of the groups or of the ranks resets the model.
class WorksheetModel : public QAbstractItemModel, public WorksheetColumns, public FieldCells
{
    Q_OBJECT

public:
    explicit WorksheetModel(PlanDocument& document, QObject* parent = nullptr);

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& child) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;

    Result<Edits> editsOf(const QModelIndex& index, const QString& text) const override;
    QString cellName(const QModelIndex& index) const override;
    PlanDocument& editedDocument() const override;
    void refuse(const QModelIndex& index, const QString& why) override;

    /// Where the field at `path` is edited; invalid when it is not in the table.
    QModelIndex indexOfField(const QString& path) const;
    /// Where the figure at `path` is shown; invalid when it is not in the table.
    QModelIndex indexOfFigure(const QString& path) const;
    /// The list element that the row stands for ("worksheet.groups.full.tensors.k"); empty for the total.
    QString elementOf(const QModelIndex& index) const;
    /// The row's first cell; invalid when the element is not in the table.
    QModelIndex indexOfElement(const QString& element) const;
    const WorksheetRanks& ranks() const;

signals:
    /// An edit was refused; the old value stays.
    void editRefused(const QString& path, const QString& why);

private:
    /// True for the cell that shows a tensor's id, which is no field of it.
    static bool isTensorId(const QModelIndex& index);
    bool rename(const QModelIndex& index, const QString& id);
    void rebuild();
    void announce(const WorksheetRow& before, const WorksheetRow& now, int row, const QModelIndex& parent);
    const WorksheetCell* cellAt(const QModelIndex& index) const;
    template <typename Matches>
    QModelIndex find(Matches matches) const;

    PlanDocument& m_document;
    std::vector<WorksheetRow> m_rows;
    WorksheetRanks m_ranks;
    QString m_refusedField;
    QString m_refusal;
};

} // namespace kvw::gui
