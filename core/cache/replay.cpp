// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/replay.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::size_t fewestCheckpointEvents = 65536;
constexpr std::uint32_t mostPositions = 1U << 24; // a table longer than that is no table

bool concernsBlock(EventKind kind)
{
    return kind >= EventKind::Hold && kind <= EventKind::Evict;
}

/// Puts the block into the request's table.
void enter(RequestTrace& request, const Event& event, std::size_t groups)
{
    if (request.phase != RequestPhase::Running) {
        request.phase = RequestPhase::Running;
        request.former.clear();
    }
    request.tenant = event.tenant;
    request.tables.resize(std::max(request.tables.size(), groups));
    std::vector<std::uint32_t>& table = request.tables[event.group];
    if (table.size() <= event.position)
        table.resize(event.position + 1, noTableBlock);
    if (table[event.position] == noTableBlock)
        ++request.held;
    table[event.position] = event.block;
}

/// Takes the block out of the request's table; the position stays, as a hole.
void leave(RequestTrace& request, const Event& event)
{
    if (event.group >= request.tables.size() || event.position >= request.tables[event.group].size())
        return; // preempted: the table is gone already
    std::uint32_t& entry = request.tables[event.group][event.position];
    if (entry == noTableBlock)
        return;
    entry = noTableBlock;
    --request.held;
    if (request.held == 0 && event.kind == EventKind::Release)
        request.tables.clear();
}

void endWith(RequestTrace& request, RequestPhase phase)
{
    request.phase = phase;
    request.held = 0;
    request.tables.clear();
    request.former.clear();
}

} // namespace

const char* requestPhaseName(RequestPhase phase)
{
    static constexpr std::array names {
        "waiting", "running", "preempted", "completed", "rejected", "cancelled", "failed"};
    return names[static_cast<std::size_t>(phase)];
}

ReplayState::ReplayState(const EventLogHeader& header)
    : map(header.layout)
{
    for (const std::vector<BlockSnapshot>& pool : map.blocks()) {
        uses.emplace_back(pool.size());
        since.emplace_back(pool.size());
    }
}

Result<void> ReplayState::apply(const EventLogHeader& header, const Event& event)
{
    if (concernsBlock(event.kind) && event.position >= mostPositions) {
        return Error {"events.inconsistent", fmt::format("no block table has a position {}", event.position),
            {{}, fmt::format("step {}, block {}", event.step, event.block)}};
    }
    if (Result<void> applied = map.apply(event); !applied)
        return applied;
    const std::size_t groups = header.layout.groups.size();
    switch (event.kind) {
    case EventKind::Allocate:
        ++uses[header.layout.groups[event.group].pool][event.block];
        since[header.layout.groups[event.group].pool][event.block] = event.step;
        enter(requests[event.request], event, groups);
        break;
    case EventKind::Reference:
        enter(requests[event.request], event, groups);
        break;
    case EventKind::Release:
    case EventKind::Drop:
        leave(requests[event.request], event);
        break;
    case EventKind::Arrive:
        requests[event.request].tenant = event.tenant;
        requests[event.request].promptTokens = event.value;
        break;
    case EventKind::Admit:
        requests[event.request].phase = RequestPhase::Running;
        requests[event.request].hitTokens = event.value;
        break;
    case EventKind::Preempt: {
        RequestTrace& request = requests[event.request];
        request.former.assign(groups, {});
        for (std::size_t g = 0; g < request.tables.size(); ++g) {
            const std::vector<std::uint32_t>& use = uses[header.layout.groups[g].pool];
            for (const std::uint32_t block : request.tables[g]) {
                if (block != noTableBlock)
                    request.former[g].push_back({block, use[block]});
            }
        }
        request.phase = RequestPhase::Preempted;
        request.tables.clear();
        request.held = 0;
        break;
    }
    case EventKind::Complete:
        endWith(requests[event.request], RequestPhase::Completed);
        break;
    case EventKind::Reject:
        endWith(requests[event.request], RequestPhase::Rejected);
        break;
    case EventKind::Cancel:
        endWith(requests[event.request], RequestPhase::Cancelled);
        break;
    case EventKind::Fail:
        endWith(requests[event.request], RequestPhase::Failed);
        break;
    default:
        break;
    }
    return {};
}

namespace {

/// Adds `sign` times the block to the counts.
void count(StepCounts& counts, const BlockSnapshot& block, std::int64_t sign)
{
    switch (block.state) {
    case BlockState::Free:
        counts.free += sign;
        break;
    case BlockState::Active:
        counts.active += sign;
        counts.shared += block.references > 1 ? sign : 0;
        break;
    case BlockState::Cached:
        counts.cached += sign;
        break;
    case BlockState::Held:
        counts.held += sign;
        break;
    }
}

void countEvent(StepCounts& counts, EventKind kind)
{
    switch (kind) {
    case EventKind::Reference:
        ++counts.hits;
        break;
    case EventKind::Evict:
        ++counts.evictions;
        ++counts.evictionsSoFar;
        break;
    case EventKind::Preempt:
        ++counts.preemptions;
        ++counts.preemptionsSoFar;
        break;
    case EventKind::Admit:
        ++counts.admissions;
        break;
    case EventKind::Complete:
    case EventKind::Reject:
    case EventKind::Cancel:
    case EventKind::Fail:
        ++counts.ended;
        break;
    default:
        break;
    }
}

/// The block that an event is about, when it exists.
const BlockSnapshot* blockOf(const EventLogHeader& header, const BlockMap& map, const Event& event)
{
    if (!concernsBlock(event.kind) || event.group >= header.layout.groups.size())
        return nullptr;
    const std::uint32_t pool = header.layout.groups[event.group].pool;
    if (pool >= map.blocks().size() || event.block >= map.blocks()[pool].size())
        return nullptr;
    return &map.blocks()[pool][event.block];
}

} // namespace

Replay::Replay(const EventLogHeader& header, std::span<const Event> events)
    : m_header(header)
    , m_events(events)
    , m_state(header)
{
    std::size_t blocks = 0;
    for (const std::vector<BlockSnapshot>& pool : m_state.map.blocks())
        blocks += pool.size();
    const std::size_t apart = std::max(fewestCheckpointEvents, 2 * blocks);
    StepCounts counts;
    counts.free = static_cast<std::int64_t>(blocks);
    m_checkpoints.push_back({0, m_state});
    for (std::size_t i = 0; i < m_events.size(); ++i) {
        const Event& event = m_events[i];
        if (i == 0 || event.step != m_steps.back().step) {
            counts.step = event.step;
            counts.hits = counts.evictions = counts.preemptions = counts.admissions = counts.ended = 0;
            m_steps.push_back(counts);
        }
        const BlockSnapshot* block = blockOf(m_header, m_state.map, event);
        if (block)
            count(counts, *block, -1);
        if (Result<void> applied = m_state.apply(m_header, event); !applied) {
            m_error = applied.error();
            m_events = m_events.first(i);
            break;
        }
        if (block)
            count(counts, *block, 1);
        countEvent(counts, event.kind);
        m_steps.back() = counts;
        if (i + 1 - m_checkpoints.back().events >= apart)
            m_checkpoints.push_back({i + 1, m_state});
    }
    m_at = m_events.size();
}

const std::optional<Error>& Replay::error() const
{
    return m_error;
}

const std::vector<StepCounts>& Replay::steps() const
{
    return m_steps;
}

std::uint32_t Replay::lastStep() const
{
    return m_events.empty() ? 0 : m_events.back().step;
}

void Replay::seek(std::uint32_t step)
{
    const auto end = std::upper_bound(m_events.begin(), m_events.end(), step,
        [](std::uint32_t wanted, const Event& event) { return wanted < event.step; });
    const auto target = static_cast<std::size_t>(end - m_events.begin());
    const auto after = std::upper_bound(m_checkpoints.begin(), m_checkpoints.end(), target,
        [](std::size_t wanted, const Checkpoint& point) { return wanted < point.events; });
    const Checkpoint& nearest = *(after - 1); // the first one is at 0
    if (target < m_at || nearest.events > m_at) {
        m_state = nearest.state;
        m_at = nearest.events;
    }
    for (; m_at < target; ++m_at)
        (void)m_state.apply(m_header, m_events[m_at]); // applied once already, in the constructor
}

const ReplayState& Replay::state() const
{
    return m_state;
}

const EventLogHeader& Replay::header() const
{
    return m_header;
}

std::span<const Event> Replay::events() const
{
    return m_events;
}

const StepCounts* Replay::countsAt(std::uint32_t step) const
{
    const auto after = std::upper_bound(m_steps.begin(), m_steps.end(), step,
        [](std::uint32_t wanted, const StepCounts& counts) { return wanted < counts.step; });
    return after == m_steps.begin() ? nullptr : &*(after - 1);
}

std::optional<std::uint32_t> Replay::lastGrowth(std::uint32_t request) const
{
    const auto at = std::find_if(m_events.rbegin(), m_events.rend(), [request](const Event& event) {
        return event.request == request && (event.kind == EventKind::Allocate || event.kind == EventKind::Reference);
    });
    return at == m_events.rend() ? std::nullopt : std::optional(at->step);
}

std::optional<std::uint32_t> Replay::nextStep(std::uint32_t step, EventKind kind) const
{
    auto at = std::upper_bound(m_events.begin(), m_events.end(), step,
        [](std::uint32_t wanted, const Event& event) { return wanted < event.step; });
    at = std::find_if(at, m_events.end(), [kind](const Event& event) { return event.kind == kind; });
    return at == m_events.end() ? std::nullopt : std::optional(at->step);
}

std::optional<std::uint32_t> Replay::previousStep(std::uint32_t step, EventKind kind) const
{
    const auto end = std::lower_bound(m_events.begin(), m_events.end(), step,
        [](const Event& event, std::uint32_t wanted) { return event.step < wanted; });
    const auto at = std::find_if(
        std::make_reverse_iterator(end), m_events.rend(), [kind](const Event& event) { return event.kind == kind; });
    return at == m_events.rend() ? std::nullopt : std::optional(at->step);
}

namespace {

/// Takes one event of the block into its story.
void tell(BlockStory& story, const Event& event, std::int64_t blockTokens, std::int64_t& references)
{
    switch (event.kind) {
    case EventKind::Allocate: {
        const std::uint32_t uses = story.uses + 1;
        story = {};
        story.uses = uses;
        story.allocated = event;
        references = 1;
        break;
    }
    case EventKind::Append:
        if (event.value == blockTokens)
            story.full = event.step;
        break;
    case EventKind::Index:
        story.indexed = event.step;
        story.digest = event.value;
        break;
    case EventKind::Reference:
        ++references;
        ++story.hits;
        ++story.hitsByTenant[event.tenant];
        if (!story.firstHit)
            story.firstHit = event;
        if (!story.firstForeignHit && story.allocated && event.tenant != story.allocated->tenant)
            story.firstForeignHit = event;
        story.lastHit = event;
        story.left.reset();
        break;
    case EventKind::Release:
    case EventKind::Drop:
        if (--references == 0)
            story.left = event;
        break;
    case EventKind::Evict:
        story.evicted = event;
        break;
    default:
        break;
    }
}

} // namespace

BlockStory blockStory(const EventLogHeader& header, std::span<const Event> events, std::uint32_t pool,
    std::uint32_t block, std::uint32_t step)
{
    BlockStory out;
    std::int64_t references = 0;
    for (const Event& event : events) {
        if (event.block != block || !concernsBlock(event.kind) || header.layout.groups[event.group].pool != pool)
            continue;
        if (event.step > step) {
            out.next = event;
            break;
        }
        tell(out, event, header.layout.groups[event.group].blockTokens, references);
    }
    return out;
}

} // namespace kvw
