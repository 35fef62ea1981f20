// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "worker/probe_job.h"

#include <QObject>
#include <QTimer>

#include <atomic>
#include <memory>

namespace kvw::gui {

/// What a run would be, before it is made.
struct PreviewResult
{
    std::string planHash; ///< of the document's plan
    QString error; ///< why there can be no run; empty when there can
    Plan plan; ///< as it would be run, with an engine
    RunSetup setup;
    std::int64_t predictedSteps = 0;
    std::vector<EvidenceRow> rows; ///< estimate and prediction, nothing measured
};

/// Works out what a run of the document's plan would be, off the GUI thread, some moments after each edit while it is
/// wanted. A newer plan or newer options stop the work on the older one.
class LivePreview : public QObject
{
    Q_OBJECT

public:
    explicit LivePreview(PlanDocument& document, QObject* parent = nullptr);
    ~LivePreview() override;

    /// False: nothing is worked out until it is true again.
    void setWanted(bool wanted);
    void setOptions(const ProbeOptions& options);
    /// The last one; null at first. Of an earlier plan while a newer one is on its way (isCurrent()).
    const std::shared_ptr<const PreviewResult>& result() const;
    bool isCurrent() const;

signals:
    void changed();

private:
    void invalidate();
    void start();

    PlanDocument& m_document;
    ProbeOptions m_options {};
    QTimer m_delay;
    bool m_wanted = false;
    bool m_current = false;
    std::shared_ptr<std::atomic<bool>> m_cancelled {}; // of the work that goes
    std::shared_ptr<const PreviewResult> m_result {};
};

/// The work itself; stops early, with whatever, once `cancelled`.
PreviewResult makePreview(Plan plan, const ProbeOptions& options, const std::atomic<bool>& cancelled);

} // namespace kvw::gui
