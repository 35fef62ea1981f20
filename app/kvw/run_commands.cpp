// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include "device/host_device.h"
#include "estimate/estimate.h"
#include "evidence/reconcile.h"
#include "plan/plan_json.h"
#include "report/sections.h"
#include "units/file.h"
#include "units/format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

namespace kvw::cli {

namespace {

constexpr std::int64_t defaultMaximum = std::int64_t {512} << 20;

/// The share of the planned blocks to use: as asked, or what stays within the most bytes.
Result<double> chooseFraction(const Plan& plan, const Options& options)
{
    if (options.fraction)
        return *options.fraction;
    std::int64_t most = defaultMaximum;
    if (!options.maximum.empty()) {
        const Result<Bytes> parsed = parseBytes(options.maximum);
        if (!parsed)
            return parsed.error();
        most = parsed->value;
    }
    return fractionFor(plan, most);
}

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

/// Everything a probe works out, for its output.
struct Probe
{
    RunSetup setup;
    RunRecord prediction;
    LiveRun live;
    std::vector<EvidenceRow> rows;
};

Result<Probe> makeProbe(const Plan& plan, const Options& options, const std::string& record)
{
    const Result<double> fraction = chooseFraction(plan, options);
    if (!fraction)
        return fraction.error();
    Result<RunSetup> setup = setUpRun(plan, *fraction);
    if (!setup)
        return setup.error();
    Probe out;
    out.setup = std::move(*setup);
    Result<RunRecord> prediction = predict(out.setup, {});
    if (!prediction)
        return prediction.error();
    out.prediction = std::move(*prediction);
    RunOptions run;
    run.eventsFile = options.events;
    run.recordFile = record;
    run.created = isoNow();
    HostDevice device;
    Result<LiveRun> live = runLive(out.setup, device, out.prediction.peakStep(), !options.noCeilings, run);
    if (!live)
        return live.error();
    out.live = std::move(*live);
    const Plan scaled = planForEvidence(plan, out.setup);
    const Result<Estimate> closedForm = estimate(scaled);
    if (!closedForm)
        return closedForm.error();
    out.rows = reconcile(*closedForm, out.setup, out.prediction, &out.live);
    return out;
}

int exitFor(const Error& error)
{
    const std::string& code = error.code;
    if (code.starts_with("io."))
        return writeFailed;
    return code.starts_with("device.") ? runFailed : refusedInput;
}

void printProbe(const Plan& plan, const Probe& probe, const std::string& record)
{
    Section head {"run", "Live run", {}, {}};
    head.blocks.emplace_back(Facts {{{"Engine rules", probe.setup.behaviour.rule},
        {"Pool fraction",
            fmt::format("{:.4f}: {} of {} planned", probe.setup.poolFraction, format(*probe.setup.layout.totalBytes()),
                format(Bytes(probe.setup.plannedPoolBytes)))},
        {"Does not run", "weights, projections"}, {"Record", record}}});
    print(head);
    print(workloadSection(plan, probe.setup));
    print(evidenceSection(probe.rows, probe.setup, &probe.live));
    print(assumptionsSection(allAssumptions(plan, probe.setup), {}));
}

} // namespace

int runPredict(const Options& options)
{
    Result<Loaded> loaded = load(options);
    if (!loaded)
        return fail(options, loaded.error(), refusedInput);
    Plan& plan = loaded->plan;
    chooseEngine(plan);
    const Result<RunSetup> setup = setUpRun(plan, options.fraction.value_or(1));
    if (!setup)
        return fail(options, setup.error(), exitFor(setup.error()));
    RunOptions run;
    run.eventsFile = options.events;
    run.recordFile = options.record;
    run.created = isoNow();
    const Result<RunRecord> record = predict(*setup, run);
    if (!record)
        return fail(options, record.error(), exitFor(record.error()));
    if (options.json) {
        OrderedJson json = predictionJson(*setup, *record);
        json["assumptions"] = assumptionsJson(allAssumptions(plan, *setup));
        json["engine"] = plan.engine.name;
        print(json);
        return ok;
    }
    print(workloadSection(plan, *setup));
    print(predictionSection(*setup, *record));
    print(assumptionsSection(allAssumptions(plan, *setup), {}));
    if (!options.events.empty())
        fmt::print("Event log written to {}\n", options.events);
    return ok;
}

int runProbe(const Options& options)
{
    Result<Loaded> loaded = load(options);
    if (!loaded)
        return fail(options, loaded.error(), refusedInput);
    const Plan stated = loaded->plan;
    Plan plan = stated;
    if (options.updatePlan && !loaded->isPlanFile)
        return fail(options,
            Error {"usage.update_plan", "--update-plan needs a plan; kvw import --out makes one", {options.file, {}}},
            usage);
    chooseEngine(plan);
    const std::string record
        = options.record.empty() ? fmt::format("{}/{}-{}.run.jsonl", runsFolder(), isoNow(), getpid()) : options.record;
    fmt::print(stderr, "kvw: run record: {}\n", record);
    Result<Probe> probe = makeProbe(plan, options, record);
    if (!probe)
        return fail(options, probe.error(), exitFor(probe.error()));
    if (options.json) {
        OrderedJson json = probeJson(probe->setup, probe->prediction, probe->live, probe->rows);
        json["assumptions"] = assumptionsJson(allAssumptions(plan, probe->setup));
        json["engine"] = plan.engine.name;
        json["record"] = record;
        print(json);
    } else {
        printProbe(plan, *probe, record);
    }
    if (options.updatePlan) {
        Plan updated = stated;
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
    Plan run = loaded->plan;
    std::optional<RunSetup> setup;
    std::optional<RunRecord> record;
    if (options.noPrediction) {
        inputs.predictionError = "it was not asked for (--no-prediction).";
    } else {
        chooseEngine(run);
        Result<RunSetup> made = setUpRun(run, 1);
        if (made) {
            Result<RunRecord> predicted = predict(*made, {});
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
