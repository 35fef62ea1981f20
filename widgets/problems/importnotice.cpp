// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "problems/importnotice.h"

#include "document/plandocument.h"
#include "models/numbertext.h"
#include "plan/import_problems.h"
#include "shell/messagebar.h"

namespace kvw::gui {

ImportNotice::ImportNotice(PlanDocument& document, MessageBar& bar, QObject* parent)
    : QObject(parent)
    , m_document(document)
    , m_bar(bar)
{
    connect(&bar, &MessageBar::actionTriggered, this, [this] {
        if (!m_shown.isEmpty() && m_bar.text() == m_shown) {
            m_bar.dismiss();
            emit goToField(m_path);
        }
    });
}

void ImportNotice::tell(const QString& name)
{
    int warnings = 0;
    QString first;
    for (const Diagnostic& problem : importProblems(m_document.plan())) {
        if (problem.severity != Severity::Warning)
            continue;
        if (warnings++ == 0) {
            first = QString::fromStdString(problem.message);
            m_path = QString::fromStdString(problem.path);
        }
    }
    if (warnings == 0)
        return;
    const QString more = warnings > 1
        ? QLatin1Char(' ') + tr("(And %1: F8.)").arg(counted(warnings - 1, tr("doubt more"), tr("doubts more")))
        : QString();
    m_bar.show(tr("%1: %2").arg(name, first) + more, tr("Go to the field"));
    m_shown = m_bar.text();
}

} // namespace kvw::gui
