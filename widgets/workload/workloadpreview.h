// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "plan/plan.h"
#include "workload/request.h"
#include "workload/sharing.h"

#include <QFutureWatcher>
#include <QObject>
#include <QString>

#include <memory>

namespace kvw::gui {

/// Exactly the workload that a prediction of the plan would run, and what can be said of it.
struct WorkloadFacts
{
    Workload workload;
    QString error; ///< why there is none; empty when there is
    bool tooMany = false; ///< no error: only too many requests to draw while somebody types
    QString sha256;
    std::int64_t promptTokens = 0;
    std::int64_t outputTokens = 0;
    std::int64_t shareable = 0; ///< prompt tokens, within the sharing domains of the plan
    std::int64_t shareableByAll = 0; ///< the same if all tenants were one domain
    Histogram prompts;
    Histogram outputs;
    Histogram arrivals;
};

/// What the facts are for the plan. Runs in any thread.
WorkloadFacts workloadFacts(const Plan& plan);

/// Computes the facts in the background, always of the newest plan that it was given.
class WorkloadPreview : public QObject
{
    Q_OBJECT

public:
    explicit WorkloadPreview(QObject* parent = nullptr);
    ~WorkloadPreview() override;

    void setPlan(const Plan& plan);
    bool isBusy() const;
    /// The newest that is ready; never null.
    const std::shared_ptr<const WorkloadFacts>& facts() const;

signals:
    void changed();

private:
    void start(const Plan& plan);
    void finished();

    QFutureWatcher<std::shared_ptr<const WorkloadFacts>> m_watcher;
    std::shared_ptr<const WorkloadFacts> m_facts;
    std::unique_ptr<Plan> m_next; // came while one was being computed
};

} // namespace kvw::gui
