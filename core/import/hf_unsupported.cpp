// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_family.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace kvw {

namespace {

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
    "qk_head_dim", "qk_nope_head_dim", "sliding_window_pattern", "sliding_window_size",
    // What layers keep, or how often they run, in the words of classes that are no plain attention.
    "attn_layer_idxs", "block_types", "gdn_layers", "hyena_layer_idxs", "kda_layers", "kv_compression_dim",
    "kv_reuse_group", "kv_share_layers", "lru_width", "mean_recurrence", "mem_len", "mixer_types",
    "n_layers_in_recurrent_block", "num_kv_heads_per_layer", "qk_dim_factor", "short_conv_kernel_size", "state_size",
    "total_ut_steps"};

// Parts of names by which classes ask for attention that sees or keeps less than everything. Of a class that is known
// they are read or known to mean nothing; of another nobody knows.
constexpr std::string_view attentionParts[]
    = {"attention_every", "attention_sparse", "attention_window", "attn_every", "attn_sparse", "attn_window",
        "block_attention", "blocksparse", "dense_attention", "global_attention", "global_attn", "local_attention",
        "local_attn", "moba_", "nsa_", "sparse_attention", "sparse_attn", "window_size", "yoco_"};

/// Model types that are refused whatever their file says.
struct RefusedType
{
    std::string_view types; ///< parted by spaces; * stands for any ending
    std::string_view why;
};
constexpr std::string_view encoder = "it generates no text: no state is kept between steps";
constexpr std::string_view composed = "its decoder is a model of its own: open that one's config.json";
constexpr RefusedType refusedTypes[] = {
    {"albert bert camembert convbert deberta deberta-v2 distilbert electra ernie eurobert layoutlm* longformer "
     "mobilebert "
     "modernbert mpnet nomic_bert roberta xlm-roberta*",
        encoder},
    {"align audio-spectrogram-transformer beit clip clip_* convnext* deit detr dinov2* dinov3* dpt hubert mask2former "
     "owlvit regnet resnet segformer siglip* swin* vit vit_* vitdet wav2vec2* wavlm yolos",
        encoder},
    {"encoder-decoder rag speech-encoder-decoder vision-encoder-decoder", composed},
    {"Dream dream llada LLaDA llada_moe", "it writes by diffusion over the whole text: nothing is kept between steps"},
    {"rwkv4 transfo-xl xlnet xlstm", "what it keeps is not known"},
};

bool isNeutral(const JsonView& value, std::string_view name)
{
    const Json& json = value.json();
    // MiniMax: 1 is softmax attention, 0 a recurrent layer.
    if (name == "attn_type_list" && json.is_array())
        return std::all_of(json.begin(), json.end(), [](const Json& element) { return element == 1; });
    if (name.find("window") != std::string_view::npos && json == -1)
        return true; // no window, in some files
    if (name == "total_ut_steps" && json == 1)
        return true; // each layer runs once
    return statesNothing(value);
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

std::optional<Error> refusedField(const HfFields& fields, const JsonView& part, const HfFamily* family)
{
    const std::vector<std::string> keys = part.keys();
    for (const StateField& field : stateFields) {
        for (const std::string& key : keys) {
            if (!matches(field, key) || (family && hasWord(family->reads, key)))
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
    for (const RefusedType& refused : refusedTypes) {
        if (hasWord(refused.types, name))
            return stated->error(
                "import.unsupported", fmt::format("this model type cannot be planned: {}", refused.why));
    }
    return std::nullopt;
}

/// Things that are fine in a class that is known, but leave it open what an unknown class keeps.
std::optional<Error> refusedOfUnknown(const HfFields& fields)
{
    for (const std::string_view name : shapeFields) {
        const bool understood = (name == "qk_nope_head_dim" || name == "qk_head_dim")
            && fields.find({"kv_lora_rank", "attention_kv_lora_dim"});
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
    const bool layers = fields.find({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}).has_value();
    if (layers && !fields.find({"vocab_size", "padded_vocab_size", "n_vocab"})) {
        const std::string why = fmt::format(
            "{} is not known, and it states no vocabulary: it is not a model of text", typeInWords(fields));
        if (const auto type = fields.root().findValue("model_type"))
            return type->error("import.unsupported", why, "vocab_size");
        return Error {
            "import.unsupported", why, {fields.root().file(), fields.pointer("vocab_size")}, {}, "vocab_size"};
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

std::optional<Error> unsupportedState(const HfFields& fields, const HfFamily* family)
{
    std::optional<Error> error = refusedType(fields.text());
    if (!error && fields.isNested())
        error = refusedType(fields.root());
    if (!error)
        error = refusedField(fields, fields.text(), family);
    if (!error && fields.isNested())
        error = refusedField(fields, fields.root(), family);
    if (!error && !family)
        error = refusedOfUnknown(fields);
    return error;
}

} // namespace kvw
