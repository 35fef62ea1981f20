// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/model_library.h"
#include "plan/open_plan.h"
#include "plan/plan.h"
#include "report/document.h"
#include "report/json_output.h"
#include "serving/run_record.h"
#include "units/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvw::cli {

// Exit codes, documented in --help.
enum Exit : int {
    ok = 0,
    evidenceDiffers = 1,
    usage = 2,
    refusedInput = 3,
    runFailed = 4,
    writeFailed = 5,
};

/// Options that several commands share.
struct Options
{
    std::string file;
    std::vector<std::string> set; ///< path=value
    bool json = false;
    std::string out; ///< import, report: file to write
    bool inPlace = false; ///< import: a plan may be written over itself
    std::string figure; ///< explain
    std::string query; ///< models: words to look for; model: id
    std::string events; ///< predict, probe: event log to write
    std::string record; ///< predict, probe: run record to write
    std::optional<double> fraction;
    std::string maximum; ///< probe: most bytes to reserve, "512MiB"
    bool updatePlan = false;
    bool noCeilings = false;
    bool noPrediction = false; ///< report
    std::optional<std::int64_t> at; ///< events: step
    double watchdogSeconds = 30; ///< worker
};

/// What the command was given, as a plan.
using Loaded = OpenedPlan;

/// Reads a plan or a model file and applies --set. Errors: those of the readers and of setField; usage.output when a
/// file to be written is the one that is read, or is named twice.
Result<Loaded> load(const Options& options);

/// On a terminal, one line of standard error that is written over and goes when this object does; else nothing. For
/// what takes longer than a moment.
class ProgressLine
{
public:
    ProgressLine();
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// Shows the step, at most five times a second and not in the first second. `of`: steps expected, 0 when unknown.
    void show(std::string_view what, const StepSample& sample, std::int64_t of);

private:
    bool m_terminal;
    bool m_shown = false;
    std::chrono::steady_clock::time_point m_next;
};

/// Prints the error (as JSON too, when asked) and returns `code`.
int fail(const Options& options, const Error& error, int code);
/// Prints JSON and a line feed.
void print(const OrderedJson& json);
void print(const Section& section);

/// $XDG_STATE_HOME/kvworkbench/runs (or ~/.local/state/…), made if need be; the current folder when that cannot be.
std::string runsFolder();

int runImport(const Options& options);
int runEstimate(const Options& options);
int runExplain(const Options& options);
int runPredict(const Options& options);
int runProbe(const Options& options);
int runSchema();
int runEvents(const Options& options);
int runReport(const Options& options);
int runFields(const Options& options);
int runModels(const Options& options);
int runModel(const Options& options);
int runGpus(const Options& options);
int runWorker(const Options& options);

} // namespace kvw::cli
