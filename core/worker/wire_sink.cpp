// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/wire_sink.h"

#include "cache/event_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kvw::worker {

namespace {

using Clock = std::chrono::steady_clock;

/// Calls `send` with the number of the first one and up to `most` items at a time.
template <typename T, typename Send>
void inBatches(const std::vector<T>& items, std::size_t most, Send send)
{
    for (std::size_t at = 0; at < items.size(); at += most) {
        const auto begin = items.begin() + static_cast<std::ptrdiff_t>(at);
        send(at, std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(std::min(most, items.size() - at))));
    }
}

} // namespace

WireSink::WireSink(
    Outbox& outbox, std::uint64_t id, const std::atomic<bool>& cancelled, bool holdBack, WireLimits limits)
    : m_outbox(outbox)
    , m_id(id)
    , m_cancelled(cancelled)
    , m_holdBack(holdBack)
    , m_limits(limits)
{
    m_end.id = id;
    m_end.begins = false;
}

bool WireSink::cancelled()
{
    return m_cancelled || m_outbox.broken();
}

void WireSink::phaseBegan(ProbePhase phase)
{
    flush();
    m_timed = phase == ProbePhase::Ceilings || (phase == ProbePhase::Steps && m_holdBack);
    m_phaseBegan = Clock::now();
    Phase begin;
    begin.id = m_id;
    begin.phase = phase;
    begin.timed = m_timed;
    begin.reservation = std::exchange(m_reservation, std::nullopt);
    (void)m_outbox.send(begin);
}

void WireSink::phaseEnded(ProbePhase phase)
{
    m_end.seconds = std::chrono::duration<double>(Clock::now() - m_phaseBegan).count();
    m_timed = false;
    flush();
    m_end.phase = phase;
    (void)m_outbox.send(m_end);
    m_end.ceilings.reset();
    m_end.memory.reset();
}

void WireSink::willReserve(const PoolReservation& reservation)
{
    m_reservation = reservation;
}

void WireSink::ceilings(const MemoryCeilings& ceilings)
{
    m_end.ceilings = ceilings;
}

void WireSink::reserved(const MemoryReading& memory)
{
    m_end.memory = memory;
}

void WireSink::logBegan(const EventLogHeader& header)
{
    (void)m_outbox.send(LogHeader {m_id, headerToJson(header)});
}

void WireSink::digests(std::span<const BlockKey> digests)
{
    if (m_end.overflow.events == 0)
        m_digests.insert(m_digests.end(), digests.begin(), digests.end());
}

void WireSink::events(std::span<const Event> events)
{
    const std::size_t room
        = m_timed ? m_limits.heldEvents - std::min(m_limits.heldEvents, m_events.size()) : events.size();
    // Once one is left out, so are all later ones: a log with a hole is none.
    const std::size_t kept = m_end.overflow.events > 0 ? 0 : std::min(room, events.size());
    m_events.insert(m_events.end(), events.begin(), events.begin() + static_cast<std::ptrdiff_t>(kept));
    m_end.overflow.events += static_cast<std::int64_t>(events.size() - kept);
    flushIfDue();
}

void WireSink::step(const StepSample& sample)
{
    if (m_timed && m_samples.size() >= m_limits.heldSamples)
        ++m_end.overflow.samples;
    else
        m_samples.push_back(sample);
    flushIfDue();
}

void WireSink::evidence(const std::vector<EvidenceRow>& rows)
{
    const std::string text = evidenceJson(rows).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    (void)sendPieces<Evidence>(m_outbox, m_id, text);
}

void WireSink::flushIfDue()
{
    if (!m_timed && (m_events.size() >= m_limits.batchEvents || Clock::now() - m_flushed >= m_limits.batchTime))
        flush();
}

void WireSink::flush()
{
    inBatches(m_digests, mostBatchEvents, [&](std::size_t at, std::vector<BlockKey> batch) {
        (void)m_outbox.send(Digests {m_id, static_cast<std::uint64_t>(m_end.digests) + at, std::move(batch)});
    });
    m_end.digests += static_cast<std::int64_t>(m_digests.size());
    m_digests.clear();
    inBatches(m_events, mostBatchEvents, [&](std::size_t at, std::vector<Event> batch) {
        (void)m_outbox.send(Events {m_id, static_cast<std::uint64_t>(m_end.events) + at, std::move(batch)});
    });
    m_end.events += static_cast<std::int64_t>(m_events.size());
    m_events.clear();
    inBatches(m_samples, mostBatchSamples, [&](std::size_t, std::vector<StepSample> batch) {
        (void)m_outbox.send(Samples {m_id, std::move(batch)});
    });
    m_samples.clear();
    m_flushed = Clock::now();
}

} // namespace kvw::worker
