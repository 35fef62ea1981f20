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
{}

void PlanCommand::undo()
{
    m_document.apply(m_before, m_path);
}

void PlanCommand::redo()
{
    m_document.apply(m_after, m_path);
}

int PlanCommand::id() const
{
    return m_path.isEmpty() ? -1 : 1;
}

bool PlanCommand::mergeWith(const QUndoCommand* other)
{
    const auto* next = static_cast<const PlanCommand*>(other);
    if (next->m_path != m_path || m_path.isEmpty())
        return false;
    m_after = next->m_after;
    setText(next->text());
    return true;
}

} // namespace kvw::gui
