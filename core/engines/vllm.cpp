// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm.h"

#include "engines/vllm_figures.h"
#include "engines/vllm_parts.h"
#include "engines/vllm_scope.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

using namespace vllm;

namespace {

/// Bytes of one entry of all tensors and layers on a rank, windowed ones included.
Quantity entryBytesOnRank(const GroupShape& shape, const std::vector<Quantity>& heads)
{
    std::vector<Quantity> terms;
    for (std::size_t i = 0; i < shape.tensors.size(); ++i)
        terms.push_back(named(heads[i] * shape.tensors[i].rowBytes,
            "bytes of one " + tensorWord(*shape.tensors[i].tensor) + " entry", Unit::BytesPerEntry));
    return shape.layers * (terms.size() == 1 ? terms.front() : sum(terms));
}

/// Blocks of one request, in parts: the tokens that its blocks must cover, the blocks for them, and one spare where a
/// window may straddle two.
struct RequestBlocks
{
    Quantity covered;
    Quantity whole;
    Quantity total;
    bool windowed = false;
};

RequestBlocks blocksPerRequest(
    const Plan& plan, const GroupShape& shape, const Quantity& block, const Quantity& length, PlanInputs& inputs)
{
    const char* title = "blocks per request";
    RequestBlocks out;
    out.windowed = shape.group->retentionLimit().has_value();
    if (!out.windowed) {
        out.covered = length;
        out.whole = ceilDivide(length, block);
        out.total = named(
            out.whole, Naming {title, Unit::BlocksPerSequence, rule("FullAttentionSpec.max_memory_usage_bytes"), {}});
        return out;
    }
    const bool two = versionOf(plan.engine.version).generation == Generation::From025;
    const Quantity batch = inputs.numberOr("engine.maxBatchedTokens", 8192, Source::Kind::EngineDefault,
        "8,192, the server's default on devices of 70 GiB or more.", "tokens per batch");
    const char* why = two ? "Two batches are in flight (asynchronous scheduling is on by default from 0.25)."
                          : "One batch is in flight (up to 0.24).";
    inputs.assume({"vllm.batches_in_flight", why, "engine.version"});
    const Quantity flights = input("batches in flight", two ? 2 : 1, Unit::None,
        Source {Source::Kind::EngineDefault, "vLLM", {}, {}, published, verified, why});
    const Quantity inFlight = named(flights * batch, "tokens in flight", Unit::Token);
    out.covered = named(minimum(shape.tensors.front().growth.limit - constant(1) + inFlight, length),
        "tokens kept while a step runs", Unit::Token);
    out.whole = ceilDivide(out.covered, block);
    out.total = named(out.whole + constant(1),
        Naming {title, Unit::BlocksPerSequence,
            rule("SlidingWindowSpec.max_memory_usage_bytes", "one more block: a window may straddle two"), {}});
    return out;
}

void addRanks(EngineSizing& out, const std::vector<GroupShape>& shape, const Quantity& tp, const Quantity& block)
{
    // Every tensor-parallel rank keeps the same sizes; the derivations are shared.
    RankSizing first = rankSizing(shape, tp);
    Quantity perBlock;
    for (const GroupShape& group : shape) {
        if (group.tensors.empty())
            continue;
        perBlock = named(block
                * named(entryBytesOnRank(group, headsOnRank(group, tp)), "bytes of one token's entries on the rank",
                    Unit::BytesPerEntry),
            Naming {"bytes per block", Unit::BytesPerBlock, rule("KVCacheConfig: sum of the layers' page_size_bytes"),
                {"block tables and other metadata", "allocator reservation"}});
    }
    first.bytesPerBlock = perBlock;
    out.ranks = RankSizings(std::move(first), tp.integer());
    out.bytesPerBlock = perBlock;
}

/// Figures that a pool of known size has.
void addPool(EngineSizing& out, const Plan& plan, const Quantity& block, const Quantity& length)
{
    const Quantity& available = *out.availableBytes;
    out.blocks = named(floorDivide(maximum(available, constant(0)), *out.bytesPerBlock),
        Naming {"blocks", Unit::Block, rule("get_num_blocks", "the null block is one of them"), {}});
    out.poolBytes = named(*out.blocks * *out.bytesPerBlock,
        Naming {"pool", Unit::Byte, {}, {"what the division leaves over", "weights", "workspace", "block metadata"}});
    const std::optional<Quantity>& perRequest = out.blocksPerRequest;
    if (perRequest && perRequest->ok()) {
        out.maxConcurrency = named(ratio(*out.blocks, *perRequest),
            Naming {
                "maximum concurrency as printed", Unit::Ratio, rule("get_max_concurrency_for_kv_cache_config"), {}});
    }
    const Generation generation = versionOf(plan.engine.version).generation;
    if (generation == Generation::UpTo020) {
        out.tokens = named(
            *out.blocks * block, Naming {"tokens as printed", Unit::Token, rule("GPU KV cache size, up to 0.20"), {}});
    } else if (out.maxConcurrency) {
        out.tokens = named(truncate(scale(*out.maxConcurrency, length)),
            Naming {
                "tokens as printed", Unit::Token, rule("GPU KV cache size, from 0.21: concurrency × length, cut"), {}});
    }
    if (perRequest && perRequest->ok())
        out.fits = out.needBytes->ok() && out.needBytes->integer() <= available.integer();
    const LayerGroup& group = *onlyGroup(plan);
    if (!group.retentionLimit()) {
        out.largestLength = named(*out.blocks * block,
            Naming {"largest length that fits", Unit::Token,
                rule("estimate_max_model_len", "a block multiple: one block more does not fit"), {}});
        out.largestHeld
            = named((*out.blocks
                        - input("null block", 1, Unit::Block, rule("BlockPool", "the first block is never given away")))
                    * block,
                Naming {"longest request that the pool can hold", Unit::Token,
                    rule("BlockPool", "the null block is never given to a request"), {}});
    }
}

/// Engine need of the planned sequences, and what lies between ideal and engine need.
void addNeed(EngineSizing& out, const GroupShape& group, const RequestBlocks& request, const Quantity& tp,
    const Quantity& block, const Quantity& length, PlanInputs& inputs)
{
    const Quantity sequences
        = inputs.numberOr("limits.concurrentSequences", 1, Source::Kind::Assumption, "one sequence.", "sequences");
    const Quantity held = named(sequences * request.total, "blocks for the planned sequences", Unit::Block);
    out.engineNeedBytes = named(held * *out.bytesPerBlock * tp,
        Naming {"engine need", Unit::Byte, {},
            {"the null block", "block metadata", "allocator reservation", "weights", "workspace"}});
    if (out.blocks)
        out.fitsConcurrency = held.ok() && out.blocks->ok() && held.integer() <= out.blocks->integer();

    const Quantity unsharded
        = named(entryBytesOnRank(group, allHeads(group)), "bytes of one token's entries", Unit::BytesPerEntry);
    const Quantity onRank = named(entryBytesOnRank(group, headsOnRank(group, tp)),
        "bytes of one token's entries on the rank", Unit::BytesPerEntry);
    const Quantity ideal = named(group.tensors.front().entries(length), "entries at the length", Unit::Entry);
    const auto add = [&](const char* id, const char* title, const Quantity& tokens, const Quantity& bytes) {
        out.differences.push_back({id, title, named(sequences * tokens * bytes, title, Unit::Byte)});
    };
    if (request.windowed)
        add("in_flight", "in-flight tokens", request.covered - ideal, unsharded);
    add("page_rounding", "page rounding", request.whole * block - request.covered, unsharded);
    if (request.windowed)
        add("spare_blocks", "spare blocks", block, unsharded);
    add("replication", "replication", request.total * block, tp * onRank - unsharded);
}

} // namespace

std::string_view Vllm::name() const
{
    return "vllm";
}

std::string_view Vllm::title() const
{
    return "vLLM";
}

EngineSizing Vllm::size(const Plan& plan, const std::vector<GroupShape>& shape, PlanInputs& inputs) const
{
    EngineSizing out;
    out.name = "vllm";
    out.version = plan.engine.version;
    const Version version = versionOf(plan.engine.version);
    if (!version.known) {
        inputs.assume({"vllm.version",
            plan.engine.version.empty()
                ? "Engine build: not stated, so the newest rules (0.25 and later) are used."
                : "Engine build: names no release, so the newest rules (0.25 and later) are used.",
            "engine.version"});
    }
    const char* generation = version.generation == Generation::UpTo020 ? "up to 0.20"
        : version.generation == Generation::From021                    ? "0.21 to 0.24"
                                                                       : "0.25 and later";
    const bool several = needsGroups(plan);
    out.rules = fmt::format("vLLM, {}, {} (verified {})", several ? "any groups" : "one group", generation, verified);
    if (several) {
        sizeGroups(plan, shape, inputs, out);
        return out;
    }
    const Quantity block = blockTokensOf(inputs);
    const Quantity tp = ranksOf(inputs);
    const Quantity length = lengthOf(inputs);
    out.blockTokens = block;
    addRanks(out, shape, tp, block);
    out.availableBytes = availableOf(plan, inputs, out);
    const bool sized = out.bytesPerBlock->ok();
    const auto only
        = std::find_if(shape.begin(), shape.end(), [](const GroupShape& group) { return !group.tensors.empty(); });
    RequestBlocks request;
    if (length.ok() && sized) {
        request = blocksPerRequest(plan, *only, block, length, inputs);
        out.blocksPerRequest = request.total;
        out.needBytes = named(*out.blocksPerRequest * *out.bytesPerBlock,
            Naming {"need of one request", Unit::Byte,
                rule("max_memory_usage_bytes", "the start-up check; the null block is not in it"), {}});
    } else if (!length.ok()) {
        out.unstated.push_back("need and concurrency: the configured maximum is not stated");
    }
    if (out.availableBytes && out.availableBytes->ok() && sized)
        addPool(out, plan, block, length);
    if (out.blocksPerRequest)
        addNeed(out, *only, request, tp, block, length, inputs);
    return out;
}

} // namespace kvw
