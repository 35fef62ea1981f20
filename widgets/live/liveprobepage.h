// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "explain/explanationsource.h"
#include "live/livecontroller.h"
#include "live/livepreview.h"
#include "shell/page.h"

#include <memory>

class QAction;
class QPushButton;
class QTableView;

namespace kvw::gui {

class BlocksChart;
class DevicePane;
class EvidencePane;
class PhaseStrip;
class RatesChart;
class RunsModel;

/// Live probe: what a run would reserve, the run itself, and what it showed, by instruments that do not ask the engine.
class LiveProbePage : public Page, public ExplanationSource
{
    Q_OBJECT

public:
    explicit LiveProbePage(PlanDocument& document, QWidget* parent = nullptr, ClientSettings settings = {});
    ~LiveProbePage() override;

    QString badge() const override;
    LiveController& controller();
    /// "Run live" (F6) and "Stop" (Esc): for menu and toolbar; their state follows the run's.
    QAction* runAction() const;
    QAction* stopAction() const;
    /// The list of runs, for a dock of the page's own.
    QWidget* side() const override;
    QString sideTitle() const override;
    /// The run that is shown, by id; the newest when there is none of that id.
    void showRun(const QString& id);
    QString shownRun() const;
    QString sourceText() const override;
    std::optional<Explanation> explanationOf(const QString& figure) const override;

signals:
    /// "Worker: busy, host".
    void statusChanged(const QString& text);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeTop();
    void makeRuns();
    void connectAll();
    void startRun();
    void refresh();
    void refreshActions();
    void refreshEvidence();
    QString endingOf(const LiveResult& run) const;
    QString headlineText(const QString& refusal) const;
    std::shared_ptr<const LiveResult> shown() const;
    const RunReference* shownReference() const;

    PlanDocument& m_document;
    LiveController m_controller;
    LivePreview m_preview;
    QAction* m_run;
    QAction* m_stop;
    QPushButton* m_runButton;
    QPushButton* m_stopButton;
    PhaseStrip* m_phases;
    DevicePane* m_device;
    BlocksChart* m_blocks;
    RatesChart* m_rates;
    EvidencePane* m_evidence;
    RunsModel* m_runs;
    QTableView* m_runsView;
    QString m_shown; // empty: the newest
    bool m_wasRunning = false;
    std::shared_ptr<const PreviewResult> m_ofRun; // what the run that goes was set up from
};

} // namespace kvw::gui
