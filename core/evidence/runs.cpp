// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/runs.h"

#include "device/modelled_device.h"

#include <algorithm>

namespace kvw {

namespace {

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
        return !options.progress || options.progress(sample);
    };
    observer.afterRequest = [&](const RequestRecord& request) {
        if (files.writer)
            files.check(files.writer->request(request, setup.workload.tenants[request.tenant]));
    };
    return observer;
}

void closeFiles(Files& files, const RunRecord& record)
{
    files.check(files.log->finish());
    if (files.writer)
        files.check(files.writer->end(record));
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

} // namespace

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
    const LoopObserver observer = observerFor(*files, setup, options);
    Result<void> done = runLoop(setup, device, files->log.get(), observer, record);
    closeFiles(*files, record);
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
    run.record.kind = "live run";
    run.record.device = device.info().id;
    run.readings.device = device.info();
    if (measureCeilingsToo) {
        const Result<MemoryCeilings> ceilings = measureCeilings();
        if (ceilings)
            run.readings.ceilings = *ceilings;
    }
    if (Result<void> reserved = device.reserve(setup.layout); !reserved)
        return reserved.error();
    WriteLedger ledger(device);
    if (const Result<MemoryReading> memory = device.memory())
        run.readings.memory = *memory;
    Result<Files> files = openFiles(setup, options, run.record);
    if (!files) {
        device.release();
        return files.error();
    }
    LiveReadings& readings = run.readings;
    LoopObserver observer = observerFor(*files, setup, options);
    std::vector<RunningRequest> lastRunning;
    const auto served = observer.afterStep;
    observer.afterStep = [&](const StepSample& sample, std::span<const RunningRequest> running) {
        if (sample.step == peakStep) {
            if (Result<BlockCensus> census = takeCensus(setup.layout, device, running)) {
                readings.peak = *census;
                readings.peak->step = sample.step;
            }
        }
        const bool goOn = served(sample, running);
        const bool atEnd = !goOn || (sample.running == 0 && sample.waiting == 0);
        if (atEnd) {
            if (Result<BlockCensus> census = takeCensus(setup.layout, device, running)) {
                readings.last = *census;
                readings.last->step = sample.step;
            }
        }
        return goOn;
    };
    observer.afterVerify = [&](const RequestRecord& request, const VerifyCount& count) {
        readings.verified += count;
        if (blocksRead(count, setup.layout) > readings.mostBlocksRead) {
            readings.mostBlocksRead = blocksRead(count, setup.layout);
            readings.mostBlocksRequest = request.id;
        }
    };
    run.status = runLoop(setup, ledger, files->log.get(), observer, run.record);
    closeFiles(*files, run.record);
    if (run.status && !files->status)
        run.status = files->status;
    readings.append = device.appendRate();
    readings.verify = device.verifyRate();
    if (Result<void> counted = device.countAndPoisonAll(); !counted && run.status)
        run.status = counted;
    readings.counts = device.counts();
    readLedger(ledger, setup.workload.requests.size(), readings);
    device.release();
    return run;
}

} // namespace kvw
