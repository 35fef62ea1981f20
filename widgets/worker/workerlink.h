// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "worker/device_source.h"
#include "worker/frame.h"
#include "worker/protocol.h"
#include "worker/runreceiver.h"
#include "worker/runstory.h"
#include "worker/workerstate.h"

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include <memory>
#include <mutex>
#include <optional>

namespace kvw::gui {

/// The worker process and the talk with it. Lives in a thread of its own, so that neither the disk nor a long text
/// holds up the window, nor the window the worker's heartbeats. WorkerClient is the window's side of it.
class WorkerLink : public QObject
{
    Q_OBJECT

public:
    explicit WorkerLink(ClientSettings settings);
    ~WorkerLink() override;

    void askDevices();
    /// REQUIRES that the run before has ended.
    void run(const RunOrder& order);
    void cancel();
    void stop();
    /// For the end of the program: an orderly end if it comes quickly, else none.
    void shutDown();

    /// The newest progress, taken once: however slow the window is, only one waits. From any thread.
    std::shared_ptr<const RunProgress> takeProgress();

signals:
    /// `sentence`: why, for Dead. `process`: id, 0 when there is none.
    void stateChanged(kvw::gui::WorkerState state, const QString& sentence, qint64 process);
    void devicesChanged(const std::vector<kvw::OfferedDevice>& devices);
    void progressWaits();
    void runEnded(const std::shared_ptr<const kvw::gui::RunEnd>& end);

private:
    void setState(WorkerState state, const QString& sentence = {});
    void start();
    void started();
    void finished(int code, QProcess::ExitStatus status);
    void endProcess();
    /// Gives the process up and is dead.
    void abandon(const QString& sentence);
    void die(const QString& sentence);
    void send(const worker::Message& message);
    void sendRequest(std::uint64_t id, const std::string& text);
    void sendPending();
    void readOutput();
    void readLog();
    /// False when the connection is over.
    bool takeFrames();
    Result<void> take(const worker::Message& message);
    Result<void> takeHello(const worker::Hello& hello);
    Result<void> takeFailed(const worker::Failed& failed);
    Result<void> takeAboutRequest(const worker::Message& message, std::uint64_t id);
    Result<void> takeDevices(const worker::Done& done);
    void beat();
    void tell();
    void endRun(const QString& death);
    void refuseRun(const RunOrder& order, RunEnd::How how, const QString& sentence);
    QString lastWords() const;
    QString where() const;

    const ClientSettings m_settings;
    WorkerState m_state = WorkerState::Dead;
    QProcess* m_process = nullptr;
    std::unique_ptr<worker::FrameReader> m_reader;
    std::unique_ptr<worker::FrameWriter> m_writer;
    worker::Hello m_mine;
    bool m_greeted = false;
    std::optional<Error> m_connectionError; // as the worker told it
    QByteArray m_log; // the end of what it wrote for people
    QTimer m_beat;
    QTimer m_deadline; // of the state or of the cancel
    QString m_deadlineSentence;
    QTimer m_progressTimer;
    QElapsedTimer m_heard;
    bool m_overdue = false;

    std::uint64_t m_lastRequest = 0;
    bool m_wantDevices = false;
    std::uint64_t m_devicesRequest = 0; // 0: none is out
    std::optional<RunOrder> m_order; // waits for Idle
    std::unique_ptr<RunReceiver> m_run;
    bool m_changed = false; // progress since it was told

    std::mutex m_mutex;
    std::shared_ptr<const RunProgress> m_latest;
};

} // namespace kvw::gui
