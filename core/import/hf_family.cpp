// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_family.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace kvw {

namespace {

// Defaults of the classes, read in transformers' configuration files (each family's configuration_<type>.py). Where a
// class default was not read, the field must be in the file (HeadRule::Required).
constexpr HfFamily families[] = {
    {.type = "baichuan"},
    {.type = "chatglm", .headRule = HeadRule::QueryGroups},
    {.type = "cohere"},
    {.type = "cohere2",
        .windowRule = WindowRule::Pattern,
        .pattern = 4,
        .patternField = true,
        .window = 4096,
        .ignoresHeadDim = true},
    {.type = "deepseek"},
    {.type = "deepseek_v2", .latent = true},
    {.type = "deepseek_v3", .latent = true},
    {.type = "gemma", .headRule = HeadRule::ClassDefault, .heads = 16, .kvHeads = 16, .headDim = 256},
    {.type = "gemma2",
        .windowRule = WindowRule::Pattern,
        .headRule = HeadRule::ClassDefault,
        .pattern = 2,
        .window = 4096,
        .heads = 8,
        .kvHeads = 4,
        .headDim = 256},
    {.type = "gemma3",
        .windowRule = WindowRule::Pattern,
        .headRule = HeadRule::ClassDefault,
        .pattern = 6,
        .patternField = true,
        .window = 4096,
        .heads = 8,
        .kvHeads = 4,
        .headDim = 256},
    {.type = "gemma3_text",
        .windowRule = WindowRule::Pattern,
        .headRule = HeadRule::ClassDefault,
        .pattern = 6,
        .patternField = true,
        .window = 4096,
        .heads = 8,
        .kvHeads = 4,
        .headDim = 256},
    {.type = "glm", .headRule = HeadRule::Required},
    {.type = "glm4", .headRule = HeadRule::Required},
    {.type = "glm4_moe", .headRule = HeadRule::ClassDefault, .kvHeads = 8},
    {.type = "glm4_moe_lite", .latent = true},
    {.type = "gpt2"},
    {.type = "gpt_bigcode", .headRule = HeadRule::MultiQuery},
    {.type = "gpt_neox"},
    {.type = "gpt_oss",
        .windowRule = WindowRule::Pattern,
        .headRule = HeadRule::ClassDefault,
        .pattern = 2,
        .window = 128,
        .heads = 64,
        .kvHeads = 8,
        .headDim = 64},
    {.type = "gptj"},
    {.type = "granite"},
    {.type = "internlm"},
    {.type = "internlm2"},
    {.type = "kimi_k2", .latent = true},
    {.type = "llama"},
    {.type = "mimo", .windowRule = WindowRule::OnlyOff, .headRule = HeadRule::Required},
    {.type = "minicpm"},
    {.type = "minimax_m2", .headRule = HeadRule::ClassDefault, .heads = 48, .kvHeads = 8, .headDim = 128},
    {.type = "ministral3",
        .windowRule = WindowRule::EveryLayer,
        .headRule = HeadRule::ClassDefault,
        .heads = 32,
        .kvHeads = 8,
        .headDim = 128},
    {.type = "mistral",
        .windowRule = WindowRule::EveryLayer,
        .headRule = HeadRule::ClassDefault,
        .window = 4096,
        .heads = 32,
        .kvHeads = 8},
    {.type = "mixtral", .windowRule = WindowRule::EveryLayer, .headRule = HeadRule::Required},
    {.type = "olmo"},
    {.type = "olmo2"},
    {.type = "olmo3", .windowRule = WindowRule::Pattern, .pattern = 4, .window = 4096},
    {.type = "opt"},
    {.type = "orion", .headRule = HeadRule::Required},
    {.type = "phi"},
    {.type = "phi-msft"},
    {.type = "phi3", .windowRule = WindowRule::EveryLayer},
    {.type = "phi3_v", .windowRule = WindowRule::EveryLayer},
    {.type = "qwen"},
    {.type = "qwen2",
        .windowRule = WindowRule::TailLayers,
        .headRule = HeadRule::ClassDefault,
        .window = 4096,
        .heads = 32,
        .kvHeads = 32},
    {.type = "qwen2_5_vl", .windowRule = WindowRule::OnlyOff, .headRule = HeadRule::Required},
    {.type = "qwen2_5_vl_text", .windowRule = WindowRule::OnlyOff, .headRule = HeadRule::Required},
    {.type = "qwen2_moe",
        .windowRule = WindowRule::OnlyOff,
        .headRule = HeadRule::ClassDefault,
        .heads = 16,
        .kvHeads = 16},
    {.type = "qwen2_vl", .windowRule = WindowRule::OnlyOff, .headRule = HeadRule::Required},
    {.type = "qwen2_vl_text", .windowRule = WindowRule::OnlyOff, .headRule = HeadRule::Required},
    {.type = "qwen3",
        .windowRule = WindowRule::TailLayers,
        .headRule = HeadRule::ClassDefault,
        .window = 4096,
        .heads = 32,
        .kvHeads = 32,
        .headDim = 128},
    {.type = "qwen3_moe", .windowRule = WindowRule::OnlyOff, .headRule = HeadRule::Required},
    {.type = "qwen3_vl", .headRule = HeadRule::ClassDefault, .heads = 32, .kvHeads = 32, .headDim = 128},
    {.type = "qwen3_vl_moe", .headRule = HeadRule::Required},
    {.type = "qwen3_vl_moe_text", .headRule = HeadRule::Required},
    {.type = "qwen3_vl_text", .headRule = HeadRule::ClassDefault, .heads = 32, .kvHeads = 32, .headDim = 128},
    {.type = "stablelm", .headRule = HeadRule::Required},
    {.type = "starcoder2",
        .windowRule = WindowRule::EveryLayer,
        .headRule = HeadRule::ClassDefault,
        .heads = 24,
        .kvHeads = 2},
};

enum class Match : std::uint8_t {
    Whole,
    Start,
    End,
};

/// A field that stands for state beyond plain attention, and that state in words.
struct StateField
{
    std::string_view name;
    Match match;
    std::string_view state;
};

constexpr std::string_view mixed = "layers that keep another kind of state than attention";
constexpr std::string_view recurrent = "recurrent state";
constexpr std::string_view otherShapes = "layers whose keys and values have other shapes";
constexpr std::string_view cross = "keys and values of another sequence (an encoder, an image)";
constexpr std::string_view sharing = "layers that read the state of other layers";

// In order: a file that has several is refused with the first, the most telling one.
constexpr StateField stateFields[] = {
    {"cross_attention_layers", Match::Whole, cross},
    {"hybrid_override_pattern", Match::Whole, mixed},
    {"_layer_pattern", Match::End, mixed},
    {"layers_block_type", Match::End, mixed},
    {"attn_layer_period", Match::Whole, mixed},
    {"attn_layer_indices", Match::Whole, mixed},
    {"full_attn_idxs", Match::Whole, mixed},
    {"block_configs", Match::Whole, otherShapes},
    {"per_layer_config", Match::Whole, otherShapes},
    {"layer_group_size", Match::Whole, mixed},
    {"linear_attn_config", Match::Whole, recurrent},
    {"linear_", Match::Start, recurrent},
    {"full_attention_interval", Match::Whole, mixed},
    {"mamba_", Match::Start, recurrent},
    {"ssm_", Match::Start, recurrent},
    {"rwkv", Match::Start, recurrent},
    {"conv_", Match::Start, "convolution state"},
    {"compress_ratios", Match::Whole, "compressed entries"},
    {"compress_", Match::Start, "compressed entries"},
    {"index_topk", Match::Whole, "keys of a sparse indexer"},
    {"index_", Match::Start, "keys of a sparse indexer"},
    {"indexer_", Match::Start, "keys of a sparse indexer"},
    {"attn_type_list", Match::Whole, recurrent},
    {"sparse_attention_config", Match::Whole, "keys of a block-sparse indexer"},
    {"sparse_config", Match::Whole, "keys of a block-sparse indexer"},
    {"attention_chunk_size", Match::Whole, "chunked attention"},
    {"num_kv_shared_layers", Match::Whole, sharing},
    {"use_cla", Match::Whole, sharing},
    {"global_head_dim", Match::Whole, otherShapes},
    {"num_global_key_value_heads", Match::Whole, otherShapes},
    {"attention_k_eq_v", Match::Whole, otherShapes},
    {"swa_", Match::Start, otherShapes},
    {"add_cross_attention", Match::Whole, cross},
    {"is_encoder_decoder", Match::Whole, cross},
    {"use_bidirectional_attention", Match::Whole, "attention that is not causal"},
};

// Names that some class uses for the shape of keys and values. Of a class that is not known, it is not known how.
constexpr std::string_view shapeFields[] = {"attention_head_dim", "attention_other_setting", "attn_config", "d_kv",
    "head_size", "kv_channels", "kv_heads", "multi_query_attention", "multi_query_group_num", "n_head_kv",
    "n_heads_in_group", "n_kv_heads", "n_shared_head", "new_decoder_architecture", "num_attention_groups",
    "num_key_value_groups", "num_key_value_heads_per_layer", "num_kv_groups", "num_kv_heads", "num_query_groups",
    "qk_head_dim", "qk_nope_head_dim", "sliding_window_pattern", "sliding_window_size"};

// Parts of names by which classes ask for attention that sees or keeps less than everything. Of a class that is known
// they are read or known to mean nothing; of another nobody knows.
constexpr std::string_view attentionParts[]
    = {"attention_every", "attention_sparse", "attention_window", "attn_every", "attn_sparse", "attn_window",
        "block_attention", "blocksparse", "dense_attention", "global_attention", "global_attn", "local_attention",
        "local_attn", "moba_", "nsa_", "sparse_attention", "sparse_attn", "window_size", "yoco_"};

/// Model types that keep state which cannot be read yet, whatever their file says. A name ending in * is a beginning.
struct LaterType
{
    std::string_view type;
    std::string_view state;
};
constexpr LaterType laterTypes[] = {{"bamba", recurrent}, {"bart", cross}, {"deepseek_ref", "compressed entries"},
    {"deepseek_v32", "keys of a sparse indexer"}, {"deepseek_v4*", "compressed entries"}, {"falcon_h1", recurrent},
    {"falcon_mamba", recurrent}, {"gemma3n*", sharing}, {"gemma4*", otherShapes}, {"glm5_next*", recurrent},
    {"glm_moe_dsa", "keys of a sparse indexer"}, {"granitemoehybrid", recurrent}, {"jamba", recurrent},
    {"kimi_k3", recurrent}, {"kimi_linear", recurrent}, {"lfm2*", "convolution state"},
    {"llama4*", "chunked attention"}, {"longcat_flash*", "two latents in each layer"}, {"mamba*", recurrent},
    {"mimo_v2*", otherShapes}, {"minicpm3", "a latent that some engines keep expanded"}, {"minimax", recurrent},
    {"minimax_m3*", "keys of a block-sparse indexer"}, {"mllama*", cross}, {"nemotron-nas", otherShapes},
    {"nemotron_h", recurrent}, {"qwen3_5*", recurrent}, {"qwen3_next", recurrent}, {"qwen4*", recurrent},
    {"recurrent_gemma", recurrent}, {"rwkv*", recurrent}, {"t5*", cross}, {"whisper", cross}, {"zamba*", recurrent}};

bool isNeutral(const JsonView& value, std::string_view name)
{
    const Json& json = value.json();
    if (json.is_null() || json == false || json == 0 || json == "")
        return true;
    if (json.is_object() || json.is_array()) {
        // MiniMax: 1 is softmax attention, 0 a recurrent layer.
        if (name == "attn_type_list")
            return std::all_of(json.begin(), json.end(), [](const Json& element) { return element == 1; });
        return json.empty();
    }
    return false;
}

bool matches(const StateField& field, std::string_view key)
{
    switch (field.match) {
    case Match::Whole:
        return key == field.name;
    case Match::Start:
        return key.starts_with(field.name);
    case Match::End:
        break;
    }
    return key.ends_with(field.name);
}

std::string typeInWords(const HfFields& fields)
{
    return fields.modelType().empty() ? "this configuration" : fmt::format("model type \"{}\"", fields.modelType());
}

std::optional<Error> refusedField(const HfFields& fields, const JsonView& part)
{
    const std::vector<std::string> keys = part.keys();
    for (const StateField& field : stateFields) {
        for (const std::string& key : keys) {
            if (!matches(field, key))
                continue;
            const auto value = part.find(key);
            if (!isNeutral(*value, key))
                return value->error("import.unsupported",
                    fmt::format("{} keeps state that cannot be read yet: {}", typeInWords(fields), field.state));
        }
    }
    return std::nullopt;
}

std::optional<Error> refusedType(const JsonView& part)
{
    const auto stated = part.findValue("model_type");
    if (!stated)
        return std::nullopt;
    const std::string name = stated->json().get<std::string>(); // HfFields::open has seen that it is a string
    for (const LaterType& later : laterTypes) {
        std::string_view type = later.type;
        const bool beginning = type.ends_with('*');
        if (beginning)
            type.remove_suffix(1);
        if (beginning ? name.starts_with(type) : name == type)
            return stated->error("import.unsupported",
                fmt::format("this model type keeps state that cannot be read yet: {}", later.state));
    }
    return std::nullopt;
}

/// Things that are fine in a class that is known, but leave it open what an unknown class keeps.
std::optional<Error> refusedOfUnknown(const HfFields& fields)
{
    for (const std::string_view name : shapeFields) {
        const bool understood = (name == "qk_nope_head_dim" || name == "qk_head_dim") && fields.find({"kv_lora_rank"});
        const bool replaced = name.starts_with("sliding_window_") && fields.find({"layer_types"});
        const auto value = fields.find({name});
        if (value && !understood && !replaced && !isNeutral(*value, name))
            return value->error("import.unsupported",
                fmt::format(
                    "{} is not known, and what it means by this field is not known either", typeInWords(fields)));
    }
    for (const std::string& key : fields.text().keys()) {
        const bool asks = std::any_of(std::begin(attentionParts), std::end(attentionParts),
            [&](std::string_view part) { return key.find(part) != std::string::npos; });
        const auto value = asks ? fields.text().find(key) : std::nullopt;
        if (value && key != "sliding_window_size" && !isNeutral(*value, key))
            return value->error("import.unsupported",
                fmt::format(
                    "{} is not known, and what it keeps by this field is not known either", typeInWords(fields)));
    }
    const auto architectures = fields.root().findValue("architectures");
    if (!architectures || !architectures->isArray() || architectures->size() == 0)
        return std::nullopt;
    for (const Json& architecture : architectures->json()) {
        const std::string name = architecture.is_string() ? architecture.get<std::string>() : std::string();
        for (const std::string_view decoder : {"ForCausalLM", "ForConditionalGeneration", "LMHeadModel", "ChatModel"}) {
            if (name.find(decoder) != std::string::npos)
                return std::nullopt;
        }
    }
    return architectures->at(0).error("import.unsupported",
        fmt::format("{} is not known, and its class does not look like one that generates text", typeInWords(fields)),
        "a class such as …ForCausalLM");
}

} // namespace

const HfFamily* findFamily(std::string_view modelType)
{
    const auto found = std::find_if(
        std::begin(families), std::end(families), [&](const HfFamily& family) { return family.type == modelType; });
    return found == std::end(families) ? nullptr : found;
}

const HfFamily& unknownFamily()
{
    static constexpr HfFamily unknown {};
    return unknown;
}

std::optional<Error> unsupportedState(const HfFields& fields)
{
    std::optional<Error> error = refusedField(fields, fields.text());
    if (!error && fields.isNested())
        error = refusedField(fields, fields.root());
    if (!error)
        error = refusedType(fields.text());
    if (!error && fields.isNested())
        error = refusedType(fields.root());
    if (!error && !findFamily(fields.modelType()))
        error = refusedOfUnknown(fields);
    return error;
}

} // namespace kvw
