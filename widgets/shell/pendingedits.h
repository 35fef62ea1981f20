// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>
#include <QString>

#include <optional>

class QWidget;

namespace kvw::gui {

class FieldForm;

/// Text that is no value for its field.
struct RefusedEdit
{
    FieldForm* form = nullptr; ///< null: it stands in a table's cell, which has the focus
    QString field;
};

/// What was typed below `window` and not yet committed goes into the plan. Gives the first text that is no value for
/// its field; why was told by its form or table.
std::optional<RefusedEdit> commitPendingEdits(QWidget& window);

/// Ctrl+Z and Ctrl+Shift+Z belong to the plan while the text field with the focus has nothing of its own to undo.
class UndoKeys : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* object, QEvent* event) override;
};

} // namespace kvw::gui
