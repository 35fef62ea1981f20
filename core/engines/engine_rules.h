// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/cache_behaviour.h"
#include "engines/pool_layout.h"
#include "plan/shape.h"

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvw {

/// What one rank keeps, by the engine's sharding rule.
struct RankSizing
{
    std::int64_t rank = 0;
    std::vector<Quantity> groupBytesPerToken; ///< growing bytes of each worksheet group, in the worksheet's order
    std::vector<Quantity> groupFixedBytes; ///< bytes a sequence holds at saturation in its limited tensors, by group
    Quantity bytesPerToken; ///< growing, all groups
    Quantity bytesPerBlock;
};

/// The ranks of a sizing. They all keep the same: it is kept once and handed out with each rank's number, so that
/// thousands of ranks cost what one does.
class RankSizings
{
public:
    class Iterator
    {
    public:
        using iterator_category = std::input_iterator_tag;
        using value_type = RankSizing;
        using difference_type = std::ptrdiff_t;
        using pointer = const RankSizing*;
        using reference = RankSizing;

        Iterator(const RankSizings& ranks, std::size_t at)
            : m_ranks(&ranks)
            , m_at(at)
        {}
        RankSizing operator*() const { return (*m_ranks)[m_at]; }
        Iterator& operator++()
        {
            ++m_at;
            return *this;
        }
        Iterator operator++(int) { return {*m_ranks, m_at++}; }
        bool operator==(const Iterator& other) const { return m_at == other.m_at; }

    private:
        const RankSizings* m_ranks;
        std::size_t m_at;
    };

    RankSizings() = default;
    RankSizings(RankSizing each, std::int64_t count)
        : m_each(std::move(each))
        , m_count(static_cast<std::size_t>(count))
    {}

    std::size_t size() const { return m_count; }
    bool empty() const { return m_count == 0; }
    /// What every rank keeps, as rank 0.
    const RankSizing& front() const { return m_each; }
    /// REQUIRES: rank < size().
    RankSizing operator[](std::size_t rank) const
    {
        RankSizing out = m_each;
        out.rank = static_cast<std::int64_t>(rank);
        return out;
    }
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, m_count}; }

private:
    RankSizing m_each;
    std::size_t m_count = 0;
};

/// A named part of the way from ideal need to engine need, for all planned sequences and all ranks. May be 0.
struct NeedDifference
{
    std::string id; ///< "page_rounding", "replication" …: stable
    std::string title;
    Quantity bytes;
};

/// Everything an engine's rule says about a plan's sizes. A figure that cannot be had is absent, and unstated names
/// why.
struct EngineSizing
{
    std::string name; ///< "none", "vllm"
    std::string version; ///< as the plan states it; empty when not
    std::string rules; ///< whose rules, with generation and date of verification
    std::string refusal; ///< why the rule does not apply to this plan; empty when it does
    std::string refusedField {}; ///< the plan field to change first; empty without a refusal

    std::optional<Quantity> blockTokens;
    RankSizings ranks; ///< empty when the engine has no sharding rule
    std::optional<Quantity> bytesPerBlock; ///< on one rank, all groups
    std::optional<Quantity> blocksPerRequest; ///< at the configured maximum
    std::optional<Quantity> needBytes; ///< one request at the configured maximum, one rank: what start-up must find
    std::optional<Quantity> availableBytes; ///< per rank, for state
    std::optional<Quantity> blocks; ///< in the pool, null block counted
    std::int64_t heldBlocks = 0; ///< of them, never given away: where no layout says it
    std::optional<Quantity> poolBytes; ///< per rank
    std::optional<Quantity> tokens; ///< as the engine prints it
    std::optional<Quantity> maxConcurrency; ///< as the engine prints it, a ratio
    std::optional<Quantity> largestLength; ///< longest single request that the pool passes at start-up
    std::optional<Quantity> largestHeld; ///< longest single request whose blocks the pool can give
    std::optional<bool> fits; ///< one request at the configured maximum passes the start-up check
    std::optional<bool> fitsConcurrency; ///< the planned sequences, all at the configured maximum, find blocks
    std::optional<Quantity> engineNeedBytes; ///< planned sequences at the configured maximum, all ranks
    std::vector<NeedDifference> differences; ///< from ideal to engine need, in the order of the rule
    std::vector<std::string> unstated; ///< what is missing for the absent figures
};

/// One serving engine's rules. Stateless; the version is an input that the plan states.
class EngineRules
{
public:
    virtual ~EngineRules();

    virtual std::string_view name() const = 0; ///< as in engine.name
    virtual std::string_view title() const = 0; ///< for people: "vLLM"

    /// Sizes for the plan. Assumptions go into `inputs`.
    virtual EngineSizing size(const Plan& plan, const std::vector<GroupShape>& shape, PlanInputs& inputs) const = 0;

    /// Blocks of each pool when the plan states no budget: the need of the planned sequences.
    virtual Result<std::vector<std::int64_t>> plannedBlocks(const Plan& plan, PlanInputs& inputs) const = 0;
    /// The pools of one rank with `blocks` blocks each. Errors: engine.refusal.
    virtual Result<PoolLayout> layout(const Plan& plan, const std::vector<std::int64_t>& blocks) const = 0;
    virtual CacheBehaviour behaviour(const Plan& plan) const = 0;
    /// Tokens computed in one step when the plan does not say.
    virtual std::int64_t defaultMaxBatchedTokens() const = 0;
    virtual std::int64_t defaultMaxSequences() const = 0;
    /// Diagnostics about what the engine cannot do of what the plan asks.
    virtual Diagnostics diagnose(const Plan& plan) const = 0;
};

/// The rules called `name` ("" counts as "none"). Errors: engine.unknown with the known names.
Result<const EngineRules*> engineRules(std::string_view name);
std::vector<std::string_view> engineNames();

// Parts that rules share.

/// Bytes that one token adds to a group on a rank, by heads kept there. Limited tensors do not count.
Quantity growingBytes(const GroupShape& shape, const std::vector<Quantity>& headsOnRank);
/// Bytes that a sequence holds in the group's limited and fixed tensors when they are full, and in those that count
/// encoder or image tokens.
Quantity saturatedBytes(const GroupShape& shape, const std::vector<Quantity>& headsOnRank);
/// The heads of each tensor of the group, unsharded.
std::vector<Quantity> allHeads(const GroupShape& shape);
/// Tensors of a group laid out in pages of `blockTokens` entries, `heads` on this rank.
GroupLayout groupLayout(
    const Plan& plan, const LayerGroup& group, std::int64_t blockTokens, const std::vector<std::int64_t>& heads);

} // namespace kvw
