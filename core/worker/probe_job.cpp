// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/probe_job.h"

#include "estimate/estimate.h"
#include "plan/identity.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace kvw {

namespace {

constexpr std::array<std::string_view, probePhaseCount> phaseNames {
    "setup", "ceilings", "reserve", "steps", "count", "release", "evidence"};

Error cancelledIn(ProbePhase phase)
{
    return {"run.cancelled", fmt::format("cancelled before the first step, in the phase \"{}\"", phaseName(phase))};
}

ProbePhase phaseOf(RunPart part)
{
    switch (part) {
    case RunPart::Ceilings:
        return ProbePhase::Ceilings;
    case RunPart::Reserve:
        return ProbePhase::Reserve;
    case RunPart::Steps:
        return ProbePhase::Steps;
    case RunPart::Count:
        return ProbePhase::Count;
    case RunPart::Release:
        break;
    }
    return ProbePhase::Release;
}

/// Hands a growing event log on, each entry once.
class LogFollower
{
public:
    explicit LogFollower(ProbeSink& sink)
        : m_sink(sink)
    {}

    void follow(const EventLog& log)
    {
        if (!m_began) {
            m_began = true;
            m_sink.logBegan(log.header());
        }
        const std::span<const BlockKey> digests = std::span(log.digests()).subspan(m_digests);
        const std::span<const Event> events = std::span(log.events()).subspan(m_events);
        m_digests += digests.size();
        m_events += events.size();
        if (!digests.empty())
            m_sink.digests(digests);
        if (!events.empty())
            m_sink.events(events);
    }

private:
    ProbeSink& m_sink;
    bool m_began = false;
    std::size_t m_digests = 0;
    std::size_t m_events = 0;
};

/// One probe on its way.
class Job
{
public:
    Job(const ProbeOptions& options, const DeviceSource& devices, ProbeSink& sink)
        : m_options(options)
        , m_devices(devices)
        , m_sink(sink)
    {}

    Result<Probe> run(const Plan& plan)
    {
        m_probe.plan = plan;
        m_probe.record = m_options.recordFile;
        Result<void> done = setUp();
        if (done)
            done = runOnDevice();
        if (done)
            done = compare();
        if (!done)
            return done.error();
        return std::move(m_probe);
    }

private:
    void begin(ProbePhase phase)
    {
        m_phase = phase;
        m_sink.phaseBegan(phase);
    }

    Result<void> setUp()
    {
        begin(ProbePhase::Setup);
        Result<RunSetup> setup = setUpProbe(m_probe.plan, m_options);
        if (!setup)
            return setup.error();
        m_probe.setup = std::move(*setup);
        RunOptions watched;
        watched.progress = [&](const StepSample&) { return !m_sink.cancelled(); };
        Result<RunRecord> prediction = predict(m_probe.setup, watched);
        if (!prediction)
            return prediction.error();
        m_probe.prediction = std::move(*prediction);
        if (m_sink.cancelled())
            return cancelledIn(m_phase);
        m_sink.phaseEnded(m_phase);
        return {};
    }

    Result<void> runOnDevice()
    {
        const Result<std::unique_ptr<Device>> device = m_devices.open(m_options.device);
        if (!device)
            return device.error();
        LogFollower follower(m_sink);
        RunOptions run;
        run.eventsFile = m_options.eventsFile;
        run.recordFile = m_options.recordFile;
        run.created = m_options.created;
        run.events = [&](const EventLog& log) { follower.follow(log); };
        run.before = [&](RunPart part, const LiveReadings& readings) { return enter(phaseOf(part), readings); };
        run.stop = [&] { return m_sink.cancelled(); };
        run.progress = [&](const StepSample& sample) {
            m_sink.step(sample);
            m_cancelled = m_sink.cancelled();
            return !m_cancelled;
        };
        Result<LiveRun> live = runLive(m_probe.setup, **device, m_probe.prediction.peakStep(), m_options.ceilings, run);
        if (!live)
            return m_cancelled ? cancelledIn(m_phase) : live.error();
        m_sink.phaseEnded(m_phase);
        m_probe.live = std::move(*live);
        // A last step that nobody needed any more is no cancellation.
        m_cancelled = m_cancelled && !m_probe.live.record.complete;
        if (m_cancelled && m_probe.live.status)
            m_probe.live.status = Error {"run.cancelled",
                fmt::format(
                    "cancelled after step {} of {} predicted", m_probe.live.record.steps, m_probe.prediction.steps)};
        return {};
    }

    /// Ends the phase before, begins this one.
    bool enter(ProbePhase phase, const LiveReadings& readings)
    {
        if (m_phase == ProbePhase::Ceilings && readings.ceilings)
            m_sink.ceilings(*readings.ceilings);
        if (m_phase == ProbePhase::Reserve && readings.memory)
            m_sink.reserved(*readings.memory);
        if (m_phase != ProbePhase::Setup)
            m_sink.phaseEnded(m_phase);
        if (phase <= ProbePhase::Steps && m_sink.cancelled()) {
            m_cancelled = true;
            return false;
        }
        if (phase == ProbePhase::Reserve)
            announce();
        begin(phase);
        return true;
    }

    void announce()
    {
        PoolReservation out;
        if (const Result<OfferedDevice> device = m_devices.find(m_options.device))
            out.device = *device;
        out.bytes = m_probe.setup.layout.totalBytes()->value;
        out.pools = m_probe.setup.layout.pools;
        out.poolFraction = m_probe.setup.poolFraction;
        out.plannedBytes = m_probe.setup.plannedPoolBytes;
        out.predictedSteps = m_probe.prediction.steps;
        m_sink.willReserve(out);
    }

    Result<void> compare()
    {
        begin(ProbePhase::Evidence);
        const Result<Estimate> closedForm = estimate(planForEvidence(m_probe.plan, m_probe.setup));
        if (!closedForm)
            return closedForm.error();
        m_probe.rows = reconcile(*closedForm, m_probe.setup, m_probe.prediction, &m_probe.live);
        if (m_cancelled)
            withholdVerdicts();
        m_sink.evidence(m_probe.rows);
        m_sink.phaseEnded(m_phase);
        return {};
    }

    /// Part of a run against a whole prediction proves nothing, except where the missing steps cannot matter.
    void withholdVerdicts()
    {
        for (EvidenceRow& row : m_probe.rows) {
            const bool atPeak = row.id == "peak_active_blocks" || row.id == "wrong_blocks";
            const bool fault = row.id == "content_mismatches" || row.id == "cross_domain_entries";
            const bool stands = row.id == "pool_bytes" || row.id == "pool_blocks"
                || (atPeak && m_probe.live.readings.peak) || (fault && row.verdict == Verdict::Differs);
            const bool judged = row.verdict == Verdict::Agrees || row.verdict == Verdict::Differs
                || row.verdict == Verdict::NotTested;
            if (stands || !judged)
                continue;
            row.verdict = Verdict::NotComparable;
            row.difference.reset();
            row.reason = m_probe.live.status.error().message;
        }
    }

    const ProbeOptions& m_options;
    const DeviceSource& m_devices;
    ProbeSink& m_sink;
    Probe m_probe {};
    ProbePhase m_phase = ProbePhase::Setup;
    bool m_cancelled = false;
};

} // namespace

ProbeSink::~ProbeSink() = default;

std::string_view phaseName(ProbePhase phase)
{
    return phaseNames[static_cast<std::size_t>(phase)];
}

std::optional<ProbePhase> phaseFromName(std::string_view name)
{
    const auto found = std::find(phaseNames.begin(), phaseNames.end(), name);
    if (found == phaseNames.end())
        return std::nullopt;
    return static_cast<ProbePhase>(found - phaseNames.begin());
}

Result<RunSetup> setUpProbe(Plan& plan, const ProbeOptions& options)
{
    const std::string stated = planHash(plan);
    chooseRunEngine(plan);
    const Result<double> fraction = options.fraction ? *options.fraction : fractionFor(plan, options.maximumBytes);
    if (!fraction)
        return fraction.error();
    Result<RunSetup> setup = setUpRun(plan, *fraction);
    if (setup)
        setup->planHash = stated; // the plan's name everywhere, whatever a run has to add to it
    return setup;
}

Result<std::vector<EvidenceRow>> expectedRows(const Plan& plan, const RunSetup& setup, const RunRecord& prediction)
{
    const Result<Estimate> closedForm = estimate(planForEvidence(plan, setup));
    if (!closedForm)
        return closedForm.error();
    return reconcile(*closedForm, setup, prediction, nullptr);
}

Result<Probe> runProbeJob(const Plan& plan, const ProbeOptions& options, const DeviceSource& devices, ProbeSink& sink)
{
    return Job(options, devices, sink).run(plan);
}

Assumptions probeAssumptions(const Probe& probe)
{
    Assumptions out = probe.plan.assumptions;
    out.insert(out.end(), probe.setup.assumptions.begin(), probe.setup.assumptions.end());
    return out;
}

OrderedJson probeResultJson(const Probe& probe)
{
    OrderedJson json = probeJson(probe.setup, probe.prediction, probe.live, probe.rows);
    json["assumptions"] = assumptionsJson(probeAssumptions(probe));
    json["engine"] = probe.plan.engine.name;
    const Result<Estimate> closedForm = estimate(probe.plan);
    json["diagnostics"] = diagnosticsJson(closedForm ? closedForm->diagnostics : diagnose(probe.plan));
    json["record"] = probe.record.empty() ? OrderedJson(nullptr) : OrderedJson(probe.record);
    return json;
}

} // namespace kvw
