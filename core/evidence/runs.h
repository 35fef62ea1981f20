// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/ceilings.h"
#include "device/device.h"
#include "device/write_ledger.h"
#include "evidence/census.h"
#include "serving/loop.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace kvw {

/// How far a rate went up and down within one run: of parts of the run with about the same bytes each.
struct RateSpread
{
    double slowest = 0; ///< bytes per second
    double fastest = 0;
    int parts = 0;
};

/// A rate as a run goes: totals so far, noted now and then, and in the end the spread of the parts between.
class RateMarks
{
public:
    /// Notes the totals so far. What is noted is thinned out when it becomes much.
    void note(const Rate& total);
    /// Of up to `parts` parts of about the same bytes; nothing when there are fewer than two.
    std::optional<RateSpread> spread(int parts) const;

private:
    std::vector<Rate> m_marks;
    double m_least = 0; // bytes between two marks
};

/// What instruments read in a live run. Nothing here comes from the loop's counters.
struct LiveReadings
{
    DeviceInfo device;
    std::optional<MemoryReading> memory; ///< after the pools were reserved
    DeviceCounts counts; ///< at the end, everything counted
    VerifyCount verified; ///< all completed requests read back
    std::int64_t mostBlocksRead = 0; ///< blocks of group 0 read back for one request
    std::uint32_t mostBlocksRequest = 0; ///< which request that was
    std::vector<WrittenTokens> written; ///< by request
    std::optional<BlockCensus> peak; ///< at the step asked for
    std::optional<BlockCensus> last; ///< at the end
    Rate append;
    Rate verify;
    std::optional<RateSpread> appendSpread; ///< null for a run too short to have one
    std::optional<RateSpread> verifySpread;
    std::optional<MemoryCeilings> ceilings;
};

/// The parts of a live run, in the order in which they come.
enum class RunPart : std::uint8_t {
    Ceilings, ///< only when they are measured
    Reserve,
    Steps, ///< completed requests are read back and compared in here
    Count, ///< the bytes that were written, and the last readings
    Release,
};

/// Where a run leaves its files, and what it tells while it goes. Each function may be empty.
struct RunOptions
{
    std::string eventsFile {}; ///< block event log; empty: none is written
    std::string recordFile {}; ///< run record, one line at a time; empty: none
    std::string created {}; ///< ISO time for the files; empty in reproducible tests
    /// After each step; return false to stop.
    std::function<bool(const StepSample&)> progress {};
    /// The block event log: when it stands and is empty, after each step before `progress`, and when the last event is
    /// in it.
    std::function<void(const EventLog&)> events {};
    /// Live runs: before each part, with the readings so far. Return false to stop there; Count and Release come all
    /// the same.
    std::function<bool(RunPart, const LiveReadings&)> before {};
    /// Live runs: asked now and then while ceilings are measured. True ends the measuring; `before` is asked next.
    std::function<bool()> stop {};
};

/// For runs: a plan without engine is run by vLLM's rules. Where those cover no model with several layer groups, such a
/// plan is run by the shape-only rules, even if it states vLLM. Either is an assumption of the run.
void chooseRunEngine(Plan& plan);

/// The setup of a run of `plan` as it is stated: with the engine that chooseRunEngine() takes, whose assumptions are
/// among the setup's, and with the hash of the plan as stated. Errors as setUpRun().
Result<RunSetup> setUpStatedRun(const Plan& plan, double fraction);

/// Now, as files and records state it: "2026-01-31T12:00:00Z".
std::string isoNow();

/// The prediction: the setup on the modelled device. Errors: io.* of the files.
Result<RunRecord> predict(const RunSetup& setup, const RunOptions& options, std::unique_ptr<EventLog>* log = nullptr);

/// A live run with its readings.
struct LiveRun
{
    RunRecord record;
    LiveReadings readings;
    Result<void> status {}; ///< why it stopped early, if it did; record and readings hold what there was
};

/// The live run: reserves the pools on `device`, runs the setup, reads every instrument, releases.
/// `peakStep`: after this step the blocks are counted by their content tags (the prediction's peak).
/// `measureCeilingsToo`: memcpy, read and write rates of this machine, measured before the run.
/// Errors: device.memory, device.layout, io.*, run.stopped (RunOptions::before said so before the first step); what
/// fails later is in LiveRun::status.
Result<LiveRun> runLive(
    const RunSetup& setup, Device& device, std::int64_t peakStep, bool measureCeilingsToo, const RunOptions& options);

} // namespace kvw
