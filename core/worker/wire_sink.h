// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "worker/outbox.h"
#include "worker/probe_job.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace kvw::worker {

struct WireLimits
{
    std::size_t heldEvents = std::size_t {4} << 20; ///< most events that a timed phase keeps
    std::size_t heldSamples = std::size_t {1} << 20;
    std::size_t batchEvents = 8192; ///< outside timed phases a batch goes when it has so many …
    std::chrono::milliseconds batchTime {50}; ///< … or is so old
};

/// Tells a probe's story as messages about one request. Samples and events go in batches. In a timed phase they are
/// held back until it ends, so that sending does not disturb what is measured; when the buffers are full then, what
/// follows is counted and left out, so that the events told are always the beginning of all.
class WireSink final : public ProbeSink
{
public:
    /// `cancelled` may be set by another thread. `holdBack`: the steps phase is a timed one.
    WireSink(
        Outbox& outbox, std::uint64_t id, const std::atomic<bool>& cancelled, bool holdBack, WireLimits limits = {});

    bool cancelled() override;
    void phaseBegan(ProbePhase phase) override;
    void phaseEnded(ProbePhase phase) override;
    void willReserve(const PoolReservation& reservation) override;
    void ceilings(const MemoryCeilings& ceilings) override;
    void reserved(const MemoryReading& memory) override;
    void logBegan(const EventLogHeader& header) override;
    void digests(std::span<const BlockKey> digests) override;
    void events(std::span<const Event> events) override;
    void step(const StepSample& sample) override;
    void evidence(const std::vector<EvidenceRow>& rows) override;

    /// Sends what is waiting.
    void flush();

private:
    void flushIfDue();

    Outbox& m_outbox;
    const std::uint64_t m_id;
    const std::atomic<bool>& m_cancelled;
    const bool m_holdBack;
    const WireLimits m_limits;
    bool m_timed = false;
    std::chrono::steady_clock::time_point m_phaseBegan {};
    std::chrono::steady_clock::time_point m_flushed {};
    Phase m_end {}; // the next message about the end of a phase, as it grows
    std::optional<PoolReservation> m_reservation {};
    std::vector<BlockKey> m_digests {}; // waiting
    std::vector<Event> m_events {};
    std::vector<StepSample> m_samples {};
};

/// Sends a text in as many pieces as it needs. False when it cannot arrive.
template <typename T>
bool sendPieces(Outbox& outbox, std::uint64_t id, const std::string& text)
{
    std::size_t at = 0;
    do {
        T piece {id, text.substr(at, mostTextPiece), false};
        at += piece.text.size();
        piece.more = at < text.size();
        if (!outbox.send(piece))
            return false;
    } while (at < text.size());
    return true;
}

} // namespace kvw::worker
