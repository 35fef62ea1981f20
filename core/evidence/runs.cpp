// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/runs.h"

#include "device/modelled_device.h"
#include "engines/engine_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace kvw {

namespace {

constexpr int ceilingRepeats = 9;
constexpr int rateParts = 10; // of a run, for the spread of its rates

struct Files
{
    std::unique_ptr<EventLog> log;
    std::unique_ptr<RecordWriter> writer;
    Result<void> status {}; // first failure; the run goes on, its files do not

    void check(Result<void> result)
    {
        if (!result && status)
            status = std::move(result);
    }
};

Result<Files> openFiles(const RunSetup& setup, const RunOptions& options, const RunRecord& record)
{
    EventLogHeader header;
    header.source = record.kind + " on " + record.device;
    header.planHash = setup.planHash;
    header.workloadHash = setup.workload.sha256();
    header.created = options.created;
    header.tenants = setup.workload.tenants;
    header.layout = setup.layout;
    Files out;
    if (options.eventsFile.empty()) {
        out.log = std::make_unique<EventLog>(std::move(header));
    } else {
        Result<std::unique_ptr<EventLog>> log = EventLog::create(std::move(header), options.eventsFile);
        if (!log)
            return log.error();
        out.log = std::move(*log);
    }
    if (!options.recordFile.empty()) {
        Result<std::unique_ptr<RecordWriter>> writer = RecordWriter::create(options.recordFile);
        if (!writer)
            return writer.error();
        out.writer = std::move(*writer);
        RunRecord start = record;
        start.planHash = setup.planHash;
        start.workloadHash = setup.workload.sha256();
        start.poolFraction = setup.poolFraction;
        if (Result<void> written = out.writer->start(start, setup); !written)
            return written.error();
    }
    return out;
}

/// Files and progress are served the same way for predictions and live runs.
LoopObserver observerFor(Files& files, const RunSetup& setup, const RunOptions& options)
{
    LoopObserver observer;
    observer.afterStep = [&](const StepSample& sample, std::span<const RunningRequest>) {
        files.check(files.log->flush());
        if (files.writer)
            files.check(files.writer->step(sample));
        if (options.events)
            options.events(*files.log);
        return !options.progress || options.progress(sample);
    };
    observer.afterRequest = [&](const RequestRecord& request) {
        if (files.writer)
            files.check(files.writer->request(request, setup.workload.tenants[request.tenant]));
    };
    return observer;
}

void closeFiles(Files& files, const RunRecord& record, const RunOptions& options)
{
    files.check(files.log->finish());
    if (files.writer)
        files.check(files.writer->end(record));
    if (options.events)
        options.events(*files.log);
}

/// Blocks of group 0 among the spans read back for one request.
std::int64_t blocksRead(const VerifyCount& count, const PoolLayout& layout)
{
    return layout.groups.size() == 1 ? count.blocksRead : 0;
}

void readLedger(const WriteLedger& ledger, std::size_t requests, LiveReadings& readings)
{
    readings.written.resize(requests);
    for (const auto& [request, written] : ledger.requests()) {
        if (request < requests)
            readings.written[request] = written;
    }
}

/// Asks whether the run may enter `part`.
Result<void> enter(RunPart part, const LiveReadings& readings, const RunOptions& options)
{
    if (!options.before || options.before(part, readings))
        return {};
    return Error {"run.stopped", "stopped before the first step"};
}

/// The observer of a live run: what observerFor() serves, and the censuses between steps.
LoopObserver liveObserver(Files& files, const RunSetup& setup, const Device& device, std::int64_t peakStep,
    LiveReadings& readings, const RunOptions& options)
{
    LoopObserver observer = observerFor(files, setup, options);
    const auto served = observer.afterStep;
    const auto count
        = [&](const StepSample& sample, std::span<const RunningRequest> running, std::optional<BlockCensus>& out) {
              if (Result<BlockCensus> census = takeCensus(setup.layout, device, running)) {
                  out = *census;
                  out->step = sample.step;
              }
          };
    observer.afterStep
        = [&, served, count, peakStep](const StepSample& sample, std::span<const RunningRequest> running) {
              if (sample.step == peakStep)
                  count(sample, running, readings.peak);
              const bool goOn = served(sample, running);
              if (!goOn || (sample.running == 0 && sample.waiting == 0))
                  count(sample, running, readings.last);
              return goOn;
          };
    observer.afterVerify = [&](const RequestRecord& request, const VerifyCount& found) {
        readings.verified += found;
        if (blocksRead(found, setup.layout) > readings.mostBlocksRead) {
            readings.mostBlocksRead = blocksRead(found, setup.layout);
            readings.mostBlocksRequest = request.id;
        }
    };
    return observer;
}

/// `observer` with a note of the device's rates after each step.
LoopObserver withMarks(LoopObserver observer, const Device& device, RateMarks& append, RateMarks& verify)
{
    observer.afterStep = [served = observer.afterStep, &device, &append, &verify](
                             const StepSample& sample, std::span<const RunningRequest> running) {
        append.note(device.appendRate());
        verify.note(device.verifyRate());
        return served(sample, running);
    };
    return observer;
}

/// Ceilings if asked for, then the pools. Nothing stays reserved on failure.
Result<void> prepare(
    const RunSetup& setup, Device& device, bool measureCeilingsToo, LiveReadings& readings, const RunOptions& options)
{
    if (measureCeilingsToo) {
        if (Result<void> entered = enter(RunPart::Ceilings, readings, options); !entered)
            return entered;
        if (const Result<MemoryCeilings> ceilings = measureCeilings(workingSetFor(), 1, ceilingRepeats, options.stop))
            readings.ceilings = *ceilings;
    }
    if (Result<void> entered = enter(RunPart::Reserve, readings, options); !entered)
        return entered;
    if (Result<void> reserved = device.reserve(setup.layout); !reserved)
        return reserved;
    if (const Result<MemoryReading> memory = device.memory())
        readings.memory = *memory;
    Result<void> entered = enter(RunPart::Steps, readings, options);
    if (!entered)
        device.release();
    return entered;
}

} // namespace

void RateMarks::note(const Rate& total)
{
    constexpr std::size_t most = 4096;
    const double before = m_marks.empty() ? 0 : m_marks.back().bytes;
    if (total.bytes <= before || total.bytes - before < m_least)
        return;
    m_marks.push_back(total);
    if (m_marks.size() < most)
        return;
    for (std::size_t i = 0; 2 * i + 1 < m_marks.size(); ++i)
        m_marks[i] = m_marks[2 * i + 1];
    m_marks.resize(m_marks.size() / 2);
    m_least = m_marks.back().bytes / static_cast<double>(m_marks.size());
}

std::optional<RateSpread> RateMarks::spread(int parts) const
{
    if (m_marks.empty() || parts < 2)
        return std::nullopt;
    const double share = m_marks.back().bytes / parts;
    RateSpread out;
    Rate from;
    for (const Rate& mark : m_marks) {
        if (mark.bytes < share * (out.parts + 1) || mark.seconds <= from.seconds)
            continue;
        const double rate = (mark.bytes - from.bytes) / (mark.seconds - from.seconds);
        out.slowest = out.parts == 0 ? rate : std::min(out.slowest, rate);
        out.fastest = std::max(out.fastest, rate);
        ++out.parts;
        from = mark;
    }
    return out.parts < 2 ? std::nullopt : std::optional(out);
}

Result<RunRecord> predict(const RunSetup& setup, const RunOptions& options, std::unique_ptr<EventLog>* log)
{
    ModelledDevice device;
    if (Result<void> reserved = device.reserve(setup.layout); !reserved)
        return reserved.error();
    RunRecord record;
    record.kind = "prediction";
    record.device = "modelled";
    Result<Files> files = openFiles(setup, options, record);
    if (!files)
        return files.error();
    if (options.events)
        options.events(*files->log);
    const LoopObserver observer = observerFor(*files, setup, options);
    Result<void> done = runLoop(setup, device, files->log.get(), observer, record);
    closeFiles(*files, record, options);
    if (!done)
        return done.error();
    if (!files->status)
        return files->status.error();
    if (log)
        *log = std::move(files->log);
    return record;
}

Result<LiveRun> runLive(
    const RunSetup& setup, Device& device, std::int64_t peakStep, bool measureCeilingsToo, const RunOptions& options)
{
    LiveRun run;
    LiveReadings& readings = run.readings;
    run.record.kind = "live run";
    run.record.device = device.info().id;
    readings.device = device.info();
    // Before anything takes time: a run that is killed leaves its files, however early.
    Result<Files> files = openFiles(setup, options, run.record);
    if (!files)
        return files.error();
    if (Result<void> prepared = prepare(setup, device, measureCeilingsToo, readings, options); !prepared) {
        run.record.stopReason = prepared.error().text();
        (void)files->log->finish();
        if (files->writer)
            (void)files->writer->end(run.record);
        return prepared.error();
    }
    if (options.events)
        options.events(*files->log);
    WriteLedger ledger(device);
    RateMarks append;
    RateMarks verify;
    const LoopObserver observer
        = withMarks(liveObserver(*files, setup, device, peakStep, readings, options), device, append, verify);
    run.status = runLoop(setup, ledger, files->log.get(), observer, run.record);
    closeFiles(*files, run.record, options);
    if (run.status && !files->status)
        run.status = files->status;
    (void)enter(RunPart::Count, readings, options);
    readings.append = device.appendRate();
    readings.verify = device.verifyRate();
    readings.appendSpread = append.spread(rateParts);
    readings.verifySpread = verify.spread(rateParts);
    if (Result<void> counted = device.countAndPoisonAll(); !counted && run.status)
        run.status = counted;
    readings.counts = device.counts();
    readLedger(ledger, setup.workload.requests.size(), readings);
    (void)enter(RunPart::Release, readings, options);
    device.release();
    return run;
}

void chooseRunEngine(Plan& plan)
{
    const bool stated = !plan.engine.name.empty();
    const auto groups = std::count_if(plan.worksheet.groups.begin(), plan.worksheet.groups.end(),
        [&](const LayerGroup& group) { return keepsState(plan, group); });
    if (stated && plan.engine.name != "vllm")
        return;
    plan.engine.name = "vllm";
    const EngineRules& rules = **engineRules("vllm");
    PlanInputs inputs(plan);
    std::string refusal = rules.size(plan, shapeOf(plan, inputs), inputs).refusal;
    if (stated && groups < 2 && !refusal.empty())
        return; // what is refused is not how many groups there are
    const char* why = "vLLM's rules do not apply";
    if (refusal.empty()) {
        // What can be sized cannot always be run yet.
        const Result<PoolLayout> layout = rules.layout(plan, {2});
        if (!layout && layout.error().code == "engine.refusal") {
            refusal = layout.error().message;
            why = "a run cannot follow vLLM's pools yet";
        }
    }
    if (refusal.empty()) {
        if (!stated)
            plan.assumptions.push_back({"run.engine", "Engine: not stated, so vLLM's rules are used.", "engine.name"});
        return;
    }
    plan.engine.name = "none";
    plan.assumptions.push_back({"run.engine",
        fmt::format("{}{} ({}): shape only, one rank, one pool per layer group.",
            stated ? "" : "Engine: not stated, and ", why, refusal),
        "engine.name"});
}

Result<RunSetup> setUpStatedRun(const Plan& plan, double fraction)
{
    Plan run = plan;
    chooseRunEngine(run);
    Result<RunSetup> setup = setUpRun(run, fraction);
    if (!setup)
        return setup;
    setup->planHash = planHash(plan);
    const auto chosen = run.assumptions.begin() + static_cast<std::ptrdiff_t>(plan.assumptions.size());
    setup->assumptions.insert(setup->assumptions.begin(), chosen, run.assumptions.end());
    return setup;
}

std::string isoNow()
{
    const std::time_t now = std::time(nullptr);
    std::tm utc {};
    gmtime_r(&now, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

} // namespace kvw
