// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/map_legend.h"
#include "report/report_words.h"
#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

/// "Full attention" where one group has the pool to itself.
std::string poolTitle(const EventLogHeader& header, std::size_t pool, const Plan* plan)
{
    std::string groups;
    for (const GroupLayout& group : header.layout.groups) {
        if (group.pool == pool)
            groups += (groups.empty() ? "" : ", ") + groupName(plan, group.id);
    }
    return header.layout.pools.size() == 1 ? "Pool" : fmt::format("Pool {}, {}", pool, groups);
}

Figure mapFigure(const EventLog& events, const BlockMap& map, const Plan* plan)
{
    Figure out {"block_map", fmt::format("Blocks at step {}", grouped(map.step())), "block number", "blocks", {}};
    out.kind = Figure::Kind::BlockMap;
    for (std::size_t p = 0; p < map.blocks().size(); ++p) {
        Figure::Pool pool;
        const std::vector<BlockSnapshot>& blocks = map.blocks()[p];
        const std::int64_t bytes = events.header().layout.pools[p].blockBytes.value;
        pool.title = fmt::format("{}: {} blocks of {}", poolTitle(events.header(), p, plan),
            grouped(static_cast<std::int64_t>(blocks.size())), format(Bytes(bytes)));
        for (const BlockSnapshot& block : blocks) {
            std::string state = blockClassName(blockClass(block));
            if (pool.runs.empty() || pool.runs.back().state != state)
                pool.runs.push_back({std::move(state), 0});
            ++pool.runs.back().blocks;
        }
        out.pools.push_back(std::move(pool));
    }
    out.caption = "Blocks by number, from the top left, row by row. Shared: in two or more tables; private tail: in "
                  "one; cached: in no table, still findable; held: null block or padding; free: nobody's.";
    return out;
}

/// Counts of what the figure tells apart; a pool's add up to its blocks.
Table stateTable(const EventLog& events, const BlockMap& map, const Plan* plan)
{
    static constexpr BlockClass classes[] {
        BlockClass::Shared, BlockClass::Private, BlockClass::Cached, BlockClass::Held, BlockClass::Free};
    Table out;
    out.columns = {{"Pool"}};
    for (const BlockClass one : classes)
        out.columns.push_back({blockClassName(one), true});
    out.columns.push_back({"Blocks", true});
    out.columns.push_back({"Bytes in tables", true});
    for (std::size_t p = 0; p < map.blocks().size(); ++p) {
        std::int64_t counts[blockClassCount] {};
        for (const BlockSnapshot& block : map.blocks()[p])
            ++counts[static_cast<std::size_t>(blockClass(block))];
        std::vector<std::string> row {poolTitle(events.header(), p, plan)};
        std::int64_t tables = 0;
        for (const BlockClass one : classes) {
            const std::int64_t count = counts[static_cast<std::size_t>(one)];
            row.push_back(grouped(count));
            tables += one == BlockClass::Shared || one == BlockClass::Private ? count : 0;
        }
        row.push_back(grouped(static_cast<std::int64_t>(map.blocks()[p].size())));
        row.push_back(format(Bytes(tables * events.header().layout.pools[p].blockBytes.value)));
        out.rows.push_back(std::move(row));
    }
    out.caption = "Blocks by state as the figure draws them; each row adds up to the pool.";
    return out;
}

/// Table positions that hold no block any more, since the window went past them; only where there is a window.
std::string droppedText(const EventLog& events, std::uint32_t step)
{
    const auto& groups = events.header().layout.groups;
    if (std::none_of(groups.begin(), groups.end(), [](const GroupLayout& group) { return group.window.has_value(); }))
        return {};
    Replay replay(events.header(), events.events());
    replay.seek(step);
    const Legend legend = legendByState(events.header(), replay.state());
    return fmt::format(" Window-dropped: {} of {} table positions of groups with a window hold no block any more.",
        grouped(legend.windowDropped), grouped(legend.windowPositions));
}

Table ownerTable(const EventLog& events, const BlockMap& map, const Plan* plan)
{
    Table out;
    out.columns = {{"Pool"}, {"State"}, {"Tenant"}, {"Layer group"}, {"Blocks", true}, {"Entries written", true}};
    for (const BlockCount& count : countBlocks(events.header(), map)) {
        out.rows.push_back({count.pool, count.state, count.tenant.empty() ? "–" : tenantName(plan, count.tenant),
            count.group.empty() ? "–" : groupName(plan, count.group), grouped(count.blocks), grouped(count.tokens)});
    }
    out.caption = "Blocks by state, by the tenant that allocated them, and by layer group.";
    return out;
}

bool hasEngine(const RunSetup& setup)
{
    return std::none_of(setup.assumptions.begin(), setup.assumptions.end(),
        [](const Assumption& assumption) { return assumption.id == "run.shape_pool"; });
}

} // namespace

Section blockMapSection(const RunRecord& record, const EventLog& events, const RunSetup& setup, const Plan* plan)
{
    Section out {"blockmap", "Block map", {},
        std::string("The reader may conclude which blocks of the pool this workload fills, shares and keeps at that "
                    "step, ")
            + (hasEngine(setup) ? "by the engine's rules."
                                : "in pools of an assumed size and order of eviction: there is no engine.")
            + " Not that other requests would: it is one workload, replayed; and not that state is kept apart on a "
              "device: only a live run's audit reads that."};
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
    out.blocks.emplace_back(mapFigure(events, *map, plan));
    Table states = stateTable(events, *map, plan);
    states.caption += droppedText(events, static_cast<std::uint32_t>(step));
    out.blocks.emplace_back(std::move(states));
    out.blocks.emplace_back(ownerTable(events, *map, plan));
    return out;
}

} // namespace kvw
