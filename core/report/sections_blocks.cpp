// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "units/format.h"

#include <fmt/format.h>

namespace kvw {

namespace {

/// The state as the map draws it: active blocks are told apart by the number of tables that name them.
std::string drawnState(const BlockSnapshot& block)
{
    if (block.state == BlockState::Active)
        return block.references > 1 ? "shared" : "private";
    return blockStateName(block.state);
}

Figure mapFigure(const EventLog& events, const BlockMap& map)
{
    Figure out {"block_map", fmt::format("Blocks at step {}", grouped(map.step())), "block number", "blocks", {}};
    out.kind = Figure::Kind::BlockMap;
    for (std::size_t p = 0; p < map.blocks().size(); ++p) {
        Figure::Pool pool;
        const std::vector<BlockSnapshot>& blocks = map.blocks()[p];
        const std::int64_t bytes = events.header().layout.pools[p].blockBytes.value;
        pool.title = fmt::format(
            "Pool {}: {} blocks of {}", p, grouped(static_cast<std::int64_t>(blocks.size())), format(Bytes(bytes)));
        for (const BlockSnapshot& block : blocks) {
            std::string state = drawnState(block);
            if (pool.runs.empty() || pool.runs.back().state != state)
                pool.runs.push_back({std::move(state), 0});
            ++pool.runs.back().blocks;
        }
        out.pools.push_back(std::move(pool));
    }
    out.caption = "Blocks by number, from the top left, row by row. Shared: in two or more tables; private: in one; "
                  "cached: in no table, still findable; held: null block or padding; free: nobody's.";
    return out;
}

/// Counts of what the figure tells apart; a pool's add up to its blocks.
Table stateTable(const EventLog& events, const BlockMap& map)
{
    static constexpr const char* states[] {"shared", "private", "cached", "held", "free"};
    Table out;
    out.columns = {{"Pool"}};
    for (const char* state : states)
        out.columns.push_back({state, true});
    out.columns.push_back({"Blocks", true});
    out.columns.push_back({"Bytes in tables", true});
    for (std::size_t p = 0; p < map.blocks().size(); ++p) {
        std::int64_t counts[std::size(states)] {};
        for (const BlockSnapshot& block : map.blocks()[p]) {
            const std::string state = drawnState(block);
            for (std::size_t s = 0; s < std::size(states); ++s)
                counts[s] += state == states[s] ? 1 : 0;
        }
        std::vector<std::string> row {fmt::format("{}", p)};
        for (const std::int64_t count : counts)
            row.push_back(grouped(count));
        row.push_back(grouped(static_cast<std::int64_t>(map.blocks()[p].size())));
        row.push_back(format(Bytes((counts[0] + counts[1]) * events.header().layout.pools[p].blockBytes.value)));
        out.rows.push_back(std::move(row));
    }
    out.caption = "Blocks by state as the figure draws them; each row adds up to the pool.";
    return out;
}

Table ownerTable(const EventLog& events, const BlockMap& map)
{
    Table out;
    out.columns = {{"Pool"}, {"State"}, {"Tenant"}, {"Layer group"}, {"Blocks", true}, {"Entries written", true}};
    for (const BlockCount& count : countBlocks(events.header(), map)) {
        out.rows.push_back({count.pool, count.state, count.tenant.empty() ? "–" : count.tenant,
            count.group.empty() ? "–" : count.group, grouped(count.blocks), grouped(count.tokens)});
    }
    out.caption = "Blocks by state, by the tenant that allocated them, and by layer group.";
    return out;
}

} // namespace

Section blockMapSection(const RunRecord& record, const EventLog& events)
{
    Section out {"blockmap", "Block map", {},
        "The reader may conclude which blocks of the pool this workload fills, shares and keeps at that step, by the "
        "engine's rules. Not that other requests would: it is one workload, replayed; and not that state is kept apart "
        "on a device: only a live run's audit reads that."};
    const std::int64_t step = record.peakStep();
    const Result<BlockMap> map = events.stateAfter(static_cast<std::uint32_t>(step));
    if (!map) {
        out.blocks.emplace_back(Paragraph {"There is none: " + map.error().text(), true});
        return out;
    }
    out.blocks.emplace_back(Paragraph {
        fmt::format("From the event log of the prediction, {} events, at step {} of {}: the first with the most active "
                    "blocks.",
            grouped(static_cast<std::int64_t>(events.events().size())), grouped(step), grouped(record.steps))});
    out.blocks.emplace_back(mapFigure(events, *map));
    out.blocks.emplace_back(stateTable(events, *map));
    out.blocks.emplace_back(ownerTable(events, *map));
    return out;
}

} // namespace kvw
