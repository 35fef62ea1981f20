// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_fields.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvw {

/// Which layers slide when no list of the file says what each layer is.
enum class WindowRule : std::uint8_t {
    NotUsed, ///< the class has no window: a file that states one all the same is refused
    EveryLayer, ///< all, where the window is not null
    Pattern, ///< all but every n-th
    TailLayers, ///< from max_window_layers on, where use_sliding_window is true
    OnlyOff, ///< understood only where use_sliding_window is not true
    Ignored, ///< without a list the class reads no window, whatever the file states
};

/// What layers are when no list says so and the class has more than attention.
enum class LayerRule : std::uint8_t {
    Attention, ///< all attention; the window rule says which slide
    Interval, ///< attention at every n-th layer, the mixer elsewhere; n from full_attention_interval
    Period, ///< attention where i mod attn_layer_period is attn_layer_offset, the mixer elsewhere
    Alternate, ///< attention and the mixer in turn, attention first
    Mixer, ///< the mixer everywhere
    Hybrid, ///< both in every layer
    Chunks, ///< chunked where no_rope_layers is 1, full where it is 0; or full at every n-th
    Required, ///< the file must say
};

/// What layers keep that are not attention.
enum class Mixer : std::uint8_t {
    None,
    GatedDeltaNet,
    Kda,
    Mamba1,
    Mamba2,
    Lightning,
    ShortConv,
    Rwkv4,
    Rwkv, ///< version 5 and later: a matrix a head
    RgLru,
};

/// How many key and value heads there are when num_key_value_heads is absent.
enum class HeadRule : std::uint8_t {
    QueryHeads, ///< one per query head
    ClassDefault, ///< HfFamily::kvHeads
    Required, ///< the class has a default that is not known here: the field must be there
    MultiQuery, ///< one if multi_query (the default), else one per query head
    QueryGroups, ///< multi_query_group_num if multi_query_attention, else one per query head
    Falcon, ///< n_head_kv if new_decoder_architecture, else as MultiQuery
    Nested, ///< attn_config.kv_n_heads; one if attn_config.attn_type says so; else one per query head
};

/// Layers that read another sequence than their own.
enum class CrossRule : std::uint8_t {
    None,
    Image, ///< some layers read image tokens instead of the text (cross_attention_layers)
    Bart, ///< every decoder layer reads the encoder too; decoder_layers, decoder_attention_heads
    T5, ///< the same; num_decoder_layers, num_heads, d_kv
};

/// Caches of compressed entries beside a window.
enum class CompressionRule : std::uint8_t {
    None,
    EachLayer, ///< every layer its own, by its ratio
    Sources, ///< some layers publish entries that the others read
};

/// What the model class behind a model_type does with fields that its file leaves out.
struct HfFamily
{
    std::string_view types; ///< model types, parted by spaces
    WindowRule windowRule = WindowRule::NotUsed;
    HeadRule headRule = HeadRule::QueryHeads;
    LayerRule layerRule = LayerRule::Attention;
    Mixer mixer = Mixer::None;
    CrossRule crossRule = CrossRule::None;
    CompressionRule compressionRule = CompressionRule::None;
    std::int64_t pattern = 0; ///< WindowRule::Pattern, LayerRule::Interval, Chunks: every n-th layer is full
    bool patternField = false; ///< sliding_window_pattern replaces `pattern`
    std::string_view windowField = "sliding_window";
    std::int64_t window = 0; ///< window of the class; 0: null
    std::int64_t chunk = 0; ///< attention_chunk_size of the class; 0: it has no chunks
    std::int64_t heads = 0; ///< num_attention_heads of the class; 0: must be stated
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0; ///< head_dim of the class; 0: hidden_size ÷ num_attention_heads
    std::int64_t globalHeadDim = 0; ///< head_dim of the full layers, where they have one of their own
    std::int64_t sharedLayers = 0; ///< num_kv_shared_layers of the class
    std::int64_t headSpan = 1; ///< attention over so many times hidden_size
    /// Of the class, for text parts within another model's file: such files leave out what is as in the class.
    std::int64_t nestedLayers = 0;
    std::int64_t nestedHidden = 0;
    std::int64_t nestedHeads = 0;
    bool ignoresHeadDim = false; ///< always hidden_size ÷ num_attention_heads
    bool lastIsFull = false; ///< the class forces the last layer to be full
    bool latent = false; ///< multi-head latent attention: kv_lora_rank must be there
    bool plainLatent = false; ///< a latent without rotary part is allowed
    std::int64_t latents = 1; ///< attention blocks in each layer, each with a latent
    bool indexer = false; ///< the latent layers have a sparse indexer
    /// Fields that stand for state beyond plain attention and that this class reads; * stands for any ending.
    std::string_view reads {};
};

/// True when `word` is one of `words`, which are parted by spaces; one that ends in * stands for any ending.
bool hasWord(std::string_view words, std::string_view word);

/// The family of a model_type; null for all that are not known.
const HfFamily* findFamily(std::string_view modelType);
/// What is done with a model_type that nobody knows: plain attention.
const HfFamily& unknownFamily();

/// Why a configuration must be refused: a field, or a model_type, that stands for state which its family does not read.
/// Nothing when there is no such field. Zero, null, false and empty values do not count. `family` is null for a
/// model_type that is not known.
std::optional<Error> unsupportedState(const HfFields& fields, const HfFamily* family);

} // namespace kvw
