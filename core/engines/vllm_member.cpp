// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_member.h"

#include "engines/vllm_parts.h"

#include <fmt/format.h>

namespace kvw::vllm {

namespace {

class MemberBuilder
{
public:
    explicit MemberBuilder(const MemberContext& context)
        : m_context(context)
    {}

    Member member(std::size_t spec)
    {
        const LayerSpec& mine = specAt(spec);
        Member out;
        out.spec = spec;
        out.state = mine.kind == SpecKind::Mamba;
        const GroupShape& shape = m_context.shape[m_context.model.sources[spec].group];
        out.name = shape.group->name;
        out.layers = shape.layers;
        std::int64_t groups = 0;
        for (const CacheGroup& group : m_context.sizing.grouping.groups)
            groups += m_context.sizing.grouping.specOf[group.layers.front()] == spec ? 1 : 0;
        out.cacheGroups = ruleInput("cache groups of " + out.name, groups, Unit::None, "get_kv_cache_groups");
        const Quantity length = m_context.length.ok() ? m_context.length : constant(0);
        out.idealWhole = overTensors(
            spec, [&](const TensorShape& t, const Quantity&) { return t.entries(length) * t.entryBytes; });
        out.idealRank = overTensors(
            spec, [&](const TensorShape& t, const Quantity& heads) { return t.entries(length) * heads * t.rowBytes; });
        const Quantity dcp = contextRanksOf(m_context.inputs);
        out.copies = out.state || m_context.model.input.request.contextRanks == 1 ? m_context.tp
                                                                                  : floorDivide(m_context.tp, dcp);
        if (out.state)
            stateFigures(out, mine);
        else
            tokenFigures(out, mine, shape);
        return out;
    }

private:
    const LayerSpec& specAt(std::size_t spec) const { return m_context.sizing.grouping.specs[spec]; }

    /// Sum over the tensors of the source of factor(tensor, heads on the rank).
    template <typename Term>
    Quantity overTensors(std::size_t spec, Term term) const
    {
        const SpecSource& source = m_context.model.sources[spec];
        const GroupShape& shape = m_context.shape[source.group];
        const std::vector<Quantity> heads = headsOnRank(shape, m_context.tp);
        std::vector<Quantity> terms;
        for (const std::size_t i : source.tensors)
            terms.push_back(term(shape.tensors[i], heads[i]));
        return terms.size() == 1 ? terms.front() : sum(terms);
    }

    void stateFigures(Member& out, const LayerSpec& mine)
    {
        const std::int64_t bytes = unpaddedPageBytes(mine, m_context.model.input.rules).value_or(0);
        out.entry = named(overTensors(out.spec,
                              [&](const TensorShape& t, const Quantity& heads) {
                                  Quantity rows = t.growth.entries;
                                  if (t.tensor->role == TensorRole::ConvolutionState && mine.draftBlocks > 0)
                                      rows = rows + draftTokens();
                                  return rows * heads * t.rowBytes;
                              }),
            "state of " + out.name, Unit::Byte);
        out.record = out.entry;
        out.perBlock = constant(1);
        out.covered = constant(1);
        out.whole = constant(1);
        const MambaMode mode = m_context.model.input.request.mambaMode;
        const Quantity kept = mode == MambaMode::All
            ? ceilDivide(m_context.length, memberBlock(m_context, out.spec))
            : ruleInput("states kept", mode == MambaMode::Align ? 2 : 1, Unit::Block,
                "MambaSpec.max_memory_usage_bytes", "by the mode " + std::string(mambaModeName(mode)));
        out.blocks = named(
            mine.draftBlocks > 0 ? kept + draftTokens() : kept, "blocks of " + out.name, Unit::BlocksPerSequence);
        setPage(out, bytes);
    }

    Quantity draftTokens()
    {
        return m_context.inputs.numberOr(
            "engine.speculativeTokens", 1, Source::Kind::EngineDefault, "one draft token.", "draft tokens");
    }

    void tokenFigures(Member& out, const LayerSpec& mine, const GroupShape& shape)
    {
        const std::int64_t unpadded = unpaddedPageBytes(mine, m_context.model.input.rules).value_or(0);
        out.entry = named(
            overTensors(out.spec, [](const TensorShape& t, const Quantity& heads) { return heads * t.rowBytes; }),
            "bytes of one entry of " + out.name, Unit::BytesPerEntry);
        out.perBlock = memberBlock(m_context, out.spec);
        out.record = out.entry;
        if (!out.entry.ok() || out.entry.integer() * mine.blockTokens != unpadded)
            out.record = ruleInput("bytes stored for one entry of " + out.name, unpadded / mine.blockTokens,
                Unit::BytesPerEntry, "AttentionSpec.page_size_bytes", "with scales, as the cache type lays it out");
        setPage(out, unpadded);
        if (isFullKind(mine.kind))
            out.covered = m_context.model.input.request.contextRanks > 1
                ? ceilDivide(m_context.length, contextRanksOf(m_context.inputs))
                : m_context.length;
        else if (mine.kind == SpecKind::ChunkedLocal && !m_context.model.input.rules.boundsChunks)
            out.covered = m_context.length;
        else if (mine.kind == SpecKind::Cross)
            out.covered = shape.tensors.front().variable.value_or(m_context.length);
        else
            out.covered = named(minimum(windowOf(mine, shape) + inFlight(), m_context.length),
                "tokens kept while a step runs", Unit::Token);
        out.whole = ceilDivide(out.covered, out.perBlock);
        const bool spare = isSlidingKind(mine.kind);
        out.blocks = named(spare ? out.whole + constant(1) : out.whole,
            Naming {"blocks of " + out.name, Unit::BlocksPerSequence, rule("max_memory_usage_bytes"), {}});
    }

    Quantity windowOf(const LayerSpec& mine, const GroupShape& shape)
    {
        if (mine.kind == SpecKind::ChunkedLocal)
            return shape.tensors.front().growth.chunk;
        const Quantity window = shape.tensors.front().growth.limit - constant(1);
        return mine.retained > 0
            ? window + ruleInput("tokens kept for draft modules", mine.retained, Unit::Token, "extra_retained_tokens")
            : window;
    }

    Quantity inFlight()
    {
        const Quantity batch = m_context.inputs.numberOr("engine.maxBatchedTokens", 8192, Source::Kind::EngineDefault,
            "8,192, the server's default on devices of 70 GiB or more.", "tokens per batch");
        if (m_context.plan.engine.batchesInFlight)
            return m_context.inputs.number("engine.batchesInFlight", "batches in flight") * batch;
        const std::int64_t batches = batchesInFlight(m_context.model.input.rules, 1,
            m_context.plan.engine.asyncScheduling != Switch::Off, m_context.plan.engine.runner == ModelRunner::V2);
        const char* why = batches > 1
            ? "Two batches are in flight (asynchronous scheduling is on by default from 0.25)."
            : "One batch is in flight.";
        m_context.inputs.assume({"vllm.batches_in_flight", why, "engine.version"});
        return ruleInput("batches in flight", batches, Unit::None, "VllmConfig.max_concurrent_batches", why) * batch;
    }

    void setPage(Member& out, std::int64_t unpadded)
    {
        const std::int64_t page = m_context.sizing.grouping.pages[out.spec];
        Quantity bytes = out.state ? out.entry : out.perBlock * out.record;
        if (page != unpadded)
            bytes = bytes
                + ruleInput("padding of a page of " + out.name, page - unpadded, Unit::Byte,
                    "unify_kv_cache_spec_page_size", "pages of all kinds are as large as the largest");
        out.page = named(bytes, "page of " + out.name, Unit::Byte);
    }

    const MemberContext& m_context;
};

} // namespace

Quantity ruleInput(const std::string& name, std::int64_t value, Unit unit, const char* at, std::string note)
{
    return input(name, value, unit, rule(at, std::move(note)));
}

std::vector<Member> membersOf(const MemberContext& context)
{
    MemberBuilder builder(context);
    std::vector<Member> out;
    for (std::size_t spec = 0; spec < context.model.sources.size(); ++spec)
        out.push_back(builder.member(spec));
    return out;
}

Quantity memberBlock(const MemberContext& context, std::size_t spec)
{
    const LayerSpec& unified = context.sizing.grouping.specs[spec];
    if (unified.blockTokens == context.plan.engine.blockTokens.value_or(16))
        return blockTokensOf(context.inputs);
    return ruleInput("block of " + context.shape[context.model.sources[spec].group].group->name, unified.blockTokens,
        Unit::Token, "unify_kv_cache_spec_page_size", "the block with which all pages are of one size");
}

Quantity contextRanksOf(PlanInputs& inputs)
{
    return inputs.numberOr(
        "deployment.dcp", 1, Source::Kind::EngineDefault, "tokens are not shared.", "ranks that share the tokens");
}

} // namespace kvw::vllm
