// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QAbstractTableModel>
#include <QObject>

#include <vector>

class QCompleter;
class QLineEdit;

namespace kvw {
struct LibraryGpu;
}

namespace kvw::gui {

class PlanDocument;

/// The devices of the library that fit what was typed: name, memory as a driver reported it, and what it is sold as.
class GpuChoices : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column {
        Name,
        Memory, ///< in binary units; "not stated" where nobody read it
        SoldAs, ///< decimal, and no byte count
        ColumnCount,
    };

    explicit GpuChoices(QObject* parent = nullptr);

    void search(const QString& text);
    const LibraryGpu* gpuAt(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    std::vector<const LibraryGpu*> m_found;
};

/// Lets a line edit of the device's name pick one from the library: a list drops down as one types, or by the arrow in
/// the field. What is picked sets the name and the memory in one undo step; any other name can be typed all the same.
class GpuPicker : public QObject
{
    Q_OBJECT

public:
    GpuPicker(PlanDocument& document, QLineEdit& edit);

    /// Drops down the whole list.
    void showAll();

private:
    void choose(const QString& name);
    void fitPopup();

    PlanDocument& m_document;
    QLineEdit& m_edit;
    GpuChoices* m_choices;
    QCompleter* m_completer;
};

/// "sold as 80 GB; driver reading: …", for the device of that name; empty when the library does not know it.
QString gpuText(const QString& name);

} // namespace kvw::gui
