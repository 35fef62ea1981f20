// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "worker/protocol.h"
#include "worker/runstory.h"
#include "worker/sampletrace.h"

#include <QLockFile>
#include <QString>

#include <memory>
#include <optional>

namespace kvw::gui {

/// Everything that a worker tells about one run: to disk at once, and in memory as much as is shown.
class RunReceiver
{
public:
    /// Sets the run up as the worker will, so that what it is about to do is known here too, and makes the run's folder
    /// below `runsFolder`. Errors: those of setUpProbe(); io.….
    static Result<std::unique_ptr<RunReceiver>> begin(
        const RunOrder& order, std::uint64_t request, const QString& runsFolder);

    std::uint64_t request() const;
    /// Errors: what the protocol does not allow. A failure to write is none: writeError() has it then.
    Result<void> take(const worker::Message& message);
    /// Result or failure has come.
    bool ended() const;
    /// The first thing that could not be written, or that is not as it was set up here.
    const std::optional<Error>& trouble() const;
    const RunProgress& progress() const;
    /// The progress with the samples in it.
    RunProgress snapshot() const;
    void setCancelling();
    /// Keeps a line that the worker wrote for people.
    void log(const QByteArray& text);

    /// How it ended. `death`: the sentence, when the worker is gone without a result.
    RunEnd end(const QString& death);

private:
    RunReceiver(std::uint64_t request, RunProgress progress, std::unique_ptr<worker::RunSpool> spool);

    Result<void> takePhase(const worker::Phase& message);
    Result<void> takeAccepted(const worker::Accepted& message);
    Result<void> takeEvidence(const worker::Evidence& message);
    Result<void> takeDone(const worker::Done& message);
    void compareReservation(const PoolReservation& reservation);
    Result<void> spooled(Result<void> taken);

    std::uint64_t m_request;
    RunProgress m_progress;
    std::unique_ptr<worker::RunSpool> m_spool;
    std::unique_ptr<QLockFile> m_lock {}; // while the run goes, nobody removes its folder
    SampleTrace m_trace {};
    worker::TextJoiner m_evidenceText {};
    worker::TextJoiner m_resultText {};
    std::vector<EvidenceRow> m_rows {};
    std::optional<worker::ProbeOutcome> m_outcome {};
    std::optional<Error> m_unread {}; // why the result says nothing
    std::optional<Error> m_failed {};
    std::optional<Error> m_trouble {};
    std::int64_t m_overflow = 0; // events that a timed phase left out
    bool m_accepted = false;
    bool m_ended = false;
};

} // namespace kvw::gui
