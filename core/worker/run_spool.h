// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/event_file.h"
#include "serving/run_record.h"
#include "serving/run_setup.h"
#include "worker/protocol.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kvw::worker {

/// Where a spool keeps what.
struct SpoolFiles
{
    std::string folder;
    std::string events; ///< block event log, as `kvw events` reads it
    std::string record; ///< run record, one line at a time
    std::string result; ///< the result's JSON, once it is there
};

/// Keeps on disk what a worker tells about one run, as it is told, and nothing of it in memory.
///
/// A message is in the file when take() returns, so that the death of the worker, or of whoever reads it, loses nothing
/// that was taken: the event log then reads up to its last message, as incomplete. finish() ends the files.
class RunSpool
{
public:
    /// Makes the files in `folder`, which must exist. The event log begins with its header. Errors: io.open, io.write.
    static Result<std::unique_ptr<RunSpool>> create(
        const std::string& folder, const RunRecord& about, const RunSetup& setup);

    const SpoolFiles& files() const;
    std::uint64_t events() const; ///< taken so far
    std::uint64_t digests() const;
    /// True once there is an event log.
    bool hasLog() const;

    /// Errors: io.…; protocol.order for a part that does not continue what is there, such as events before the header,
    /// a second header, a gap, an event that names a digest which has not come; json.… and events.… of the header.
    Result<void> take(const LogHeader& message);
    Result<void> take(const Digests& message);
    Result<void> take(const Events& message);
    Result<void> take(const Samples& message);
    /// The result's text. Errors: io.…
    Result<void> takeResult(const std::string& text);
    /// Ends event log and record: the run is over, and everything about it has come. Errors: io.write.
    Result<void> finish(const RunRecord& record);

private:
    explicit RunSpool(SpoolFiles files);

    SpoolFiles m_files;
    std::unique_ptr<RecordWriter> m_record {};
    std::optional<EventFileWriter> m_log {};
    std::uint64_t m_events = 0;
    std::uint64_t m_digests = 0;
};

} // namespace kvw::worker
