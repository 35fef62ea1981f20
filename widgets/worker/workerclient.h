// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "worker/device_source.h"
#include "worker/runstory.h"
#include "worker/workerstate.h"

#include <QObject>
#include <QThread>

#include <memory>
#include <vector>

namespace kvw::gui {

class WorkerLink;

/// The window's worker: starts `kvw worker` when something is asked of it, runs probes one at a time, tells how they go
/// and how they end. Nothing here waits. A worker that dies takes its run along, and nothing else: the next run starts
/// a new one. Lives in the GUI thread.
class WorkerClient : public QObject
{
    Q_OBJECT

public:
    explicit WorkerClient(ClientSettings settings = {}, QObject* parent = nullptr);
    /// Ends the worker; waits a few seconds at most.
    ~WorkerClient() override;

    WorkerState state() const;
    /// Why the worker is not running; empty before the first start.
    QString sentence() const;
    /// Of the worker, 0 when there is none.
    qint64 processId() const;
    /// As the worker told last; empty before.
    const std::vector<OfferedDevice>& devices() const;
    /// True from run() to runEnded().
    bool isRunning() const;
    /// Of the run that goes; null before the first news, and when none does.
    std::shared_ptr<const RunProgress> progress() const;

    /// Asks what there is to run on; devicesChanged() follows unless the worker dies.
    void askDevices();
    /// REQUIRES !isRunning().
    void run(const RunOrder& order);
    /// The run ends soon, with what it has. Asks nothing.
    void cancel();
    /// Ends the worker in an orderly way; its run is cancelled.
    void stop();

signals:
    void stateChanged(kvw::gui::WorkerState state, const QString& sentence);
    void devicesChanged();
    /// At most ten times a second.
    void progressChanged();
    void runEnded(const std::shared_ptr<const kvw::gui::RunEnd>& end);

private:
    template <typename Call>
    void post(Call call);

    QThread m_thread;
    WorkerLink* m_link; // lives in m_thread
    WorkerState m_state = WorkerState::Dead;
    QString m_sentence;
    qint64 m_process = 0;
    std::vector<OfferedDevice> m_devices;
    bool m_running = false;
    std::shared_ptr<const RunProgress> m_progress;
};

} // namespace kvw::gui
