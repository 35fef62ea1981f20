// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_log.h"

#include "cache/event_file.h"

#include <algorithm>

namespace kvw {

namespace {

constexpr std::size_t flushEvents = 8192;
constexpr std::size_t eventsPerChunk = 65536;
constexpr std::size_t fewestKeyframeEvents = 16384;

/// A keyframe takes up to 28 bytes a block and an event 24: with so many events between keyframes, they add at most
/// about half to a log, and any moment is at most so many events away from one.
std::size_t defaultKeyframeEvents(const PoolLayout& layout)
{
    std::int64_t blocks = 0;
    for (const PoolSpec& pool : layout.pools)
        blocks += pool.blocks.value;
    return std::max(fewestKeyframeEvents, 2 * static_cast<std::size_t>(blocks));
}

} // namespace

/// How far the file is behind the memory.
struct EventLog::File
{
    EventFileWriter writer;
    std::size_t events = 0;
    std::size_t digests = 0;
    std::size_t keyframes = 0;
    std::size_t flushAt = flushEvents;

    Result<void> writeEvents(const std::vector<Event>& all, std::size_t end)
    {
        while (events < end) {
            const std::size_t count = std::min(end - events, eventsPerChunk);
            Result<void> written
                = writer.write(ChunkKind::Events, std::as_bytes(std::span(all).subspan(events, count)));
            if (!written)
                return written;
            events += count;
        }
        return {};
    }

    Result<void> writeDigests(const std::vector<BlockKey>& all)
    {
        if (digests == all.size())
            return {};
        Result<void> written = writer.write(ChunkKind::Digests, std::as_bytes(std::span(all).subspan(digests)));
        if (written)
            digests = all.size();
        return written;
    }
};

EventLog::EventLog(EventLogHeader header, std::size_t keyframeEvents)
    : m_header(std::move(header))
    , m_keyframeEvents(keyframeEvents > 0 ? keyframeEvents : defaultKeyframeEvents(m_header.layout))
    , m_state(m_header.layout)
{}

EventLog::~EventLog()
{
    if (!m_complete)
        (void)flush();
}

Result<std::unique_ptr<EventLog>> EventLog::create(
    EventLogHeader header, const std::string& path, std::size_t keyframeEvents)
{
    Result<EventFileWriter> writer = EventFileWriter::create(path);
    if (!writer)
        return writer.error();
    auto log = std::make_unique<EventLog>(std::move(header), keyframeEvents);
    const std::string json = headerToJson(log->m_header);
    if (Result<void> written = writer->write(ChunkKind::Header, std::as_bytes(std::span(json))); !written)
        return written.error();
    log->m_file.reset(new File {std::move(writer).value()});
    return log;
}

void EventLog::add(const Event& event)
{
    m_events.push_back(event);
    if (!m_wrong) {
        if (Result<void> applied = m_state.apply(event); !applied)
            m_wrong = Wrong {m_events.size() - 1, applied.error()};
    }
    const std::size_t since = m_keyframes.empty() ? 0 : m_keyframes.back().events;
    if (!m_wrong && m_events.size() - since >= m_keyframeEvents)
        m_keyframes.push_back({m_events.size(), m_state});
    if (m_file && m_events.size() - m_file->events >= m_file->flushAt) {
        // A failure is reported by the next flush() of the caller; until then do not try at every event.
        m_file->flushAt = flush() ? flushEvents : m_events.size() - m_file->events + flushEvents;
    }
}

std::uint32_t EventLog::addDigest(const BlockKey& key)
{
    m_digests.push_back(key);
    return static_cast<std::uint32_t>(m_digests.size() - 1);
}

Result<void> EventLog::flush()
{
    if (!m_file)
        return {};
    if (Result<void> written = m_file->writeDigests(m_digests); !written)
        return written;
    for (; m_file->keyframes < m_keyframes.size(); ++m_file->keyframes) {
        const Keyframe& keyframe = m_keyframes[m_file->keyframes];
        if (Result<void> written = m_file->writeEvents(m_events, keyframe.events); !written)
            return written;
        Result<void> written
            = m_file->writer.write(ChunkKind::Keyframe, keyframePayload(keyframe.events, keyframe.state));
        if (!written)
            return written;
    }
    return m_file->writeEvents(m_events, m_events.size());
}

Result<void> EventLog::finish()
{
    if (Result<void> written = flush(); !written)
        return written;
    if (m_file) {
        Result<void> written = m_file->writer.write(ChunkKind::End, endPayload(m_events.size(), m_digests.size()));
        if (!written)
            return written;
    }
    m_complete = true;
    return {};
}

const EventLogHeader& EventLog::header() const
{
    return m_header;
}

const std::vector<Event>& EventLog::events() const
{
    return m_events;
}

const std::vector<BlockKey>& EventLog::digests() const
{
    return m_digests;
}

bool EventLog::complete() const
{
    return m_complete;
}

Result<BlockMap> EventLog::stateAfter(std::uint32_t step) const
{
    if (m_wrong && m_events[m_wrong->event].step <= step)
        return m_wrong->error;
    const auto good = m_events.begin() + static_cast<std::ptrdiff_t>(m_wrong ? m_wrong->event : m_events.size());
    const auto end = std::upper_bound(
        m_events.begin(), good, step, [](std::uint32_t wanted, const Event& event) { return wanted < event.step; });
    const auto count = static_cast<std::size_t>(end - m_events.begin());
    const auto after = std::upper_bound(m_keyframes.begin(), m_keyframes.end(), count,
        [](std::size_t wanted, const Keyframe& keyframe) { return wanted < keyframe.events; });
    const Keyframe* nearest = after == m_keyframes.begin() ? nullptr : &*(after - 1);
    BlockMap state = nearest ? nearest->state : BlockMap(m_header.layout);
    for (std::size_t i = nearest ? nearest->events : 0; i < count; ++i) {
        if (Result<void> applied = state.apply(m_events[i]); !applied)
            return applied.error();
    }
    return state;
}

Result<BlockMap> EventLog::finalState() const
{
    if (m_wrong)
        return m_wrong->error;
    return m_state;
}

} // namespace kvw
