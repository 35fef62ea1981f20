// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "prediction/predictionnotice.h"

#include "document/plandocument.h"
#include "prediction/predictionrunner.h"
#include "shell/messagebar.h"

namespace kvw::gui {

PredictionNotice::PredictionNotice(PlanDocument& document, PredictionRunner& runner, MessageBar& bar, QObject* parent)
    : QObject(parent)
    , m_document(document)
    , m_bar(bar)
{
    connect(&document, &PlanDocument::planChanged, this, &PredictionNotice::refresh);
    // Only now does the stack know the name of the step.
    connect(document.undoStack(), &QUndoStack::indexChanged, this, &PredictionNotice::refresh);
    connect(&document, &PlanDocument::predictionChanged, this, &PredictionNotice::refresh);
    connect(&bar, &MessageBar::actionTriggered, this, [this, &runner] {
        if (!m_shown.isEmpty() && m_bar.text() == m_shown)
            runner.start();
    });
}

void PredictionNotice::refresh()
{
    const bool mine = !m_shown.isEmpty() && m_bar.text() == m_shown;
    if (!m_document.isPredictionStale()) {
        if (mine)
            m_bar.dismiss();
        m_shown.clear();
        return;
    }
    const QString last = m_document.undoStack()->undoText();
    m_bar.show(last.isEmpty() ? tr("The prediction is of an earlier plan.")
                              : tr("The prediction is of an earlier plan (last change: %1).").arg(last),
        tr("Predict again"));
    m_shown = m_bar.text();
}

} // namespace kvw::gui
