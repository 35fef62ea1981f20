// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/cache_manager.h"
#include "device/device.h"
#include "serving/run_record.h"

#include <cstdint>
#include <vector>

namespace kvw {

/// A request while the loop works on it. Owned by the loop.
struct LiveRequest
{
    Sequence sequence {};
    RequestRecord record {};
    std::int64_t known = 0; ///< tokens whose ids are known: prompt and generated
    std::int64_t computed = 0; ///< tokens whose state is in the pool
    std::vector<bool> everComputed {}; ///< by position: written by an earlier or this admission, not served by a hit
    std::int64_t waitingSince = 0;
    std::int64_t leastHit = INT64_MAX; ///< fewest tokens that any admission was served
    std::vector<std::uint64_t> chains {}; ///< by position; kept only for devices with bytes
    std::vector<std::int64_t> setAside {}; ///< blocks by pool that admission reserved and that are not taken yet
    bool done = false;

    /// Most tokens that will ever be computed: the last generated token is not.
    std::int64_t mostTokens() const;
    /// Notes that [from, to) is computed; returns how many of them had been computed before.
    std::int64_t noteComputed(std::int64_t from, std::int64_t to);
    /// Extends chains to `end` tokens.
    void extendChains(std::int64_t end);
    /// The stretches of tokens [from, to) by block, through the request's tables; positions without a block are left
    /// out. Appends to `out`.
    void addSpans(const PoolLayout& layout, const BlockTables& tables, std::int64_t from, std::int64_t to,
        std::vector<EntrySpan>& out) const;
};

} // namespace kvw
