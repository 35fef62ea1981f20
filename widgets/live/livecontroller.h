// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "worker/workerclient.h"

#include <QObject>

#include <map>
#include <memory>

namespace kvw::gui {

/// Live runs of the document's plan: starts them on the worker, puts what comes into the document, and says how they
/// ended. A run's evidence goes into the plan when the run was complete and the plan is still the one that was run.
class LiveController : public QObject
{
    Q_OBJECT

public:
    explicit LiveController(PlanDocument& document, ClientSettings settings = {}, QObject* parent = nullptr);

    WorkerClient& client();
    bool isRunning() const;
    /// From cancel() to the end of the run.
    bool isCancelling() const;
    /// Id of the run that goes, or of the last one; empty before the first.
    const QString& currentId() const;
    /// Starts a run; its id. Does nothing while another goes.
    QString start(const ProbeOptions& options);
    void cancel();
    /// How far a run of this session came: phases, ceilings, memory. Null for runs that only the plan file knows.
    std::shared_ptr<const RunProgress> progressOf(const QString& id) const;
    /// "Worker: busy, host": for the status bar.
    QString statusText() const;

signals:
    /// Any news: progress, the start or end of a run, the worker's state.
    void changed();
    /// A sentence for the message bar.
    void message(const QString& text);

private:
    void progressed();
    void ended(const std::shared_ptr<const RunEnd>& end);
    void loadEvents(const std::shared_ptr<const LiveResult>& run);
    void tellEnd(const RunEnd& end, bool stored);
    void removeOldRuns();
    QString nextId() const;

    PlanDocument& m_document;
    QString m_runsFolder; // empty: where the settings say
    WorkerClient m_client;
    QString m_id;
    QString m_device;
    bool m_cancelling = false;
    bool m_orphan = false; // the document was replaced while it ran
    std::map<QString, std::shared_ptr<const RunProgress>> m_progress;
};

/// What people call a run: "run 3" for "run3".
QString runTitle(const QString& id);
/// "cancelled at step 8,522 of 25,637", or in which phase: how a run that was cancelled is told of everywhere.
QString cancelledText(const RunProgress& progress);

/// What a run's state comes to.
enum class RunState {
    Running,
    Done,
    Cancelled,
    Stopped,
};
RunState stateOf(const LiveResult& run);

} // namespace kvw::gui
