// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/pendingedits.h"

#include "forms/fieldform.h"
#include "models/numberdelegate.h"

#include <QAbstractItemView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPointer>
#include <QWidget>

namespace kvw::gui {

namespace {

/// The editor of a table's cell that has the focus, with the delegate that made it.
bool commitCell(QWidget* focus)
{
    for (QWidget* at = focus; at && at->parentWidget(); at = at->parentWidget()) {
        auto* view = qobject_cast<QAbstractItemView*>(at->parentWidget()->parentWidget());
        if (!view || view->viewport() != at->parentWidget())
            continue;
        auto* delegate = qobject_cast<NumberDelegate*>(view->itemDelegate());
        return !delegate || delegate->commit(at);
    }
    return true;
}

} // namespace

std::optional<RefusedEdit> commitPendingEdits(QWidget& window)
{
    const QPointer<QWidget> focus = window.focusWidget();
    if (!commitCell(focus))
        return RefusedEdit {};
    QVector<QPointer<FieldForm>> forms; // a commit may replace some of them
    for (FieldForm* form : window.findChildren<FieldForm*>())
        forms.push_back(form);
    for (const QPointer<FieldForm>& form : std::as_const(forms)) {
        const QString path = form ? form->commitPending() : QString();
        if (!path.isEmpty())
            return RefusedEdit {form, path};
    }
    // Fields that are no part of the plan listen to the same signal.
    auto* line = qobject_cast<QLineEdit*>(focus.data());
    if (line && line->isModified())
        emit line->editingFinished();
    return std::nullopt;
}

bool UndoKeys::eventFilter(QObject* object, QEvent* event)
{
    if (event->type() != QEvent::ShortcutOverride)
        return false;
    const auto* line = qobject_cast<QLineEdit*>(object);
    if (!line)
        return false;
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool undo = key->matches(QKeySequence::Undo);
    const bool redo = key->matches(QKeySequence::Redo);
    if ((!undo || line->isModified()) && (!redo || line->isRedoAvailable()))
        return false;
    event->ignore(); // the window's own shortcut takes it
    return true;
}

} // namespace kvw::gui
