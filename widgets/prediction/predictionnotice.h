// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QObject>

namespace kvw::gui {

class MessageBar;
class PlanDocument;
class PredictionRunner;

/// Says in the message bar that the prediction is of an earlier plan, with a button that predicts again. Goes when an
/// undo makes it current, and when a new one is there.
class PredictionNotice : public QObject
{
    Q_OBJECT

public:
    PredictionNotice(PlanDocument& document, PredictionRunner& runner, MessageBar& bar, QObject* parent = nullptr);

private:
    void refresh();

    PlanDocument& m_document;
    MessageBar& m_bar;
    QString m_shown; ///< what stands in the bar from here; empty when nothing does
};

} // namespace kvw::gui
