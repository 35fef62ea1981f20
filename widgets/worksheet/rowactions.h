// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QObject>
#include <QStringList>

class QAction;
class QMenu;

namespace kvw::gui {

class WorksheetModel;
class WorksheetView;

/// What can be done with the rows of the worksheet: layer groups and tensors are added, duplicated, split, merged,
/// retyped, moved and removed. Each is one undo step by name, an action of a menu with a key of its own while the table
/// has the focus, and found by the command field. What is not possible is disabled and says why.
class RowActions : public QObject
{
    Q_OBJECT

public:
    /// `page` gets the actions, so that the command field finds them.
    RowActions(PlanDocument& document, WorksheetModel& model, WorksheetView& view, QWidget* page);

    QMenu* menu() const;

    /// Adds a layer group of full attention behind the selected one.
    void addGroup();
    /// Adds a tensor to the selected group, like the selected one.
    void addTensor();
    /// A copy of the selected group or tensor.
    void duplicate();
    /// Asks how many layers go into a second group, in a window that blocks nothing.
    void split();
    /// Makes one group of those that are selected.
    void merge();
    /// Asks for a preset and its numbers, in a window that blocks nothing.
    void retype();
    /// Moves the selected group, or the tensor in its group, by one row.
    void move(int direction);
    /// Removes the selected row.
    void remove();

signals:
    /// Something was refused: one sentence.
    void message(const QString& text);
    /// The row of this field shall be selected.
    void fieldRequested(const QString& path);

private:
    QAction* add(const QString& text, const QString& key, void (RowActions::*slot)());
    void refresh();
    QString element() const;
    QString group() const;
    QStringList selectedGroups() const;
    /// One undo step; a refusal is told and changes nothing.
    bool edit(const QString& name, const std::function<Result<void>(Plan&)>& change);
    void showGroup(const QString& id);

    PlanDocument& m_document;
    WorksheetModel& m_model;
    WorksheetView& m_view;
    QWidget* m_page;
    QMenu* m_menu;
    QAction* m_addTensor;
    QAction* m_duplicate;
    QAction* m_split;
    QAction* m_merge;
    QAction* m_retype;
    QAction* m_up;
    QAction* m_down;
    QAction* m_remove;
};

} // namespace kvw::gui
