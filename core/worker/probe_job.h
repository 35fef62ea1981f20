// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "evidence/reconcile.h"
#include "evidence/runs.h"
#include "plan/plan.h"
#include "report/json_output.h"
#include "units/result.h"
#include "worker/device_source.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// The parts of a probe, in the order in which they come.
enum class ProbePhase : std::uint8_t {
    Setup, ///< scaling the plan, prediction
    Ceilings, ///< this machine's memory rates; only when asked for
    Reserve,
    Steps, ///< the run; completed requests are read back and compared as they end
    Count, ///< bytes written, last readings
    Release,
    Evidence, ///< estimate, prediction and measurement side by side
};
constexpr std::size_t probePhaseCount = 7;
std::string_view phaseName(
    ProbePhase phase); ///< "setup", "ceilings", "reserve", "steps", "count", "release", "evidence"
std::optional<ProbePhase> phaseFromName(std::string_view name);

constexpr std::int64_t defaultProbeBytes = std::int64_t {512} << 20;

struct ProbeOptions
{
    std::optional<double> fraction {}; ///< share of the planned blocks; nothing: as much as maximumBytes hold
    std::int64_t maximumBytes = defaultProbeBytes;
    std::string device = "host"; ///< id
    bool ceilings = true;
    std::string eventsFile {}; ///< empty: none
    std::string recordFile {}; ///< empty: none
    std::string created {}; ///< ISO time for the files
};

/// What a probe is about to reserve, and what there is.
struct PoolReservation
{
    OfferedDevice device;
    std::int64_t bytes = 0; ///< all pools
    std::vector<PoolSpec> pools;
    double poolFraction = 1;
    std::int64_t plannedBytes = 0; ///< of the unscaled plan
    std::int64_t predictedSteps = 0; ///< how long the run will be, if it goes as predicted
};

/// Whoever watches a probe. All calls come from the thread that runs it.
class ProbeSink
{
public:
    virtual ~ProbeSink();

    /// Asked between steps and between phases. True: the probe stops, with what it has.
    virtual bool cancelled() { return false; }
    virtual void phaseBegan(ProbePhase) {}
    virtual void phaseEnded(ProbePhase) {}
    /// Before the reserve phase begins.
    virtual void willReserve(const PoolReservation&) {}
    /// Before the ceilings phase ends.
    virtual void ceilings(const MemoryCeilings&) {}
    /// Before the reserve phase ends: the pools as the instrument sees them.
    virtual void reserved(const MemoryReading&) {}
    /// The block event log of the run, before any event of it.
    virtual void logBegan(const EventLogHeader&) {}
    /// New identities, then new events, as they come. An event names no identity that has not been given before.
    virtual void digests(std::span<const BlockKey>) {}
    virtual void events(std::span<const Event>) {}
    virtual void step(const StepSample&) {}
    virtual void evidence(const std::vector<EvidenceRow>&) {}
};

/// Everything a probe worked out.
struct Probe
{
    Plan plan; ///< as it was run: with an engine
    RunSetup setup;
    RunRecord prediction;
    LiveRun live; ///< live.status: why it stopped early, run.cancelled if the sink said so
    std::vector<EvidenceRow> rows;
    std::string record; ///< file, or empty
};

/// The setup of a probe, before anything is predicted or reserved: what runProbeJob() begins with, and the same for
/// whoever shows beforehand what will be reserved. `plan` gets an engine where it has none (chooseRunEngine()). Errors:
/// those of setUpRun(); run.too_small.
Result<RunSetup> setUpProbe(Plan& plan, const ProbeOptions& options);

/// The rows of the evidence table as far as they are known without a run: estimate and prediction, nothing measured.
/// `plan` as setUpProbe() left it. Errors: those of estimate().
Result<std::vector<EvidenceRow>> expectedRows(const Plan& plan, const RunSetup& setup, const RunRecord& prediction);

/// One probe from plan to evidence. A plan without engine gets one (chooseRunEngine()).
/// Errors: those of setUpRun(), DeviceSource, Device::reserve(), estimate(); io.*; run.cancelled when the sink said so
/// before the first step. A probe that was cancelled later, or whose device failed, is a Probe with live.status set;
/// the rows of a cancelled one have verdicts only where the missing steps cannot matter.
Result<Probe> runProbeJob(const Plan& plan, const ProbeOptions& options, const DeviceSource& devices, ProbeSink& sink);

/// Assumptions of the plan and of the run.
Assumptions probeAssumptions(const Probe& probe);

/// What `kvw probe --json` prints.
OrderedJson probeResultJson(const Probe& probe);

} // namespace kvw
