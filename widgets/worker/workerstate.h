// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>
#include <QStringList>

namespace kvw::gui {

/// Where the worker process is.
///
///     Dead ──▶ Starting ──▶ Handshake ──▶ Idle ◀──▶ Busy
///
/// | from       | to        | when                                                          |
/// |------------|-----------|---------------------------------------------------------------|
/// | Dead       | Starting  | a run or the list of devices is asked for                     |
/// | Starting   | Handshake | the process runs; this side's hello is sent                   |
/// | Handshake  | Idle      | its hello is here, and the versions agree                     |
/// | Idle       | Busy      | a run is asked for                                            |
/// | Busy       | Idle      | the run's result or failure is here                           |
/// | Handshake, Idle, Busy | Stopping | it is told to stop; a run is cancelled by that      |
/// | all others | Dead      | it ended, was killed, cannot be started, says nothing for too |
/// |            |           | long, or says what the protocol does not allow                |
///
/// Nothing else happens. A run that is asked for in Starting or Handshake waits for Idle; in Stopping, for a new
/// worker.
enum class WorkerState {
    Dead,
    Starting,
    Handshake,
    Idle,
    Busy,
    Stopping,
};

/// True for a row of the table.
bool mayFollow(WorkerState from, WorkerState to);
/// "not running", "starting", "handshake", "idle", "busy", "stopping": as the status bar says it.
QString stateName(WorkerState state);

/// How a client finds and watches its worker. Times in milliseconds.
struct ClientSettings
{
    QString program {}; ///< empty: workerProgram()
    QStringList arguments {QStringLiteral("worker")};
    QString runsFolder {}; ///< empty: where the user's settings say
    int handshakeTime = 10'000; ///< from the start to the worker's hello
    int heartbeatTime = 1'000;
    int silenceTime = 15'000; ///< a worker that says nothing for so long is given up
    int cancelTime = 30'000; ///< a run that does not end so long after its cancel is given up
    int stopTime = 12'000; ///< the same for a worker that is told to stop
};

/// The program `kvw`: beside the running program, else in PATH, else what KVW_BINARY names; empty when there is none.
QString workerProgram();
/// Where runs are kept: "runs" in the data folder, or below the folder for temporary files when there is none.
QString defaultRunsFolder();

} // namespace kvw::gui
