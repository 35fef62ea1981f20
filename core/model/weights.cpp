// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/weights.h"

#include "units/amount.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>

namespace kvw {

namespace {

using Words = std::initializer_list<std::string_view>;

bool containsAny(std::string_view text, Words words)
{
    for (const std::string_view word : words) {
        if (text.find(word) != std::string_view::npos)
            return true;
    }
    return false;
}

bool startsWithAny(std::string_view text, Words words)
{
    for (const std::string_view word : words) {
        if (text.starts_with(word))
            return true;
    }
    return false;
}

/// Whether one of the name's parts, between dots, is one of `words`.
bool hasPart(std::string_view name, Words words)
{
    while (!name.empty()) {
        const std::size_t dot = name.find('.');
        const std::string_view part = name.substr(0, dot);
        for (const std::string_view word : words) {
            if (part == word)
                return true;
        }
        name.remove_prefix(dot == std::string_view::npos ? name.size() : dot + 1);
    }
    return false;
}

/// Whether the last part that names a module, before "weight", "bias" and the like, is a norm.
bool isNorm(std::string_view name)
{
    for (const std::string_view end : {".weight", ".bias", ".gamma", ".beta"}) {
        if (name.ends_with(end)) {
            name.remove_suffix(end.size());
            break;
        }
    }
    const std::string_view last = name.substr(name.rfind('.') + 1);
    return last.find("norm") != std::string_view::npos || startsWithAny(last, {"ln_", "ln1", "ln2"}) || last == "enorm"
        || last == "hnorm";
}

} // namespace

std::span<const std::string_view> weightComponentNames()
{
    static constexpr std::array<std::string_view, 9> names {
        "embedding", "attention", "mlp", "experts", "norm", "output", "vision", "draft", "other"};
    return names;
}

bool WeightSum::add(WeightComponent component, std::string_view type, std::int64_t elements, std::int64_t bytes)
{
    const auto allBytes = checkedAdd(m_bytes, bytes);
    const auto allElements = checkedAdd(m_elements, elements);
    if (!allBytes || !allElements)
        return false;
    m_bytes = *allBytes;
    m_elements = *allElements;
    ++m_tensors;
    auto part = std::find_if(m_parts.begin(), m_parts.end(),
        [&](const WeightPart& one) { return one.component == component && one.type == type; });
    if (part == m_parts.end())
        part = m_parts.insert(m_parts.end(), WeightPart {component, std::string(type)});
    ++part->tensors;
    part->elements += elements;
    part->bytes += bytes;
    return true;
}

std::vector<WeightPart> WeightSum::parts() const
{
    std::vector<WeightPart> out = m_parts;
    std::sort(out.begin(), out.end(), [](const WeightPart& a, const WeightPart& b) {
        return a.component != b.component ? a.component < b.component : a.type < b.type;
    });
    return out;
}

WeightComponent componentOfCheckpointTensor(std::string_view name)
{
    if (containsAny(name,
            {"vision", "visual", "image_newline", "mm_projector", "multi_modal_projector", "audio_tower", "audio_model",
                "embed_vision", "embed_audio", "patch_embed", "vit_", "mlp1."}))
        return WeightComponent::Vision;
    if (startsWithAny(name, {"mtp.", "model.mtp", "nextn.", "draft", "dspark.", "eagle"})
        || hasPart(name, {"mtp", "mtp_layers", "mtp_block", "nextn", "eh_proj", "enorm", "hnorm", "shared_head"}))
        return WeightComponent::Draft;
    if (isNorm(name))
        return WeightComponent::Norm;
    if (hasPart(name,
            {"embed_tokens", "wte", "wpe", "word_embeddings", "tok_embeddings", "embed_in", "embeddings",
                "position_embeddings", "embed_positions", "shared", "embed_tokens_per_layer"}))
        return WeightComponent::Embedding;
    if (hasPart(name, {"lm_head", "embed_out", "output_layer"}) || name == "output.weight" || name == "head.weight")
        return WeightComponent::Output;
    const bool ofSharedExperts = containsAny(name, {"shared_expert", "shared_mlp"});
    if (!ofSharedExperts
        && (hasPart(name, {"experts", "router", "block_sparse_moe", "e_score_correction_bias"})
            || containsAny(name, {".gate.weight", ".gate.e_score_correction_bias", ".gate.bias", "experts."})))
        return WeightComponent::Experts;
    // Some families call every layer's one part its mixer, the MLP too.
    const bool projects = containsAny(name, {"gate_proj", "up_proj", "down_proj", "gate_up_proj"});
    if (projects && !containsAny(name, {"attn", "attention", "Attention"}))
        return WeightComponent::Mlp;
    if (containsAny(name,
            {"attn", "attention", "Attention", "mixer", "mamba", "linear_attn", "time_mix", "short_conv", ".conv.",
                "indexer", "q_proj", "k_proj", "v_proj", "o_proj", "query_key_value", "W_pack", "self_attn",
                "temporal_block", "compressor"}))
        return WeightComponent::Attention;
    if (ofSharedExperts
        || containsAny(name,
            {"mlp", "ffn", "feed_forward", "feedforward", "fc1", "fc2", "channel_mix", "Dense", "dense_h_to_4h",
                "dense_4h_to_h", "gate_proj", "up_proj", "down_proj", ".w1.", ".w2.", ".w3."}))
        return WeightComponent::Mlp;
    return WeightComponent::Other;
}

WeightComponent componentOfGgufTensor(std::string_view name)
{
    if (startsWithAny(name, {"v.", "mm.", "a.", "resampler."}))
        return WeightComponent::Vision;
    if (hasPart(name, {"nextn"}))
        return WeightComponent::Draft;
    if (isNorm(name))
        return WeightComponent::Norm;
    if (startsWithAny(
            name, {"token_embd", "position_embd", "token_types", "per_layer_token_embd", "per_layer_model_proj"}))
        return WeightComponent::Embedding;
    if (startsWithAny(name, {"output.", "output_hc", "cls."}))
        return WeightComponent::Output;
    if (containsAny(name, {"_exps", "_chexps", "ffn_gate_inp", "exp_probs_b"}) && name.find("_shexp") == name.npos)
        return WeightComponent::Experts;
    if (containsAny(name,
            {".attn_", ".ssm_", ".time_mix", ".shortconv", ".indexer", ".cross_attn", ".kda", ".compressor",
                ".dec.attn", ".enc.attn"}))
        return WeightComponent::Attention;
    if (containsAny(name, {".ffn_", ".channel_mix"}))
        return WeightComponent::Mlp;
    return WeightComponent::Other;
}

std::optional<std::int64_t> layerOfTensor(std::string_view name)
{
    for (std::string_view prefix : {"layers.", "blk.", "h.", "blocks.", "layer.", "block."}) {
        std::size_t at = 0;
        while ((at = name.find(prefix, at)) != std::string_view::npos) {
            // A whole part: "h." must not be the end of "graph.".
            const bool whole = at == 0 || name[at - 1] == '.';
            at += prefix.size();
            std::int64_t number = -1;
            const auto [end, status] = std::from_chars(name.data() + at, name.data() + name.size(), number);
            if (whole && status == std::errc {} && number >= 0 && end != name.data() + name.size() && *end == '.')
                return number;
        }
    }
    return std::nullopt;
}

} // namespace kvw
