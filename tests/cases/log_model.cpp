// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "log_model.h"

#include "case_verdict.h"

#include "engines/vllm_platform.h"

#include <algorithm>
#include <regex>

namespace cases {

namespace {

using namespace kvw;
using namespace kvw::vllm;

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// Builds the layers out of what the case states.
class Builder
{
public:
    explicit Builder(const JsonView& line)
        : m_line(line)
        , m_facts(*line.find("model_facts"))
        , m_type(lower(textOr(line, "kv_dtype")))
        , m_block(wholeOr(line, "block_size", 16))
        , m_tp(std::max<std::int64_t>(1, wholeOr(line, "tp", 1)))
    {
        m_out.input.rules = versionOf(textOr(line, "engine_version")).rules;
        m_out.stages = wholeOr(line, "pp", 1);
        m_out.ranks = m_tp * m_out.stages;
        m_out.input.request.contextRanks = wholeOr(line, "dcp", 1);
        const std::string mode = textOr(line, "mamba_cache_mode", "align");
        m_out.input.request.mambaMode = mode == "none" ? MambaMode::None
            : mode == "all"                            ? MambaMode::All
                                                       : MambaMode::Align;
        std::smatch found;
        const std::string model = textOr(line, "model");
        if (std::regex_search(model, found, std::regex(R"(MTP\((\d+)\))")))
            m_draftTokens = std::stoll(found[1]);
    }

    LogModel build()
    {
        if (const std::string why = lacking(); !why.empty())
            m_out.missing = why;
        else if (has("gdn"))
            addHybrid();
        else if (has("sliding"))
            addWindowed();
        else if (has("kv_lora_rank"))
            addLatent();
        else if (has("sparse_layers_with_index_key"))
            addIndexedHeads();
        else if (has("layers") && has("kv_heads"))
            add(attention(fact("kv_heads"), fact("head_dim")), fact("layers"));
        else if (!addRecords())
            m_out.missing = "model_facts states no layer shapes: "
                + textOr(m_facts, "note", textOr(m_facts, "source", "nothing"));
        return m_out;
    }

private:
    bool has(std::string_view key) const
    {
        const std::optional<JsonView> value = m_facts.findValue(key);
        return value && value->isNumber();
    }
    std::int64_t fact(std::string_view key) const { return wholeOr(m_facts, key, 0); }

    /// A draft model keeps layers of its own; a case that names one and not its shape lacks an input.
    std::string lacking() const
    {
        const std::string model = lower(textOr(m_line, "model"));
        for (const char* drafter : {"dflash", "eagle", "drafter", "dspark", "draft model"}) {
            if (model.find(drafter) != std::string::npos)
                return std::string("the shape of the draft model (") + drafter + ") is not in the case";
        }
        if (m_type.empty())
            return "kv_dtype is not in the case";
        const bool heads = has("kv_heads") || has("kv_heads_total");
        if (heads && !has("head_dim"))
            return "head_dim is not in the case";
        return {};
    }

    void add(const LayerSpec& spec, std::int64_t layers)
    {
        const std::optional<JsonView> split = m_facts.findValue("pp_split");
        const std::vector<std::int64_t> stages
            = split ? wholes(*split) : pipelineLayers(layers, std::max<std::int64_t>(m_out.stages, 1));
        m_out.input.specs.push_back(spec);
        for (std::size_t stage = 0; stage < stages.size(); ++stage) {
            for (std::int64_t i = 0; i < stages[stage]; ++i)
                m_out.input.layers.push_back({m_out.input.specs.size() - 1, static_cast<std::int64_t>(stage)});
        }
    }

    LayerSpec attention(std::int64_t heads, std::int64_t width) const
    {
        LayerSpec out;
        out.blockTokens = m_block;
        out.heads = std::max<std::int64_t>(1, heads / m_tp);
        out.headSize = out.valueSize = width;
        if (m_type.starts_with("fp8"))
            out.elementBytes = 1;
        if (m_type.starts_with("nvfp4")) {
            out.elementBytes = 1;
            out.headSlots = 2 * out.heads;
            out.contentBytes = width / 2 + width / 16;
        }
        return out;
    }

    LayerSpec latent(std::int64_t width) const
    {
        LayerSpec out;
        out.kind = SpecKind::Mla;
        out.blockTokens = m_block;
        out.headSize = width;
        out.elementBytes = m_type.starts_with("fp8") ? 1 : 2;
        out.stridedPages = false;
        return out;
    }

    LayerSpec record(std::int64_t bytes) const
    {
        LayerSpec out = latent(bytes);
        out.elementBytes = 1;
        return out;
    }

    void addWindowed()
    {
        const std::int64_t heads = fact("kv_heads");
        const std::int64_t width = fact("head_dim");
        m_block = 16;
        LayerSpec full = attention(wholeOr(m_facts, "full_kv_heads", heads), wholeOr(m_facts, "full_head_dim", width));
        LayerSpec sliding
            = attention(wholeOr(m_facts, "sliding_kv_heads", heads), wholeOr(m_facts, "sliding_head_dim", width));
        sliding.kind = SpecKind::Sliding;
        sliding.window = fact("window");
        add(sliding, fact("sliding"));
        add(full, fact("full"));
        m_out.windowed = true;
    }

    void addLatent()
    {
        const std::int64_t width = fact("kv_lora_rank") + wholeOr(m_facts, "qk_rope_head_dim", fact("rope"));
        if (has("indexer_bytes_per_token"))
            add(record(fact("indexer_bytes_per_token")), fact("layers"));
        add(latent(width), fact("layers"));
    }

    void addIndexedHeads()
    {
        add(attention(fact("kv_heads_total"), fact("head_dim")), fact("layers"));
        add(latent(fact("index_key_dim")), fact("sparse_layers_with_index_key"));
    }

    /// Records of so many bytes a token: in the KV type ("656 B … + 132 B indexer", on every layer), or as products of
    /// layers and bytes in the note ("79*656 + 22*132").
    bool addRecords()
    {
        const std::string note = textOr(m_facts, "note");
        const std::regex product(R"((\d+)\*(\d+))");
        for (std::sregex_iterator at(note.begin(), note.end(), product), end; at != end; ++at)
            add(record(std::stoll((*at)[2])), std::stoll((*at)[1]));
        if (m_out.input.specs.empty() && has("layers")) {
            const std::regex bytes(R"((\d+) b\b)");
            for (std::sregex_iterator at(m_type.begin(), m_type.end(), bytes), end; at != end; ++at)
                add(record(std::stoll((*at)[1])), fact("layers"));
        }
        return !m_out.input.specs.empty();
    }

    void addHybrid()
    {
        const std::int64_t drafts = wholeOr(m_line, "num_speculative_tokens", m_draftTokens);
        const std::int64_t draftLayers = drafts > 0 ? std::max<std::int64_t>(1, fact("mtp_full_attention_layers")) : 0;
        const std::int64_t channels
            = 2 * fact("gdn_k_heads") * fact("gdn_head_dim") + fact("gdn_v_heads") * fact("gdn_head_dim");
        const std::int64_t kernel = wholeOr(m_facts, "conv_kernel", 4);
        LayerSpec state;
        state.kind = SpecKind::Mamba;
        state.arrays = {{{kernel - 1 + drafts, channels / m_tp}, 2},
            {{fact("gdn_v_heads") / m_tp, fact("gdn_head_dim"), fact("gdn_head_dim")},
                textOr(m_facts, "ssm_state_dtype") == "float32" ? 4 : 2}};
        state.draftBlocks = drafts;
        LayerSpec full = attention(fact("kv_heads"), fact("head_dim"));
        full.blockTokens = 1;
        const std::int64_t each = pageBytes(full, m_out.input.rules).value_or(1);
        const std::int64_t bytes = pageBytes(state, m_out.input.rules).value_or(1);
        full.blockTokens = hybridBlockTokens(bytes, each, 16).value_or(16);
        state.blockTokens = full.blockTokens;
        state.paddedPage = full.blockTokens * each;
        add(state, fact("gdn"));
        add(full, fact("full") + draftLayers);
    }

    const JsonView& m_line;
    JsonView m_facts;
    std::string m_type;
    std::int64_t m_block;
    std::int64_t m_tp;
    std::int64_t m_draftTokens = 0;
    LogModel m_out;
};

} // namespace

LogModel logModel(const JsonView& line)
{
    if (!line.find("model_facts") || !line.find("model_facts")->isObject()) {
        LogModel out;
        out.missing = "model_facts is not in the case";
        return out;
    }
    return Builder(line).build();
}

} // namespace cases
