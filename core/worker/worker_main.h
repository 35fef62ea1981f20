// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "worker/device_source.h"

#include <chrono>

namespace kvw::worker {

/// How a worker ended. Numbers are documented: resources/help/worker-protocol.md.
enum class WorkerExit : int {
    Ended = 0, ///< by a stop, or because its input was closed
    Protocol = 10, ///< the input is not what the protocol says
    Version = 11, ///< no common version
    Watchdog = 12, ///< nothing was heard for too long
    OutputLost = 13, ///< nobody reads its output any more
    Stuck = 14, ///< a run did not stop in time: a call into the device did not return
    Internal = 15, ///< no memory, and what should not happen
};

struct WorkerSettings
{
    std::chrono::milliseconds watchdog {30'000}; ///< ends after so much silence; 0: never
    std::chrono::milliseconds heartbeat {1'000};
    std::chrono::milliseconds grace {10'000}; ///< how long a cancelled run may take to stop
};

/// The worker: reads messages from standard input and writes messages to standard output until it is told to stop, its
/// input is closed, or the other side is gone. From here on standard output is for messages alone: what anything else
/// writes there goes to standard error. SIGPIPE is ignored. May end the process itself, when a run cannot be stopped.
int runWorker(const DeviceSource& devices, const WorkerSettings& settings);

} // namespace kvw::worker
