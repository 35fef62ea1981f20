// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/run_spool.h"

#include "units/file.h"

#include <fmt/format.h>

#include <span>

namespace kvw::worker {

namespace {

Error outOfOrder(const char* what, std::uint64_t found, std::uint64_t expected)
{
    return {"protocol.order", what, {}, fmt::format("number {}", found), fmt::format("number {}", expected)};
}

} // namespace

RunSpool::RunSpool(SpoolFiles files)
    : m_files(std::move(files))
{}

Result<std::unique_ptr<RunSpool>> RunSpool::create(
    const std::string& folder, const RunRecord& about, const RunSetup& setup)
{
    std::unique_ptr<RunSpool> out(
        new RunSpool({folder, folder + "/events.kvev", folder + "/record.jsonl", folder + "/result.json"}));
    Result<std::unique_ptr<RecordWriter>> record = RecordWriter::create(out->m_files.record);
    if (!record)
        return record.error();
    out->m_record = std::move(*record);
    if (const Result<void> started = out->m_record->start(about, setup); !started)
        return started.error();
    return out;
}

const SpoolFiles& RunSpool::files() const
{
    return m_files;
}

std::uint64_t RunSpool::events() const
{
    return m_events;
}

std::uint64_t RunSpool::digests() const
{
    return m_digests;
}

bool RunSpool::hasLog() const
{
    return m_log.has_value();
}

Result<void> RunSpool::take(const LogHeader& message)
{
    if (m_log)
        return Error {"protocol.order", "a second header of the event log"};
    if (const Result<EventLogHeader> header = headerFromJson(message.text, "log header"); !header)
        return header.error();
    Result<EventFileWriter> writer = EventFileWriter::create(m_files.events);
    if (!writer)
        return writer.error();
    m_log.emplace(std::move(*writer));
    return m_log->write(ChunkKind::Header, std::as_bytes(std::span(message.text)));
}

Result<void> RunSpool::take(const Digests& message)
{
    if (!m_log)
        return Error {"protocol.order", "digests come before the header of the event log"};
    if (message.first != m_digests)
        return outOfOrder("digests do not continue those before", message.first, m_digests);
    if (message.digests.empty())
        return {};
    Result<void> written = m_log->write(ChunkKind::Digests, std::as_bytes(std::span(message.digests)));
    if (written)
        m_digests += message.digests.size();
    return written;
}

Result<void> RunSpool::take(const Events& message)
{
    if (!m_log)
        return Error {"protocol.order", "events come before the header of the event log"};
    if (message.first != m_events)
        return outOfOrder("events do not continue those before", message.first, m_events);
    for (const Event& event : message.events) {
        if (event.kind == EventKind::Index && event.value >= m_digests)
            return outOfOrder("an event names a digest that has not come", event.value, m_digests);
    }
    if (message.events.empty())
        return {};
    Result<void> written = m_log->write(ChunkKind::Events, std::as_bytes(std::span(message.events)));
    if (written)
        m_events += message.events.size();
    return written;
}

Result<void> RunSpool::take(const Samples& message)
{
    for (const StepSample& sample : message.samples) {
        if (Result<void> written = m_record->step(sample); !written)
            return written;
    }
    return {};
}

Result<void> RunSpool::takeResult(const std::string& text)
{
    return writeFileAtomically(m_files.result, text);
}

Result<void> RunSpool::finish(const RunRecord& record)
{
    for (const RequestRecord& request : record.requests) {
        const std::string tenant = request.tenant < record.tenants.size() ? record.tenants[request.tenant].id : "";
        if (Result<void> written = m_record->request(request, tenant); !written)
            return written;
    }
    if (Result<void> written = m_record->end(record); !written)
        return written;
    return m_log ? m_log->write(ChunkKind::End, endPayload(m_events, m_digests)) : Result<void>();
}

} // namespace kvw::worker
