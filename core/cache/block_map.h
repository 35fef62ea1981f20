// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/event.h"
#include "engines/pool_layout.h"
#include "units/result.h"

#include <cstdint>
#include <vector>

namespace kvw {

/// The four states of a block.
enum class BlockState : std::uint8_t {
    Free, ///< nobody's, content meaningless
    Active, ///< in at least one table
    Cached, ///< in no table, still findable
    Held, ///< null, dummy, padding
};
const char* blockStateName(BlockState state); ///< "free", "active", "cached", "held"

/// One block at one moment. Free blocks have no other field set, held ones only the group.
struct BlockSnapshot
{
    BlockState state = BlockState::Free;
    bool indexed = false;
    std::uint8_t group = 0; ///< meaningless when free
    std::uint16_t tenant = 0; ///< who allocated it; meaningless when free or held
    std::uint32_t references = 0; ///< tables that name it
    std::uint32_t request = 0; ///< who allocated it
    std::uint32_t position = 0; ///< logical block number for that request
    std::uint32_t tokens = 0; ///< entries written

    bool operator==(const BlockSnapshot&) const = default;
};

/// All blocks of all pools at one moment, rebuilt from events alone.
class BlockMap
{
public:
    explicit BlockMap(const PoolLayout& layout);

    /// Applies one event. Errors (events.inconsistent): an event that the state before it does not allow; nothing
    /// changes then.
    Result<void> apply(const Event& event);

    /// blocks()[pool][block]
    const std::vector<std::vector<BlockSnapshot>>& blocks() const;
    std::uint32_t step() const;

    bool operator==(const BlockMap&) const = default;

private:
    struct Group
    {
        std::uint32_t pool = 0;
        std::int64_t blockTokens = 0;

        bool operator==(const Group&) const = default;
    };

    std::vector<Group> m_groups;
    std::vector<std::vector<BlockSnapshot>> m_blocks;
    std::uint32_t m_step = 0;
};

} // namespace kvw
