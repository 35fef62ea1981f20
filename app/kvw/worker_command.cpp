// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include "worker/worker_main.h"

namespace kvw::cli {

int runWorker(const Options& options)
{
    worker::WorkerSettings settings;
    settings.watchdog = std::chrono::milliseconds(static_cast<std::int64_t>(options.watchdogSeconds * 1000));
    return worker::runWorker(HostDevices(), settings);
}

} // namespace kvw::cli
