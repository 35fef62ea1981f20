// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QElapsedTimer>
#include <QFutureWatcher>
#include <QObject>
#include <QTimer>

#include <memory>

namespace kvw::gui {

/// Predicts the document's plan in the background and puts the result into the document.
///
/// The plan is copied at the start; edits while it runs make the result stale, no more. One prediction at a time: a
/// second start() ends the first. A cancelled prediction leaves the document's as it was. Lives in the GUI thread.
class PredictionRunner : public QObject
{
    Q_OBJECT

public:
    explicit PredictionRunner(PlanDocument& document, QObject* parent = nullptr);
    /// Cancels and waits.
    ~PredictionRunner() override;

    void start();
    /// Stops and says so.
    void cancel();
    bool isRunning() const;
    /// Of the prediction that runs: steps done, requests that have ended, requests offered (0 before that is known).
    qint64 steps() const;
    qint64 requestsDone() const;
    qint64 requestsOffered() const;
    qint64 elapsedMs() const;

signals:
    void started();
    /// At most ten times a second.
    void progressed();
    /// However it ended; the result, if there is one, is in the document by then.
    void finished();
    /// It cannot be made, or it was stopped: one sentence.
    void message(const QString& text);

private:
    struct Job;
    using Outcome = Result<std::shared_ptr<const PredictionResult>>;
    static Outcome work(const Plan& plan, Job& job);
    void done();

    PlanDocument& m_document;
    std::shared_ptr<Job> m_job;
    QFutureWatcher<std::shared_ptr<Outcome>> m_watcher;
    QTimer m_ticks;
    QElapsedTimer m_clock;
    bool m_silent = false; ///< the plan is gone: nobody wants to hear of its prediction
    bool m_again = false; ///< start anew when the cancelled one has ended
};

} // namespace kvw::gui
