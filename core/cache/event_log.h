// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/block_map.h"
#include "cache/event.h"
#include "cache/identity.h"
#include "engines/pool_layout.h"
#include "units/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvw {

/// What an event log says about itself: written first, so that a truncated file can still be read.
struct EventLogHeader
{
    int version = 1;
    std::string source; ///< "prediction" or "live run on host"
    std::string planHash;
    std::string workloadHash;
    std::string created; ///< ISO time; empty in reproducible tests
    std::vector<std::string> tenants;
    std::vector<std::string> requestTenants {}; ///< unused in version 1 files when empty
    PoolLayout layout; ///< sizes only: pools and groups; a file keeps no tensors
};

/// Takes events as they happen. The cache and the loop write to it; it keeps them in memory, in a file, or both.
///
/// A file is a sequence of chunks, all numbers little-endian: u32 kind, u32 check, u64 length, payload. The check is
/// the low half of XXH3-64 over the payload, seeded with kind and length. Kinds, as four letters: "KVWH" header (JSON),
/// "KVWD" digests (16 bytes each), "KVWE" events (24 bytes each), "KVWK" keyframe (the BlockMap after so many events,
/// see event_file.h), "KVWZ" end. A digest comes before the event that names it. A file without its end chunk, or with
/// a last chunk cut short, reads up to the last whole chunk: a killed run leaves a readable log. flush() makes
/// everything so far durable against the process's death (it is written to the file); it happens by itself every few
/// thousand events. Single-threaded.
class EventLog
{
public:
    /// In memory only. `keyframeEvents`: events between keyframes; 0: as many as keep keyframes smaller than the
    /// events.
    explicit EventLog(EventLogHeader header, std::size_t keyframeEvents = 0);
    /// In memory, and in a file at `path`; one that is there is replaced. Errors: io.open, io.write.
    static Result<std::unique_ptr<EventLog>> create(
        EventLogHeader header, const std::string& path, std::size_t keyframeEvents = 0);
    /// Reads a file into memory. Errors: io.open, io.read, events.format, events.version, events.inconsistent,
    /// events.memory, each with the place. Sizes in the file are checked before anything is allocated; at most
    /// mostBlocks blocks.
    static Result<std::unique_ptr<EventLog>> open(const std::string& path);
    /// Writes what is buffered; a file without finish() stays incomplete.
    ~EventLog();
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    /// Blocks that a file's layout may have, all pools together: the state alone takes 24 bytes for each.
    static constexpr std::int64_t mostBlocks = std::int64_t {1} << 25;

    /// REQUIRES steps in order. An event that contradicts those before it is kept, and reported by stateAfter().
    void add(const Event& event);
    /// Adds an identity to the digest table and returns its number.
    std::uint32_t addDigest(const BlockKey& key);
    /// Writes what is buffered to the file. Errors: io.write (the log in memory stays whole, the file ends with a whole
    /// chunk, and the next flush() tries again).
    Result<void> flush();
    /// Flushes and writes the end chunk. Nothing may be added afterwards.
    Result<void> finish();

    const EventLogHeader& header() const;
    const std::vector<Event>& events() const;
    const std::vector<BlockKey>& digests() const;
    /// False when the file had no end chunk: the run that wrote it did not finish.
    bool complete() const;
    /// The state at the end of `step` (all events with event.step ≤ step), from the nearest keyframe before it.
    Result<BlockMap> stateAfter(std::uint32_t step) const;
    /// The state after the last event.
    Result<BlockMap> finalState() const;

private:
    struct Keyframe
    {
        std::size_t events = 0; ///< that happened before it
        BlockMap state;
    };
    struct Wrong
    {
        std::size_t event = 0;
        Error error;
    };
    struct File;
    class Loader;

    EventLogHeader m_header;
    std::vector<Event> m_events;
    std::vector<BlockKey> m_digests;
    std::size_t m_keyframeEvents;
    std::vector<Keyframe> m_keyframes;
    BlockMap m_state; ///< after the last event before m_wrong
    std::optional<Wrong> m_wrong {}; ///< the first event that contradicts those before it
    std::unique_ptr<File> m_file;
    bool m_complete = false;
};

/// Blocks by state, tenant and group of one moment. A count of free and held blocks has no tenant.
struct BlockCount
{
    std::string pool; ///< its number: "0", "1" …
    std::string state;
    std::string tenant; ///< empty for free and held
    std::string group; ///< empty for free and held
    std::int64_t blocks = 0;
    std::int64_t tokens = 0; ///< entries written in them
};
/// Rows in order of pool, state, tenant and group; those of a pool add up to its blocks.
std::vector<BlockCount> countBlocks(const EventLogHeader& header, const BlockMap& map);

} // namespace kvw
