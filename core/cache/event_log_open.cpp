// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_file.h"
#include "cache/event_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace kvw {

namespace {

/// An event or identity out of a chunk, wherever it lies there.
template <typename T>
T itemAt(const Chunk& chunk, std::size_t index)
{
    T out;
    std::memcpy(&out, chunk.payload.data() + index * sizeof(T), sizeof(T));
    return out;
}

} // namespace

/// Fills a log from a file, chunk by chunk. Every event is applied as it is read, so that a log that opens is
/// consistent, and every keyframe is compared with what the events before it say.
class EventLog::Loader
{
public:
    explicit Loader(EventFileReader reader)
        : m_reader(std::move(reader))
    {}

    Result<std::unique_ptr<EventLog>> load(const std::string& path)
    {
        Result<std::optional<Chunk>> first = m_reader.next();
        if (!first)
            return first.error();
        if (!*first || (*first)->kind != ChunkKind::Header)
            return m_reader.error("events.format", "the file does not begin with the header of an event log", 0);
        const std::vector<std::byte>& payload = (*first)->payload;
        Result<EventLogHeader> header
            = headerFromJson({reinterpret_cast<const char*>(payload.data()), payload.size()}, path);
        if (!header)
            return header.error();
        m_log = std::make_unique<EventLog>(std::move(header).value());
        while (!m_log->m_complete) {
            Result<std::optional<Chunk>> chunk = m_reader.next();
            if (!chunk)
                return chunk.error();
            if (!*chunk)
                break;
            if (Result<void> taken = take(**chunk); !taken)
                return taken.error();
        }
        if (m_log->m_complete && m_reader.remaining() > 0)
            return m_reader.error("events.format", "there is more after the end chunk", m_reader.offset());
        return std::move(m_log);
    }

private:
    Result<void> take(const Chunk& chunk)
    {
        switch (chunk.kind) {
        case ChunkKind::Header:
            return m_reader.error("events.format", "there is a second header", chunk.offset);
        case ChunkKind::Digests:
            for (std::size_t i = 0; i < chunk.payload.size() / sizeof(BlockKey); ++i)
                (void)m_log->addDigest(itemAt<BlockKey>(chunk, i));
            return {};
        case ChunkKind::Events:
            return takeEvents(chunk);
        case ChunkKind::Keyframe:
            if (chunk.payload != keyframePayload(m_log->m_events.size(), m_log->m_state))
                return m_reader.error(
                    "events.inconsistent", "the keyframe is not what the events before it say", chunk.offset);
            return {};
        case ChunkKind::End:
            if (chunk.payload != endPayload(m_log->m_events.size(), m_log->m_digests.size()))
                return m_reader.error(
                    "events.inconsistent", "the end chunk counts other events or digests", chunk.offset);
            m_log->m_complete = true;
            return {};
        }
        return {};
    }

    Result<void> takeEvents(const Chunk& chunk)
    {
        for (std::size_t i = 0; i < chunk.payload.size() / sizeof(Event); ++i) {
            const auto event = itemAt<Event>(chunk, i);
            const auto where
                = chunk.offset + static_cast<std::int64_t>(i * sizeof(Event)) + EventFileReader::frameBytes;
            if (event.kind == EventKind::Index && event.value >= m_log->m_digests.size())
                return m_reader.error("events.inconsistent", "an event names an identity that is not there", where);
            m_log->add(event);
            if (m_log->m_wrong) {
                const Error& wrong = m_log->m_wrong->error;
                return m_reader.error(wrong.code, fmt::format("{} ({})", wrong.message, wrong.where.at), where);
            }
        }
        return {};
    }

    EventFileReader m_reader;
    std::unique_ptr<EventLog> m_log;
};

Result<std::unique_ptr<EventLog>> EventLog::open(const std::string& path)
{
    Result<EventFileReader> reader = EventFileReader::open(path);
    if (!reader)
        return reader.error();
    try {
        return Loader(std::move(reader).value()).load(path);
    } catch (const std::bad_alloc&) {
        return Error {"events.memory", "the event log does not fit into memory", {path, {}}};
    }
}

} // namespace kvw
