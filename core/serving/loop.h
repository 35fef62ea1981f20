// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/cache_manager.h"
#include "device/device.h"
#include "serving/run_record.h"
#include "serving/run_setup.h"

#include <functional>
#include <span>

namespace kvw {

/// A running request as an observer may see it between steps.
struct RunningRequest
{
    const Request* request = nullptr;
    std::uint16_t domain = 0;
    std::int64_t computed = 0; ///< tokens whose state is in the pool
    const BlockTables* tables = nullptr;
    const std::vector<std::uint64_t>* chains = nullptr; ///< token chain hashes; empty on devices without bytes
};

/// What the loop offers to whoever watches it.
struct LoopObserver
{
    /// After each step. Return false to stop the run: it ends with unfinished requests.
    std::function<bool(const StepSample&, std::span<const RunningRequest>)> afterStep {};
    /// When a request has ended.
    std::function<void(const RequestRecord&)> afterRequest {};
    /// Live devices: what reading back a completed request's state found.
    std::function<void(const RequestRecord&, const VerifyCount&)> afterVerify {};
};

/// Runs the setup's workload on the device: admission, scheduling and cache are the same for predictions and live runs.
///
/// A step, as vLLM's scheduler takes it: running requests first, in order of admission, then waiting ones, all within
/// the step's tokens; long prompts go in parts; blocks are taken as they are needed. When a running request finds none,
/// the plan's choice decides: the latest running request is preempted and starts again later; or the request waits; or
/// it ends. A step that preempted admits nobody. New tokens are written to the device at the end of the step. A
/// completed request's state is read back through its block table and compared, then given back. `log` may be null.
/// Errors: those of the device. Whatever happens, `record` holds what was done so far.
Result<void> runLoop(
    const RunSetup& setup, Device& device, EventLog* log, const LoopObserver& observer, RunRecord& record);

} // namespace kvw
