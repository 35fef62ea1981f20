// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "models/fieldchoices.h"
#include "models/paste.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace kvw::gui {

/// A list of the plan ("tenants") as a table: one row an element, its id first, then the fields that are named. Titles,
/// choices and help come from the field table; edits go to the document. A cell that a diagnostic is about starts with
/// its glyph and says it in the tooltip.
class ElementModel : public QAbstractTableModel, public FieldCells
{
    Q_OBJECT

public:
    /// `list`: path of the list. `fields`: last parts of field paths, one a column after the id's.
    ElementModel(PlanDocument& document, const QString& list, const QString& idTitle, const QStringList& fields,
        QObject* parent = nullptr);

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

    QModelIndex indexOfField(const QString& path) const;
    QString idAt(int row) const;

signals:
    /// An edit was refused; the old value stays.
    void editRefused(const QString& path, const QString& why);

private:
    struct Cell
    {
        QString text;
        QString edit;
        QString field;
        QString problem; ///< sentence of a diagnostic
        const FieldChoices* choices = nullptr;
        bool number = false;
        int mark = 0;

        bool operator==(const Cell&) const = default;
    };
    using Row = std::vector<Cell>;

    void rebuild();
    std::vector<Row> rows() const;

    PlanDocument& m_document;
    QString m_list;
    QString m_idTitle;
    QStringList m_fields;
    QStringList m_titles;
    QVector<bool> m_numbers;
    std::vector<Row> m_rows;
    QString m_refusedField;
    QString m_refusal;
};

} // namespace kvw::gui
