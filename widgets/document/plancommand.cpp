// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "document/plancommand.h"

namespace kvw::gui {

PlanCommand::PlanCommand(PlanDocument& document, Plan before, Plan after, QString path, const QString& name)
    : QUndoCommand(name)
    , m_document(document)
    , m_before(std::move(before))
    , m_after(std::move(after))
    , m_path(std::move(path))
{
    // Evidence is not under undo: the document keeps its own.
    for (Plan* plan : {&m_before, &m_after}) {
        plan->evidence.clear();
        plan->runs.clear();
    }
}

void PlanCommand::undo()
{
    m_document.apply(m_before, m_path);
}

void PlanCommand::redo()
{
    m_document.apply(m_after, m_path);
}

} // namespace kvw::gui
