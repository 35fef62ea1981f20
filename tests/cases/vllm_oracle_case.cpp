// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "case_verdict.h"

#include "engines/vllm_sizing.h"

#include <algorithm>
#include <map>

namespace cases {

namespace {

using namespace kvw;
using namespace kvw::vllm;

std::optional<std::int64_t> optionalWhole(const JsonView& object, std::string_view key)
{
    const std::optional<JsonView> value = object.findValue(key);
    return value ? std::optional(wholeOr(object, key, 0)) : std::nullopt;
}

LayerSpec specOf(const JsonView& json)
{
    LayerSpec out;
    out.kind = specKindFromName(textOr(json, "kind")).value_or(SpecKind::Full);
    out.blockTokens = wholeOr(json, "block_size", 16);
    out.heads = wholeOr(json, "num_kv_heads_local", 1);
    out.headSize = wholeOr(json, "head_size", 0);
    out.valueSize = wholeOr(json, "head_size_v", 0);
    out.headSlots = optionalWhole(json, "num_head_slots");
    out.contentBytes = optionalWhole(json, "state_content_bytes");
    out.compression = wholeOr(json, "compress_ratio", 1);
    out.alignment = optionalWhole(json, "alignment");
    if (!out.alignment)
        out.paddedPage = optionalWhole(json, "page_size_padded");
    out.stridedPages = trueOr(json, "indexes_kv_by_block_stride", false);
    out.window = optionalWhole(json, "sliding_window");
    out.chunk = optionalWhole(json, "attention_chunk_size");
    out.cacheType = textOr(json, "cache_dtype_str");
    out.quantization = textOr(json, "quant_mode");
    out.modelVersion = textOr(json, "model_version");
    out.draftBlocks = wholeOr(json, "num_speculative_blocks", 0);
    if (out.kind != SpecKind::Mamba) {
        out.elementBytes = wholeOr(json, "dtype_bytes", 2);
        return out;
    }
    const std::vector<std::int64_t> bytes = wholes(*json.find("dtype_bytes"));
    const JsonView shapes = *json.find("shapes");
    for (std::size_t i = 0; i < shapes.size(); ++i)
        out.arrays.push_back({wholes(shapes.at(i)), bytes.at(i)});
    return out;
}

/// The decoder layer that each cache belongs to. The cases list caches, not layers: with as many caches in every layer
/// by counting; with index keys or DeepSeek-V4's caches, a layer begins before its index keys, or before its own cache
/// where it has none.
std::optional<std::vector<std::int64_t>> decoderLayers(
    const std::vector<LayerSpec>& specs, const std::vector<std::size_t>& order, std::int64_t layers)
{
    const std::int64_t caches = static_cast<std::int64_t>(order.size());
    std::vector<std::int64_t> out;
    const auto isIndex = [](const LayerSpec& spec) { return spec.kind == SpecKind::Mla && spec.cacheType.empty(); };
    const bool indexed = std::any_of(specs.begin(), specs.end(), isIndex);
    if (!indexed) {
        if (layers == 0 || caches % layers != 0)
            return std::nullopt;
        for (std::int64_t i = 0; i < caches; ++i)
            out.push_back(i / (caches / layers));
        return out;
    }
    const bool windows = std::any_of(
        specs.begin(), specs.end(), [](const LayerSpec& spec) { return spec.kind == SpecKind::SlidingMla; });
    std::int64_t layer = -1;
    bool hasOwn = true; // the current layer has its own cache already
    for (const std::size_t at : order) {
        const LayerSpec& spec = specs[at];
        const bool own = windows ? spec.kind == SpecKind::SlidingMla && !spec.modelVersion.empty() : !isIndex(spec);
        if (isIndex(spec) || (own && hasOwn)) {
            ++layer;
            hasOwn = false;
        }
        hasOwn = hasOwn || own;
        out.push_back(layer);
    }
    return layer + 1 == layers ? std::optional(out) : std::nullopt;
}

/// Stage of a decoder layer: as the case lists them; draft layers run on the last.
std::int64_t stageOf(const JsonView& model, std::int64_t layer)
{
    const std::optional<JsonView> ranges = model.findValue("pp_layers");
    if (!ranges)
        return 0;
    for (std::size_t stage = 0; stage < ranges->size(); ++stage) {
        if (layer < wholes(ranges->at(stage)).back())
            return static_cast<std::int64_t>(stage);
    }
    return static_cast<std::int64_t>(ranges->size()) - 1;
}

struct OracleInput
{
    SizingInput sizing;
    bool prefixCaching = true;
    std::string missing; ///< why the case cannot be run
};

OracleInput inputOf(const JsonView& line)
{
    OracleInput out;
    SizingInput& sizing = out.sizing;
    const JsonView inputs = *line.find("inputs");
    const JsonView model = *line.find("model_level");
    const JsonView specs = *line.find("layer_specs");
    for (std::size_t i = 0; i < specs.size(); ++i)
        sizing.specs.push_back(specOf(specs.at(i)));
    std::vector<std::size_t> order;
    const std::vector<std::int64_t> runs = wholes(*line.find("layer_order_rle"));
    for (std::size_t i = 0; i + 1 < runs.size(); i += 2)
        order.insert(order.end(), static_cast<std::size_t>(runs[i + 1]), static_cast<std::size_t>(runs[i]));
    const std::int64_t stages = wholeOr(model, "pp", 1);
    const std::optional<std::vector<std::int64_t>> layers
        = decoderLayers(sizing.specs, order, wholeOr(model, "layers", 0) + wholeOr(model, "mtp_or_draft_layers", 0));
    if (stages > 1 && !layers)
        out.missing = "the case does not say which caches each pipeline stage has";
    for (std::size_t i = 0; i < order.size(); ++i)
        sizing.layers.push_back({order[i], layers && stages > 1 ? stageOf(model, (*layers)[i]) : 0});

    const std::int64_t workers = wholeOr(inputs, "workers", 1);
    const std::optional<JsonView> available = inputs.findValue("available_bytes");
    if (!available)
        out.missing = "available_bytes is not in the case";
    std::vector<std::int64_t> bytes = available ? wholes(*available) : std::vector<std::int64_t> {0};
    bytes.resize(static_cast<std::size_t>(workers), bytes.front());
    for (std::int64_t i = 0; i < workers; ++i)
        sizing.workers.push_back({bytes[static_cast<std::size_t>(i)], i * stages / workers});
    sizing.maxModelLen = wholeOr(inputs, "max_model_len", -1);
    sizing.derivedMaxModelLen = wholeOr(inputs, "max_model_len_derived", sizing.maxModelLen);
    sizing.request.inFlightTokens = batchesInFlight(sizing.rules, stages, trueOr(inputs, "async_scheduling", true),
                                        trueOr(inputs, "model_runner_v2", false))
        * wholeOr(inputs, "max_num_batched_tokens", 0);
    sizing.request.contextRanks = wholeOr(inputs, "dcp", 1);
    sizing.request.encoderTokens = wholeOr(inputs, "max_num_encoder_input_tokens", 0);
    const std::string mode = textOr(inputs, "mamba_cache_mode", "none");
    sizing.request.mambaMode = mode == "align" ? MambaMode::Align : mode == "all" ? MambaMode::All : MambaMode::None;
    if (trueOr(inputs, "multi_module_mtp", false))
        sizing.draftModuleTokens = wholeOr(inputs, "spec_tokens", 0);
    sizing.hybridManagerOff = trueOr(inputs, "disable_hybrid_kv_cache_manager", false);
    sizing.blocksOverride = optionalWhole(inputs, "num_gpu_blocks_override");
    out.prefixCaching = trueOr(inputs, "prefix_caching", true);
    return out;
}

/// A figure of one worker: the case gives one number where all workers' agree, else a list.
void compareWorkers(Comparison& out, const JsonView& outputs, const char* key, const std::vector<std::int64_t>& got)
{
    const std::optional<JsonView> value = outputs.findValue(key);
    if (!value || got.empty())
        return;
    const bool same = std::all_of(got.begin(), got.end(), [&](std::int64_t one) { return one == got.front(); });
    if (value->isArray() || same)
        out.expect(key, wholes(*value), value->isArray() ? got : std::vector {got.front()});
    else
        out.expect(key, wholeOr(outputs, key, 0), *std::max_element(got.begin(), got.end()));
}

void compareMembers(
    Comparison& out, const std::string& at, const JsonView& expected, const Grouping& grouping, const CacheGroup& group)
{
    // [kind, block tokens, page bytes, layers]
    std::map<std::string, std::int64_t> members;
    for (const std::size_t layer : group.layers) {
        const LayerSpec& spec = grouping.specAt(layer);
        ++members[std::string(specKindName(spec.kind)) + " " + std::to_string(spec.blockTokens) + " "
            + std::to_string(grouping.pageAt(layer))];
    }
    out.expect(
        at + ".member_pages", static_cast<std::int64_t>(expected.size()), static_cast<std::int64_t>(members.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const JsonView row = expected.at(i);
        const std::string key = *row.at(0).string() + " " + std::to_string(*row.at(1).integer()) + " "
            + std::to_string(*row.at(2).integer());
        out.expect(at + ".member_pages " + key, *row.at(3).integer(), members[key]);
    }
}

void compareGroups(Comparison& out, const JsonView& expected, const Sizing& sizing)
{
    out.expect("groups", static_cast<std::int64_t>(expected.size()), static_cast<std::int64_t>(sizing.groups.size()));
    for (std::size_t i = 0; i < expected.size() && i < sizing.groups.size(); ++i) {
        const JsonView json = expected.at(i);
        const SizedGroup& group = sizing.groups[i];
        const LayerSpec& spec = sizing.grouping.specAt(group.group.layers.front());
        const std::string at = "groups." + std::to_string(i);
        out.expect(at + ".layers", wholeOr(json, "layers", 0), static_cast<std::int64_t>(group.group.layers.size()));
        out.expect(at + ".kind", textOr(json, "kind"),
            group.group.ownPages ? std::string("uniform_type") : std::string(specKindName(spec.kind)));
        out.expect(at + ".block_size", wholeOr(json, "block_size", 0), group.blockTokens);
        out.expect(at + ".page_size_bytes", wholeOr(json, "page_size_bytes", 0), group.pageBytes);
        if (json.find("blocks_per_request"))
            out.expect(at + ".blocks_per_request", wholeOr(json, "blocks_per_request", 0), group.blocksPerRequest);
        if (json.find("sliding_window"))
            out.expect(at + ".sliding_window", wholeOr(json, "sliding_window", 0), spec.window.value_or(0));
        if (const std::optional<JsonView> members = json.findValue("member_pages"))
            compareMembers(out, at, *members, sizing.grouping, group.group);
    }
}

void compareRefusal(Comparison& out, const JsonView& outputs, const Sizing& sizing)
{
    const std::string error = textOr(outputs, "error");
    const StartRefusal& refusal = sizing.refusal;
    StartRefusal::Kind kind = StartRefusal::Kind::Layout;
    if (error.starts_with("No available memory"))
        kind = StartRefusal::Kind::NoMemory;
    else if (error.starts_with("To serve at least one request"))
        kind = StartRefusal::Kind::TooLong;
    else if (error.starts_with("Cannot auto-fit"))
        kind = StartRefusal::Kind::NotOneToken;
    else if (error.empty())
        kind = StartRefusal::Kind::None;
    out.expect("refusal", static_cast<std::int64_t>(kind), static_cast<std::int64_t>(refusal.kind));
    if (kind == StartRefusal::Kind::TooLong)
        out.expect("largest_len_that_fits", wholeOr(outputs, "largest_len_that_fits", 0), refusal.largestLength);
    if (outputs.find("need_bytes"))
        out.expect("need_bytes", wholeOr(outputs, "need_bytes", 0), refusal.needBytes);
}

} // namespace

Verdict vllmOracle(const JsonView& line)
{
    const OracleInput input = inputOf(line);
    if (!input.missing.empty())
        return explained(input.missing);
    const JsonView outputs = *line.find("outputs");
    Comparison out;
    const JsonView specs = *line.find("layer_specs");
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const std::string at = "layer_specs." + std::to_string(i);
        out.expect(at + ".page_size_bytes", wholeOr(specs.at(i), "page_size_bytes", 0),
            pageBytes(input.sizing.specs[i], input.sizing.rules).value_or(0));
        out.expect(at + ".unpadded_page_bytes", wholeOr(specs.at(i), "unpadded_page_bytes", 0),
            unpaddedPageBytes(input.sizing.specs[i], input.sizing.rules).value_or(0));
    }
    const Sizing sizing = sizeCache(input.sizing, input.prefixCaching);
    compareRefusal(out, outputs, sizing);
    if (const std::optional<JsonView> groups = outputs.findValue("groups"))
        compareGroups(out, *groups, sizing);
    out.expect("max_in_flight_tokens", wholeOr(*line.find("inputs"), "max_in_flight_tokens", 0),
        input.sizing.request.inFlightTokens);
    const std::map<const char*, std::int64_t> figures {
        {"group_size", sizing.groupSize},
        {"num_blocks", sizing.blocks},
        {"blocks_per_request", sizing.blocksPerRequest},
        {"reported_tokens", sizing.reportedTokens},
        {"scheduler_block_size", sizing.schedulerBlockTokens},
        {"hash_block_size", sizing.hashBlockTokens},
        {"auto_fit_max_model_len", sizing.length},
    };
    for (const auto& [key, got] : figures) {
        if (outputs.findValue(key))
            out.expect(key, wholeOr(outputs, key, 0), got);
    }
    if (const std::optional<JsonView> concurrency = outputs.findValue("max_concurrency"))
        out.expect("max_concurrency", *concurrency->real(), sizing.maxConcurrency);
    std::vector<std::int64_t> blockBytes;
    std::vector<std::int64_t> poolBytes;
    std::vector<std::int64_t> need;
    for (const SizedWorker& worker : sizing.workers) {
        blockBytes.push_back(worker.bytesPerBlock);
        poolBytes.push_back(worker.bytesPerBlock * sizing.blocks);
        need.push_back(worker.needBytes);
    }
    compareWorkers(out, outputs, "bytes_per_block", blockBytes);
    compareWorkers(out, outputs, "pool_bytes", poolBytes);
    compareWorkers(out, outputs, "need_bytes_one_request", need);
    Verdict verdict = out.verdict();
    const Verdict fromModel = vllmFromModel(line);
    if (fromModel.kind == Verdict::Kind::Differs)
        verdict.kind = Verdict::Kind::Differs;
    verdict.text += "; from the model: " + fromModel.text;
    return verdict;
}

} // namespace cases
