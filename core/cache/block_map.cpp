// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/block_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

bool concernsBlock(EventKind kind)
{
    return kind >= EventKind::Hold && kind <= EventKind::Evict;
}

Error inconsistent(const Event& event, const std::string& message)
{
    return {"events.inconsistent", message,
        {{},
            fmt::format("step {}, event kind {}, group {}, block {}", event.step, static_cast<int>(event.kind),
                event.group, event.block)}};
}

/// What an event does to a block; what is wrong when it cannot happen to it, else null.
const char* change(BlockSnapshot& block, const Event& event, std::int64_t blockTokens)
{
    const bool ownGroup = block.group == event.group;
    switch (event.kind) {
    case EventKind::Hold:
        if (block.state != BlockState::Free)
            return "only a free block can be held";
        block.state = BlockState::Held;
        block.group = event.group;
        return nullptr;
    case EventKind::Allocate:
        if (block.state != BlockState::Free)
            return "only a free block can be allocated";
        block = {BlockState::Active, false, event.group, event.tenant, 1, event.request, event.position, 0};
        return nullptr;
    case EventKind::Append:
        if (block.state != BlockState::Active || !ownGroup || event.value < block.tokens
            || std::int64_t {event.value} > blockTokens)
            return "only an active block takes tokens, and never fewer than before or more than fit";
        block.tokens = event.value;
        return nullptr;
    case EventKind::Index:
        if (block.state != BlockState::Active || !ownGroup || block.indexed)
            return "only an active block that is not indexed can be indexed";
        block.indexed = true;
        return nullptr;
    case EventKind::Reference:
        if ((block.state != BlockState::Active && block.state != BlockState::Cached) || !ownGroup || !block.indexed)
            return "only an indexed block of the group can be hit";
        block.state = BlockState::Active;
        ++block.references;
        return nullptr;
    case EventKind::Release:
    case EventKind::Drop:
        if (block.state != BlockState::Active || !ownGroup)
            return "only an active block can be given back";
        if (--block.references == 0) {
            block.state = BlockState::Cached;
            if (!block.indexed)
                block = BlockSnapshot {};
        }
        return nullptr;
    case EventKind::Evict:
        if (block.state != BlockState::Cached || !ownGroup)
            return "only a cached block can be evicted";
        block = BlockSnapshot {};
        return nullptr;
    default:
        return nullptr;
    }
}

} // namespace

const char* blockStateName(BlockState state)
{
    switch (state) {
    case BlockState::Free:
        return "free";
    case BlockState::Active:
        return "active";
    case BlockState::Cached:
        return "cached";
    case BlockState::Held:
        return "held";
    }
    return "";
}

BlockMap::BlockMap(const PoolLayout& layout)
{
    for (const GroupLayout& group : layout.groups)
        m_groups.push_back({group.pool, group.blockTokens});
    for (const PoolSpec& pool : layout.pools)
        m_blocks.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(pool.blocks.value, 0)));
}

Result<void> BlockMap::apply(const Event& event)
{
    if (event.kind < EventKind::Step || event.kind > EventKind::Fail)
        return inconsistent(event, "there is no such kind of event");
    if (event.step < m_step)
        return inconsistent(event, fmt::format("the event comes after one of step {}", m_step));
    if (concernsBlock(event.kind)) {
        if (event.group >= m_groups.size() || m_groups[event.group].pool >= m_blocks.size())
            return inconsistent(event, fmt::format("there are {} groups", m_groups.size()));
        const Group& group = m_groups[event.group];
        std::vector<BlockSnapshot>& pool = m_blocks[group.pool];
        if (event.block >= pool.size())
            return inconsistent(event, fmt::format("the group's pool has {} blocks", pool.size()));
        if (const char* wrong = change(pool[event.block], event, group.blockTokens)) {
            return inconsistent(
                event, fmt::format("{}; the block is {}", wrong, blockStateName(pool[event.block].state)));
        }
    }
    m_step = event.step;
    return {};
}

const std::vector<std::vector<BlockSnapshot>>& BlockMap::blocks() const
{
    return m_blocks;
}

std::uint32_t BlockMap::step() const
{
    return m_step;
}

} // namespace kvw
