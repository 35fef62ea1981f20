// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QUndoCommand>

namespace kvw::gui {

/// One edit: the plan before and after. Every edit is a step of its own; none merges with another.
class PlanCommand final : public QUndoCommand
{
public:
    /// `path`: the field that is edited; empty for edits of several.
    PlanCommand(PlanDocument& document, Plan before, Plan after, QString path, const QString& name);

    void undo() override;
    void redo() override;

private:
    PlanDocument& m_document;
    Plan m_before;
    Plan m_after;
    QString m_path;
};

} // namespace kvw::gui
