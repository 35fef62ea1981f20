// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include "estimate/estimate.h"
#include "plan/identity.h"
#include "plan/plan_json.h"
#include "report/sections.h"
#include "units/file.h"
#include "units/format.h"
#include "worker/probe_job.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

namespace kvw::cli {

namespace {

Assumptions allAssumptions(const Plan& plan, const RunSetup& setup)
{
    Assumptions out = plan.assumptions;
    out.insert(out.end(), setup.assumptions.begin(), setup.assumptions.end());
    return out;
}

/// The plan with this run's evidence in it. Evidence of earlier runs goes, the reference to them stays.
void addEvidence(Plan& plan, const RunSetup& setup, const std::vector<EvidenceRow>& rows, const Options& options,
    const std::string& record)
{
    RunReference run;
    run.id = fmt::format("run{}", plan.runs.size() + 1);
    run.kind = "live run";
    run.planHash = planHash(plan);
    run.device = "host";
    run.at = isoNow();
    run.events = options.events;
    run.record = record;
    run.poolFraction = setup.poolFraction;
    plan.evidence = summaries(rows, run.id);
    plan.runs.push_back(std::move(run));
}

/// The command line shows how far a probe is, and its end.
class ProbeProgress final : public ProbeSink
{
public:
    void willReserve(const PoolReservation& reservation) override { m_steps = reservation.predictedSteps; }
    void step(const StepSample& sample) override { m_line.show("kvw probe", sample, m_steps); }

private:
    ProgressLine m_line {};
    std::int64_t m_steps = 0;
};

Result<Probe> makeProbe(const Plan& plan, const Options& options, const std::string& record)
{
    ProbeOptions probe;
    probe.fraction = options.fraction;
    if (!options.maximum.empty()) {
        Result<Bytes> most = parseBytes(options.maximum);
        if (most && most->value < 1)
            most = Error {"usage.max", "--max needs a size", {}, options.maximum, "more than nothing"};
        if (!most)
            return Error {"usage.max", "--max needs a size", {}, options.maximum, "such as 512MiB"};
        probe.maximumBytes = most->value;
    }
    probe.ceilings = !options.noCeilings;
    probe.eventsFile = options.events;
    probe.recordFile = record;
    probe.created = isoNow();
    ProbeProgress progress;
    return runProbeJob(plan, probe, HostDevices(), progress);
}

/// What the estimate has to say about the plan: it knows the engine's limits too.
Diagnostics problemsOf(const Plan& plan)
{
    const Result<Estimate> closedForm = estimate(plan);
    return closedForm ? closedForm->diagnostics : diagnose(plan);
}

int exitFor(const Error& error)
{
    const std::string& code = error.code;
    if (code.starts_with("io."))
        return writeFailed;
    return code.starts_with("device.") ? runFailed : refusedInput;
}

void printProbe(const Probe& probe)
{
    Section head {"run", "Live run", {}, {}};
    head.blocks.emplace_back(Facts {{{"Engine rules", probe.setup.behaviour.rule},
        {"Pool fraction",
            fmt::format("{:.4f}: {} of {} planned", probe.setup.poolFraction, format(*probe.setup.layout.totalBytes()),
                format(Bytes(probe.setup.plannedPoolBytes)))},
        {"Does not run", "weights, projections"}, {"Record", probe.record}}});
    print(head);
    print(workloadSection(probe.plan, probe.setup));
    print(evidenceSection(probe.rows, probe.setup, &probe.live));
    print(assumptionsSection(probeAssumptions(probe), {}));
    print(problemsSection(problemsOf(probe.plan)));
}

} // namespace

int runPredict(const Options& options)
{
    Result<Loaded> loaded = load(options);
    if (!loaded)
        return fail(options, loaded.error(), refusedInput);
    Plan& plan = loaded->plan;
    const std::string stated = planHash(plan);
    chooseRunEngine(plan);
    Result<RunSetup> setup = setUpRun(plan, options.fraction.value_or(1));
    if (!setup)
        return fail(options, setup.error(), exitFor(setup.error()));
    setup->planHash = stated; // the plan's name everywhere, whatever a run has to add to it
    RunOptions run;
    run.eventsFile = options.events;
    run.recordFile = options.record;
    run.created = isoNow();
    const Result<RunRecord> record = [&] {
        ProgressLine line;
        run.progress = [&](const StepSample& sample) {
            line.show("kvw predict", sample, 0);
            return true;
        };
        return predict(*setup, run);
    }();
    if (!record)
        return fail(options, record.error(), exitFor(record.error()));
    if (options.json) {
        OrderedJson json = predictionJson(*setup, *record);
        json["assumptions"] = assumptionsJson(allAssumptions(plan, *setup));
        json["engine"] = plan.engine.name;
        json["diagnostics"] = diagnosticsJson(problemsOf(plan));
        print(json);
        return ok;
    }
    print(workloadSection(plan, *setup));
    print(predictionSection(*setup, *record));
    print(assumptionsSection(allAssumptions(plan, *setup), {}));
    print(problemsSection(problemsOf(plan)));
    if (!options.events.empty())
        fmt::print("Event log written to {}\n", options.events);
    return ok;
}

int runProbe(const Options& options)
{
    Result<Loaded> loaded = load(options);
    if (!loaded)
        return fail(options, loaded.error(), refusedInput);
    if (options.updatePlan && !options.set.empty())
        return fail(options,
            Error {"usage.update_plan",
                "--update-plan keeps evidence of the plan as its file says; with --set it would be of another plan",
                {options.file, {}}},
            usage);
    if (options.updatePlan && !loaded->isPlanFile)
        return fail(options,
            Error {"usage.update_plan", "--update-plan needs a plan; kvw import --out makes one", {options.file, {}}},
            usage);
    const std::string record
        = options.record.empty() ? fmt::format("{}/{}-{}.run.jsonl", runsFolder(), isoNow(), getpid()) : options.record;
    fmt::print(stderr, "kvw: run record: {}\n", record);
    const Result<Probe> probe = makeProbe(loaded->plan, options, record);
    if (!probe)
        return fail(options, probe.error(), exitFor(probe.error()));
    if (options.json) {
        print(probeResultJson(*probe));
    } else {
        printProbe(*probe);
    }
    if (options.updatePlan) {
        Plan updated = loaded->plan;
        addEvidence(updated, probe->setup, probe->rows, options, record);
        if (const Result<void> saved = savePlan(updated, options.file); !saved)
            return fail(options, saved.error(), writeFailed);
    }
    if (!probe->live.status)
        return fail(options, probe->live.status.error(), exitFor(probe->live.status.error()));
    return countVerdicts(probe->rows).differs > 0 ? evidenceDiffers : ok;
}

int runReport(const Options& options)
{
    const Result<Loaded> loaded = load(options);
    if (!loaded)
        return fail(options, loaded.error(), refusedInput);
    ReportInputs inputs;
    inputs.plan = &loaded->plan;
    const Result<Estimate> closedForm = estimate(loaded->plan);
    if (closedForm)
        inputs.estimate = &*closedForm;
    else
        inputs.estimateError = closedForm.error().text();
    std::optional<RunSetup> setup;
    std::optional<RunRecord> record;
    std::unique_ptr<EventLog> events;
    if (options.noPrediction) {
        inputs.predictionError = "it was not asked for (--no-prediction).";
    } else {
        Result<RunSetup> made = setUpStatedRun(loaded->plan, 1);
        if (made) {
            Result<RunRecord> predicted = predict(*made, {}, &events);
            if (predicted) {
                setup = std::move(*made);
                record = std::move(*predicted);
            } else {
                inputs.predictionError = predicted.error().text();
            }
        } else {
            inputs.predictionError = made.error().text();
        }
    }
    if (setup && record) {
        inputs.setup = &*setup;
        inputs.prediction = &*record;
        inputs.events = events.get();
    }
    const Document document = makeReport(inputs);
    const std::string text = options.json
        ? documentJson(document).dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n"
        : toMarkdown(document);
    if (options.out.empty()) {
        fmt::print("{}", text);
        return ok;
    }
    if (const Result<void> written = writeFileAtomically(options.out, text); !written)
        return fail(options, written.error(), writeFailed);
    fmt::print("Report written to {}\n", options.out);
    return ok;
}

} // namespace kvw::cli
