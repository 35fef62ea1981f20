// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "evidence/isolation_cost.h"

#include <QFutureWatcher>
#include <QTimer>
#include <QWidget>

#include <memory>

class QLabel;
class QPushButton;

namespace kvw::gui {

class CellTableModel;
class PlanDocument;
class TableView;

/// Cost of isolation: what the plan's workload would come to if all tenants shared, as planned, and if nobody did. Each
/// row is a whole prediction, made in the background when it is asked for; figures of an earlier plan stay, marked so.
class IsolationPane : public QWidget
{
    Q_OBJECT

public:
    explicit IsolationPane(PlanDocument& document, QWidget* parent = nullptr);
    /// Stops and waits.
    ~IsolationPane() override;

    void start();
    void cancel();
    bool isRunning() const;
    /// Of an earlier state of the plan than the document's.
    bool isStale() const;
    /// "prediction, 64 requests …", for the pane's title.
    QString about() const;
    CellTableModel* model() const;

signals:
    void aboutChanged(const QString& about);
    void finished();
    /// It cannot be made: one sentence.
    void message(const QString& text);

private:
    struct Job;
    using Outcome = Result<std::vector<IsolationCost>>;

    void done();
    void refresh();
    void tick();

    PlanDocument& m_document;
    CellTableModel* m_model;
    TableView* m_table;
    QLabel* m_note;
    QPushButton* m_button;
    std::shared_ptr<Job> m_job;
    QFutureWatcher<std::shared_ptr<Outcome>> m_watcher;
    QTimer m_ticks;
    std::vector<IsolationCost> m_costs;
    std::string m_costsHash; ///< of the plan that they are of
    QString m_about;
};

} // namespace kvw::gui
