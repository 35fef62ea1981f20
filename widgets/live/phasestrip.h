// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "worker/runstory.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

namespace kvw::gui {

/// The phases of a run side by side: ✓ done with its time, ▶ running with how far it is, ○ to come, ✗ cut short.
class PhaseStrip : public QWidget
{
    Q_OBJECT

public:
    explicit PhaseStrip(QWidget* parent = nullptr);

    /// The run that is shown; null: before any run.
    void setProgress(const std::shared_ptr<const RunProgress>& progress, bool ceilings);
    /// What stands in the reserve phase before it has come: "512.00 MiB".
    void setReservation(const QString& text);
    /// The cells as text, for accessibility and tests: "✓ Reserve 0.4 s".
    QStringList texts() const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Cell
    {
        QString name;
        QString note;
        PhaseStatus::State state = PhaseStatus::State::Waiting;
        double share = 0; ///< of a running one, 0 when not known
    };

    std::vector<Cell> cells() const;
    bool isCancelled(const PhaseStatus& phase) const;
    QString noteOf(const PhaseStatus& phase) const;
    std::vector<PhaseStatus> phases() const;

    std::shared_ptr<const RunProgress> m_progress;
    bool m_ceilings = true;
    QString m_reservation;
    std::optional<ProbePhase> m_running; // since m_since
    QElapsedTimer m_since;
    QTimer m_clock;
};

} // namespace kvw::gui
