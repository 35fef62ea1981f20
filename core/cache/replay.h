// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/block_map.h"
#include "cache/event_log.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kvw {

/// Where a request is at one moment, by its events.
enum class RequestPhase : std::uint8_t {
    Waiting,
    Running,
    Preempted, ///< lost its table and waits again
    Completed,
    Rejected,
    Cancelled,
    Failed,
};
const char* requestPhaseName(RequestPhase phase); ///< "waiting", "running" …

/// One request at one moment, with its block table, rebuilt from events alone.
struct RequestTrace
{
    /// A block that a preempted request held, and which use of the block that was: another use is other content.
    struct Former
    {
        std::uint32_t block = 0;
        std::uint32_t use = 0;

        bool operator==(const Former&) const = default;
    };

    RequestPhase phase = RequestPhase::Waiting;
    std::uint16_t tenant = 0;
    std::uint32_t promptTokens = 0;
    std::uint32_t hitTokens = 0; ///< served from the cache at the latest admission
    std::uint32_t held = 0; ///< blocks in its tables
    /// tables[group][position]: the block, or noTableBlock where the window has passed. Empty when it holds none.
    std::vector<std::vector<std::uint32_t>> tables;
    std::vector<std::vector<Former>> former; ///< Preempted: what it held then, by group; without dropped positions

    bool operator==(const RequestTrace&) const = default;
};
constexpr std::uint32_t noTableBlock = 0xffffffff;

/// All blocks and all tables at one moment.
struct ReplayState
{
    BlockMap map;
    std::map<std::uint32_t, RequestTrace> requests; ///< that have been seen, by id
    std::vector<std::vector<std::uint32_t>> uses; ///< [pool][block]: how often it was allocated
    std::vector<std::vector<std::uint32_t>> since; ///< [pool][block]: the step of its last allocation

    explicit ReplayState(const EventLogHeader& header);
    /// Errors as BlockMap::apply; events.inconsistent for a position beyond any table. Nothing changes then.
    Result<void> apply(const EventLogHeader& header, const Event& event);

    bool operator==(const ReplayState&) const = default;
};

/// Blocks of all pools at the end of a step, and what happened in it.
struct StepCounts
{
    std::uint32_t step = 0;
    std::int64_t active = 0;
    std::int64_t shared = 0; ///< of the active ones, those in two tables or more
    std::int64_t cached = 0;
    std::int64_t free = 0;
    std::int64_t held = 0;
    std::int64_t hits = 0; ///< blocks referenced
    std::int64_t evictions = 0;
    std::int64_t preemptions = 0;
    std::int64_t admissions = 0;
    std::int64_t ended = 0; ///< completed, rejected, cancelled or failed
    std::int64_t evictionsSoFar = 0; ///< this step's included
    std::int64_t preemptionsSoFar = 0;

    bool operator==(const StepCounts&) const = default;
};

/// Walks through an event log in both directions, with block tables: what a block map draws.
///
/// The blocks are those of EventLog::stateAfter, by the same BlockMap. Reads all events once, keeping a state every now
/// and then; after that any step is near one. Refers to the header and events, which must outlive it. Copies of the
/// states take a few times the memory of the pool's own.
class Replay
{
public:
    Replay(const EventLogHeader& header, std::span<const Event> events);

    /// The first event that contradicts those before it; the replay ends before it.
    const std::optional<Error>& error() const;
    const std::vector<StepCounts>& steps() const;
    std::uint32_t lastStep() const; ///< 0 when there is no event
    /// To the end of `step`, or to the last one that there is.
    void seek(std::uint32_t step);
    const ReplayState& state() const;
    const EventLogHeader& header() const;
    std::span<const Event> events() const; ///< up to the error, if there is one

    /// The counts of the last step that is not after `step`; none before the first.
    const StepCounts* countsAt(std::uint32_t step) const;
    /// The last step in which the request's tables grew, which is when it held most that is worth a look.
    std::optional<std::uint32_t> lastGrowth(std::uint32_t request) const;
    /// The first step after (before) `step` in which an event of `kind` happens.
    std::optional<std::uint32_t> nextStep(std::uint32_t step, EventKind kind) const;
    std::optional<std::uint32_t> previousStep(std::uint32_t step, EventKind kind) const;

private:
    struct Checkpoint
    {
        std::size_t events = 0;
        ReplayState state;
    };

    const EventLogHeader& m_header;
    std::span<const Event> m_events;
    std::optional<Error> m_error;
    std::vector<StepCounts> m_steps;
    std::vector<Checkpoint> m_checkpoints;
    ReplayState m_state;
    std::size_t m_at = 0; ///< events applied to m_state
};

/// The life of one block up to a step.
struct BlockStory
{
    std::uint32_t uses = 0; ///< how often it was allocated so far
    std::optional<Event> allocated; ///< its present use, or the one that ended last
    std::optional<std::uint32_t> full; ///< step in which its last token was written
    std::optional<std::uint32_t> indexed; ///< step since which it is findable
    std::optional<std::uint32_t> digest; ///< number of its identity
    std::int64_t hits = 0;
    std::map<std::uint16_t, std::int64_t> hitsByTenant;
    std::optional<Event> firstHit;
    std::optional<Event> firstForeignHit; ///< by another tenant than the one it was allocated for
    std::optional<Event> lastHit;
    std::optional<Event> left; ///< the release or drop after which no table named it; nothing while one does
    std::optional<Event> evicted; ///< when it has been, and on whose behalf
    std::optional<Event> next; ///< the first thing that happens to it after the step
};
/// REQUIRES consistent events.
BlockStory blockStory(const EventLogHeader& header, std::span<const Event> events, std::uint32_t pool,
    std::uint32_t block, std::uint32_t step);

} // namespace kvw
