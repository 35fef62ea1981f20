// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/block_pool.h"
#include "cache/event_log.h"
#include "cache/identity.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace kvw {

/// Why tokens of a prompt were not served from the cache.
enum class MissCause : std::uint8_t {
    None, ///< nothing was missed that could have been had
    NeverSeen, ///< no block of this identity was ever indexed, as far back as is remembered (SeenIdentities)
    Evicted, ///< one was indexed, and evicted
    IdentityDiffers, ///< the same content is in the pool now under another domain or adapter: not eligible
    BelowUnit, ///< less than one block to look for
};
const char* missCauseName(MissCause cause); ///< "none", "never seen", "evicted", "not eligible", "below unit"

/// Who asks, for identity and ownership. `request` must outlive its state in the manager; while it has state there, its
/// tokens so far do not change.
struct Sequence
{
    const Request* request = nullptr;
    SharingDomain domain {};
};

/// The longest prefix that every group can serve. Good until the manager changes.
struct Hit
{
    std::int64_t tokens = 0; ///< a multiple of every group's unit
    MissCause cause = MissCause::None; ///< of the first token that was not served
    /// blocks[group][n]: block at logical position n, or noBlock where the group no longer needs that position.
    std::vector<std::vector<BlockId>> blocks {};
};

/// A request's ordered block ids, per group. Dropped positions hold noBlock.
struct BlockTables
{
    std::vector<std::vector<BlockId>> groups;
};

/// Block pools, prefix index and block tables together: the serving loop's one counterpart.
///
/// Knows layouts and behaviours, never a plan. A group either retains everything or has a window (GroupLayout::window).
/// Every change is an Event in the log. Single-threaded. Order inside allocate() follows vLLM's allocate_slots: drop
/// what left the window, check, take hits, take new blocks, index the blocks that are full after this step (where
/// groups have blocks of different sizes: up to the last multiple of all of them).
class CacheManager
{
public:
    /// `log` may be null. Both `layout` and `behaviour` are copied. Writes the Hold events.
    CacheManager(const PoolLayout& layout, const CacheBehaviour& behaviour, EventLog* log);
    ~CacheManager();

    /// All following events carry this step. REQUIRES not less than before.
    void setStep(std::int64_t step);

    /// The longest cached prefix of the request's first `tokens` tokens, at most tokens − 1 where the behaviour
    /// recomputes the last one. Changes nothing (recency included).
    Hit lookup(const Sequence& sequence, std::int64_t tokens);

    /// Blocks, per pool, that allocate() would take from the queue for this request to hold `tokens` computed tokens.
    /// Hit blocks that no table names count: they leave the queue too. `inFlightTokens` > 0 caps the count of a
    /// windowed group as vLLM's admission does: in all at most ⌈(window − 1 + inFlightTokens) ÷ block⌉ + 1 blocks,
    /// since a long prompt is never held whole.
    std::vector<std::int64_t> blocksNeeded(
        const Sequence& sequence, const Hit& hit, std::int64_t tokens, std::int64_t inFlightTokens = 0) const;

    /// Room for the request to go from `computed` tokens (hit included) to `computed + added`, after taking the hit's
    /// blocks (first call for the request only). `keepFree`: blocks per pool that must stay available (watermark).
    /// Returns false, and changes nothing but dropping what left the window, when a pool cannot give enough or the hit
    /// is no longer good. On success blocks that are full at computed + added are indexed. REQUIRES computed = what the
    /// request holds: the hit's tokens (0 without one) at first, then where the last call ended.
    bool allocate(
        const Sequence& sequence, const Hit* hit, std::int64_t computed, std::int64_t added, std::int64_t keepFree = 0);

    /// Gives all blocks of the request back, group by group, tails first where the behaviour says so. Full ones stay
    /// findable.
    void release(std::uint32_t request);

    /// Null when the request holds nothing.
    const BlockTables* tables(std::uint32_t request) const;

    const BlockPool& pool(std::size_t index) const;
    std::size_t poolCount() const;
    /// Identities lost so far because their block was given away.
    std::int64_t evictions() const;

    /// Checks every invariant of the design at the cost of a full pass; returns the first that fails. For tests and
    /// debug builds.
    Result<void> checkInvariants() const;

private:
    struct State;
    friend class PrefixSearch;
    std::unique_ptr<State> m_state;
};

} // namespace kvw
