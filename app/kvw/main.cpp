// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "commands.h"

#include "units/format.h"
#include "units/version.h"

#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string_view>

namespace {

using namespace kvw::cli;

constexpr const char* footer
    = R"(FILE is a plan (.kvplan), a Hugging Face config.json, a folder that holds one (with its safetensors, if any), a GGUF
file, or library:ID for a model of the library.

Exit codes:
  0  done
  1  probe: done, and at least one evidence row differs
  2  the command line is wrong
  3  a file or field was refused: the message names file, place, what was found and what was expected
  4  a run failed on the device: memory, range
  5  a file could not be written; an old one is kept
kvw worker has others: kvw worker --help.

With --json an error is also printed as {"error": {"code", "message", "file", "at", "found", "expected"}}.
Units in --set: 6.51GiB, 80GB, 32k (= 32,768), 92%; an empty value makes a field "not stated".)";

constexpr const char* workerFooter
    = R"(Messages go over standard input and output: see worker-protocol.md in the help folder.

Exit codes:
   0  told to stop, or the input was closed
  10  the input is not what the protocol says
  11  no common version of the protocol
  12  nothing was heard for too long
  13  nobody reads the output any more
  14  a run could not be stopped
  15  no memory, and what should not happen)";

void addFile(CLI::App* command, Options& options, const char* what)
{
    command->add_option("FILE", options.file, what)->required();
    command->add_flag("--json", options.json, "Print JSON; names are stable");
}

void addPlanFile(CLI::App* command, Options& options)
{
    addFile(command, options, "Plan, config.json, GGUF or safetensors file, or model folder");
    command->add_option("--set", options.set, "Set a plan field first: path=value, may be repeated")
        ->take_all()
        ->allow_extra_args(false);
}

void addRunOptions(CLI::App* command, Options& options)
{
    command->add_option("--events", options.events, "Write the block event log to this file");
    command->add_option("--record", options.record, "Write the run record to this file, line by line");
    command->add_option("--fraction", options.fraction, "Share of the planned blocks, 0 to 1; lengths scale with it")
        ->check(CLI::Range(1e-9, 1.0))
        ->check([](const std::string& text) {
            // A range lets "nan" pass: every comparison with it is false.
            const kvw::Result<double> value = kvw::parseReal(text);
            return value ? std::string() : "not a number: " + text;
        });
}

} // namespace

int main(int argc, char** argv)
{
    // A file-size limit shall end as an error that says so, not as a signal.
    std::signal(SIGXFSZ, SIG_IGN);

    CLI::App app {
        "KV Workbench: how much attention state an LLM deployment needs, and whether the numbers hold.", "kvw"};
    app.set_version_flag("--version", kvw::version());
    app.require_subcommand(1);
    app.footer(footer);
    Options options;

    CLI::App* import = app.add_subcommand("import", "Read a model file or a plan and show its layer groups");
    addPlanFile(import, options);
    import->add_option("-o,--out", options.out, "Write the plan to this file");
    CLI::App* estimate
        = app.add_subcommand("estimate", "Ideal and engine need, pool, tokens, fits or not: in closed form");
    addPlanFile(estimate, options);
    CLI::App* explain = app.add_subcommand("explain", "How a figure of the estimate came about");
    addPlanFile(explain, options);
    explain->add_option(
        "FIGURE", options.figure, "Such as idealBytes or engine.blocks; without it all figures are listed");
    CLI::App* predict = app.add_subcommand("predict", "Run the workload on the modelled device, event by event");
    addPlanFile(predict, options);
    addRunOptions(predict, options);
    CLI::App* probe = app.add_subcommand("probe", "Run the workload on host memory and compare with instruments");
    addPlanFile(probe, options);
    addRunOptions(probe, options);
    probe->add_option("--max", options.maximum, "Most bytes to reserve when no --fraction is given (default 512MiB)");
    probe->add_flag("--no-ceilings", options.noCeilings, "Do not measure this machine's memory rates");
    probe->add_flag("--update-plan", options.updatePlan, "Keep the evidence in the plan file");
    CLI::App* fields = app.add_subcommand("fields", "List the plan's fields: what --set and a plan file may say");
    fields->add_flag("--json", options.json, "Print JSON; names are stable");
    CLI::App* models = app.add_subcommand("models", "List the models of the library, built-in and your own");
    models->add_option("QUERY", options.query, "Words of the id, the family or the architecture");
    models->add_flag("--json", options.json, "Print JSON; names are stable");
    CLI::App* model = app.add_subcommand("model", "One model of the library: layer groups, limits, source, confidence");
    model->add_option("ID", options.query, "As kvw models lists it")->required();
    model->add_flag("--json", options.json, "Print JSON; names are stable");
    model->add_option("-o,--out", options.out, "Write a plan for it to this file");
    CLI::App* gpus
        = app.add_subcommand("gpus", "List the accelerators of the library, with memory as drivers report it");
    gpus->add_flag("--json", options.json, "Print JSON; names are stable");
    CLI::App* events = app.add_subcommand("events", "Count blocks by state, tenant and group in an event log");
    addFile(events, options, "Event log of predict or probe");
    events->add_option("--at", options.at, "State at the end of this step; default: the end")
        ->check(CLI::NonNegativeNumber);
    CLI::App* report = app.add_subcommand("report", "The plan as a document for review (Markdown)");
    addPlanFile(report, options);
    report->add_option("-o,--out", options.out, "Write to this file");
    report->add_flag("--no-prediction", options.noPrediction, "Leave the prediction out");
    CLI::App* schema = app.add_subcommand("schema", "The JSON Schema of plan files, made from the field table");
    CLI::App* worker = app.add_subcommand("worker", "Run probes for another program, over pipes");
    worker->add_option("--watchdog", options.watchdogSeconds, "End after so many seconds of silence; 0: never")
        ->check(CLI::Range(0.0, 1e6))
        ->capture_default_str();
    worker->footer(workerFooter);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const auto json = [](std::string_view argument) { return argument == "--json"; };
        if (error.get_exit_code() != 0 && std::any_of(argv + 1, argv + argc, json))
            print(kvw::errorJson(kvw::Error {"usage.command_line", error.what()}));
        return app.exit(error) == 0 ? ok : usage;
    }
    options.inPlace = import->parsed();
    const auto command = [&] {
        if (*import)
            return runImport(options);
        if (*estimate)
            return runEstimate(options);
        if (*explain)
            return runExplain(options);
        if (*predict)
            return runPredict(options);
        if (*probe)
            return runProbe(options);
        if (*events)
            return runEvents(options);
        if (*fields)
            return runFields(options);
        if (*models)
            return runModels(options);
        if (*model)
            return runModel(options);
        if (*gpus)
            return runGpus(options);
        if (*schema)
            return runSchema();
        if (*worker)
            return runWorker(options);
        return runReport(options);
    };
    // What the library reports by value comes through fail(); these are the two that it cannot: no memory left, and a
    // standard output that takes no more.
    int code = ok;
    try {
        code = command();
    } catch (const std::bad_alloc&) {
        return fail(options, kvw::Error {"memory", "there is not enough memory for this"}, runFailed);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "kvw: %s\n", error.what());
        return writeFailed;
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        std::fprintf(stderr, "kvw: the output could not be written\n");
        return writeFailed;
    }
    return code;
}
