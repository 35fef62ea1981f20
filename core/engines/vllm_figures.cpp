// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_figures.h"

#include "engines/vllm_member.h"
#include "engines/vllm_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kvw::vllm {

namespace {

class Figures
{
public:
    Figures(const Plan& plan, const std::vector<GroupShape>& shape, PlanInputs& inputs, EngineSizing& out)
        : m_plan(plan)
        , m_shape(shape)
        , m_inputs(inputs)
        , m_out(out)
        , m_model(modelOf(plan, inputs))
        , m_tp(ranksOf(inputs))
        , m_length(lengthOf(inputs))
    {}

    void size()
    {
        if (!m_model.refusal.text.empty())
            return refuse(m_model.refusal);
        const std::optional<Quantity> available = availableBytes();
        if (m_plan.engine.fitLength == Switch::On && available && available->ok() && m_length.ok())
            fitLength(*available);
        m_sizing = sizeRequest(m_model.input);
        if (m_sizing.refusal.kind == StartRefusal::Kind::Layout)
            return refuse({m_sizing.refusal.text});
        m_out.heldBlocks = 1;
        m_members = membersOf(context());
        addBlock();
        addRanks();
        m_out.availableBytes = available;
        if (m_length.ok())
            addNeed();
        else
            m_out.unstated.push_back("need and concurrency: the configured maximum is not stated");
        if (available && available->ok() && m_out.bytesPerBlock->ok())
            addPool(*available);
    }

private:
    void refuse(const Refusal& why)
    {
        m_out.refusal = why.text;
        m_out.refusedField = why.field;
    }

    /// The smallest of the ranks', where the plan states each.
    std::optional<Quantity> availableBytes()
    {
        const std::string& list = m_plan.budget.kvBytesByRank;
        if (list.empty())
            return availableOf(m_plan, m_inputs, m_out);
        std::vector<Quantity> ranks;
        const char* at = list.data();
        const char* const end = list.data() + list.size();
        while (at < end) {
            std::int64_t bytes = 0;
            const auto [rest, error] = std::from_chars(at, end, bytes);
            if (error != std::errc {})
                break;
            ranks.push_back(input(fmt::format("bytes for state on rank {}", ranks.size()), bytes, Unit::Byte,
                m_inputs.source("budget.kvBytesByRank")));
            at = std::find_if(rest, end, [](char c) { return c >= '0' && c <= '9'; });
        }
        if (ranks.empty())
            return std::nullopt;
        return named(minimum(ranks),
            Naming {"available for state", Unit::Byte,
                rule("get_kv_cache_configs", "every rank takes the blocks of the one with the fewest"), {}});
    }

    void fitLength(const Quantity& available)
    {
        const Grouping grouping = sizeRequest(m_model.input).grouping;
        const std::int64_t length = largestLength(m_model.input, grouping, 0, available.integer(), m_length.integer());
        if (length < 1)
            return;
        m_cut = length < m_length.integer();
        m_model.input.maxModelLen = length;
        m_length = ruleInput("length, cut to what fits", length, Unit::Token, "_auto_fit_max_model_len",
            "the largest length up to the configured maximum whose need is available");
    }

    const LayerSpec& specAt(std::size_t spec) const { return m_sizing.grouping.specs[spec]; }

    MemberContext context() const { return {m_plan, m_shape, m_inputs, m_model, m_sizing, m_tp, m_length}; }

    bool ownPages() const { return m_sizing.grouping.groups.size() == 1; }

    void addBlock()
    {
        std::vector<Quantity> terms;
        if (ownPages()) {
            for (const Member& member : m_members)
                terms.push_back(member.layers * member.page);
        } else {
            terms.push_back(ruleInput("layers of a cache group", m_sizing.groupSize, Unit::Layer, "get_kv_cache_groups",
                                "the rarest kind's layers, or the most frequent kind's")
                * m_members.front().page);
        }
        m_out.bytesPerBlock = named(terms.size() == 1 ? terms.front() : sum(terms),
            Naming {"bytes per block", Unit::BytesPerBlock, rule("get_kv_cache_config_from_groups"),
                {"block tables and other metadata", "allocator reservation"}});
        const auto full = std::find_if(m_members.begin(), m_members.end(),
            [this](const Member& member) { return isFullKind(specAt(member.spec).kind); });
        m_out.blockTokens = memberBlock(context(), full == m_members.end() ? 0 : full->spec);
    }

    void addRanks()
    {
        RankSizing each = rankSizing(m_shape, m_tp);
        each.bytesPerBlock = *m_out.bytesPerBlock;
        m_out.ranks = RankSizings(std::move(each), m_tp.integer());
    }

    /// Blocks of one request: of all cache groups, or of the one.
    Quantity requestBlocks() const
    {
        if (ownPages()) {
            Quantity most = m_members.front().blocks;
            for (std::size_t i = 1; i < m_members.size(); ++i)
                most = maximum(most, m_members[i].blocks);
            return most;
        }
        std::vector<Quantity> terms;
        for (const Member& member : m_members)
            terms.push_back(member.cacheGroups * member.blocks);
        return terms.size() == 1 ? terms.front() : sum(terms);
    }

    void addNeed()
    {
        m_out.blocksPerRequest = named(requestBlocks(),
            Naming {"blocks per request", Unit::BlocksPerSequence,
                rule("get_max_concurrency_for_kv_cache_config", "the sum over the cache groups"), {}});
        m_out.needBytes = named(*m_out.blocksPerRequest * *m_out.bytesPerBlock,
            Naming {"need of one request", Unit::Byte,
                rule("max_memory_usage_bytes", "the start-up check; the null block is not in it"), {}});
        const Quantity sequences = m_inputs.numberOr(
            "limits.concurrentSequences", 1, Source::Kind::Assumption, "one sequence.", "sequences");
        const Quantity held
            = named(sequences * *m_out.blocksPerRequest, "blocks for the planned sequences", Unit::Block);
        m_out.engineNeedBytes = named(held * *m_out.bytesPerBlock * m_tp,
            Naming {"engine need", Unit::Byte, {},
                {"the null block", "block metadata", "allocator reservation", "weights", "workspace"}});
        if (!m_cut) // the ideal need is that of the configured maximum
            addDifferences(sequences);
    }

    template <typename Term>
    void addDifference(const char* id, const char* title, const Quantity& sequences, Term term, bool last = false)
    {
        std::vector<Quantity> terms;
        for (const Member& member : m_members) {
            if (const std::optional<Quantity> bytes = term(member))
                terms.push_back(member.layers * *bytes);
        }
        if (terms.empty() && !last)
            return;
        m_out.differences.push_back(
            {id, title, named(sequences * (terms.size() == 1 ? terms.front() : sum(terms)), title, Unit::Byte)});
    }

    void addDifferences(const Quantity& sequences)
    {
        using Term = std::optional<Quantity>;
        addDifference("replication", "replication", sequences,
            [](const Member& m) -> Term { return m.copies * m.idealRank - m.idealWhole; });
        addDifference("in_flight", "in-flight tokens", sequences,
            [this](const Member& m) -> Term { return m_tp * m.covered * m.entry - m.copies * m.idealRank; });
        addDifference("record_layout", "scales and records", sequences, [this](const Member& m) -> Term {
            if (m.record.number() == m.entry.number())
                return std::nullopt;
            return m_tp * m.covered * (m.record - m.entry);
        });
        addDifference("page_rounding", "page rounding", sequences, [this](const Member& m) -> Term {
            if (m.state)
                return std::nullopt;
            return m_tp * (m.whole * m.perBlock - m.covered) * m.record;
        });
        addDifference("spare_blocks", "spare blocks", sequences, [this](const Member& m) -> Term {
            if (!isSlidingKind(specAt(m.spec).kind))
                return std::nullopt;
            return m_tp * (m.blocks - m.whole) * m.perBlock * m.record;
        });
        addDifference("state_slots", "state slots", sequences, [this](const Member& m) -> Term {
            if (!m.state)
                return std::nullopt;
            return m_tp * (m.blocks - constant(1)) * m.entry;
        });
        addDifference("page_padding", "page padding", sequences, [this](const Member& m) -> Term {
            if (m.page.number() == (m.perBlock * m.record).number())
                return std::nullopt;
            return m_tp * m.blocks * (m.page - m.perBlock * m.record);
        });
        if (ownPages() && allBlocksAlike())
            return;
        std::vector<Quantity> taken;
        for (const Member& member : m_members)
            taken.push_back(member.layers * member.page * member.blocks);
        m_out.differences.push_back({"padding_layers", "padding layers",
            named(sequences * m_tp
                    * (*m_out.bytesPerBlock * *m_out.blocksPerRequest
                        - (taken.size() == 1 ? taken.front() : sum(taken))),
                "padding layers", Unit::Byte)});
    }

    bool allBlocksAlike() const
    {
        return std::all_of(m_members.begin(), m_members.end(),
            [this](const Member& m) { return m.blocks.number() == m_members.front().blocks.number(); });
    }

    void addPool(const Quantity& available)
    {
        if (m_plan.engine.blocksOverride)
            m_out.blocks = named(m_inputs.number("engine.blocksOverride"), "blocks", Unit::Block);
        else
            m_out.blocks = named(floorDivide(maximum(available, constant(0)), *m_out.bytesPerBlock),
                Naming {"blocks", Unit::Block, rule("get_num_blocks", "the null block is one of them"), {}});
        m_out.poolBytes = named(*m_out.blocks * *m_out.bytesPerBlock,
            Naming {
                "pool", Unit::Byte, {}, {"what the division leaves over", "weights", "workspace", "block metadata"}});
        const Quantity usable = m_plan.engine.blocksOverride ? *m_out.poolBytes : available;
        if (m_out.blocksPerRequest && m_out.blocksPerRequest->ok()) {
            m_out.maxConcurrency = named(ratio(*m_out.blocks, *m_out.blocksPerRequest),
                Naming {"maximum concurrency as printed", Unit::Ratio, rule("get_max_concurrency_for_kv_cache_config"),
                    {}});
            m_out.fits = m_out.needBytes->ok() && usable.ok() && m_out.needBytes->integer() <= usable.integer();
            const Quantity held = m_inputs.numberOr("limits.concurrentSequences", 1, Source::Kind::Assumption,
                                      "one sequence.", "sequences")
                * *m_out.blocksPerRequest;
            m_out.fitsConcurrency = held.ok() && m_out.blocks->ok() && held.integer() <= m_out.blocks->integer();
        }
        addTokens();
        addLargest(usable);
    }

    void addTokens()
    {
        if (m_model.input.rules.tokensFromConcurrency) {
            if (m_out.maxConcurrency)
                m_out.tokens = named(truncate(scale(*m_out.maxConcurrency, m_length)),
                    Naming {"tokens as printed", Unit::Token,
                        rule("GPU KV cache size, from 0.21: concurrency × length, cut"), {}});
            return;
        }
        Quantity block = memberBlock(context(), m_members.front().spec);
        for (const Member& member : m_members)
            block = minimum(block, memberBlock(context(), member.spec));
        const Quantity groups = ruleInput("cache groups", static_cast<std::int64_t>(m_sizing.grouping.groups.size()),
            Unit::None, "get_kv_cache_groups");
        m_out.tokens = named(floorDivide(*m_out.blocks, groups) * block * contextRanksOf(m_inputs),
            Naming {"tokens as printed", Unit::Token,
                rule("GPU KV cache size, up to 0.20: blocks ÷ groups × smallest block"), {}});
    }

    void addLargest(const Quantity& usable)
    {
        if (!usable.ok())
            return;
        constexpr std::int64_t most = std::int64_t {1} << 40;
        const std::int64_t length = largestLength(m_model.input, m_sizing.grouping, 0, usable.integer(), most);
        if (length == most) // its need does not grow: there is none
            return;
        m_out.largestLength = ruleInput("largest length that fits", length, Unit::Token, "estimate_max_model_len",
            "by bisection: one token more needs more than is available");
        const std::int64_t block = m_out.bytesPerBlock->integer();
        const std::int64_t held = largestLength(
            m_model.input, m_sizing.grouping, 0, std::max<std::int64_t>(0, m_out.blocks->integer() - 1) * block, most);
        m_out.largestHeld = ruleInput("longest request that the pool can hold", held, Unit::Token, "BlockPool",
            "the null block is never given to a request");
    }

    const Plan& m_plan;
    const std::vector<GroupShape>& m_shape;
    PlanInputs& m_inputs;
    EngineSizing& m_out;
    PlanModel m_model;
    Quantity m_tp;
    Quantity m_length;
    Sizing m_sizing;
    std::vector<Member> m_members;
    bool m_cut = false; ///< the length was cut to what fits
};

} // namespace

bool needsGroups(const Plan& plan)
{
    const EngineFields& engine = plan.engine;
    if (engine.batchesInFlight || engine.asyncScheduling != Switch::NotStated || engine.runner != ModelRunner::NotStated
        || engine.blocksOverride || engine.fitLength == Switch::On || !engine.cacheType.empty()
        || !engine.attentionBackend.empty() || engine.draftModules || plan.deployment.dcp.value_or(1) > 1
        || !plan.budget.kvBytesByRank.empty())
        return true;
    return !refusalOf(plan).text.empty();
}

void sizeGroups(const Plan& plan, const std::vector<GroupShape>& shape, PlanInputs& inputs, EngineSizing& out)
{
    if (const Refusal why = generalRefusal(plan); !why.text.empty()) {
        out.refusal = why.text;
        out.refusedField = why.field;
        return;
    }
    Figures(plan, shape, inputs, out).size();
}

} // namespace kvw::vllm
