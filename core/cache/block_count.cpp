// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_log.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace kvw {

std::vector<BlockCount> countBlocks(const EventLogHeader& header, const BlockMap& map)
{
    struct Sum
    {
        std::int64_t blocks = 0;
        std::int64_t tokens = 0;
    };
    std::vector<BlockCount> out;
    for (std::size_t pool = 0; pool < map.blocks().size(); ++pool) {
        std::map<std::tuple<BlockState, std::uint16_t, std::uint8_t>, Sum> sums;
        for (const BlockSnapshot& block : map.blocks()[pool]) {
            const bool owned = block.state == BlockState::Active || block.state == BlockState::Cached;
            Sum& sum
                = sums[{block.state, owned ? block.tenant : std::uint16_t {0}, owned ? block.group : std::uint8_t {0}}];
            ++sum.blocks;
            sum.tokens += block.tokens;
        }
        for (const auto& [what, sum] : sums) {
            const auto [state, tenant, group] = what;
            BlockCount row;
            row.pool = fmt::format("{}", pool);
            row.state = blockStateName(state);
            if (state == BlockState::Active || state == BlockState::Cached) {
                row.tenant = tenant < header.tenants.size() ? header.tenants[tenant] : fmt::format("#{}", tenant);
                row.group
                    = group < header.layout.groups.size() ? header.layout.groups[group].id : fmt::format("#{}", group);
            }
            row.blocks = sum.blocks;
            row.tokens = sum.tokens;
            out.push_back(std::move(row));
        }
    }
    return out;
}

} // namespace kvw
