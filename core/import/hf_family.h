// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_fields.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvw {

/// Which layers slide when the file has no layer_types.
enum class WindowRule : std::uint8_t {
    NotUsed, ///< the class has no window: a file that states one all the same is refused
    EveryLayer, ///< all, where sliding_window is not null
    Pattern, ///< all but every n-th
    TailLayers, ///< from max_window_layers on, where use_sliding_window is true
    OnlyOff, ///< understood only where use_sliding_window is not true
};

/// How many key and value heads there are when num_key_value_heads is absent.
enum class HeadRule : std::uint8_t {
    QueryHeads, ///< one per query head
    ClassDefault, ///< HfFamily::kvHeads
    Required, ///< the class has a default that is not known here: the field must be there
    MultiQuery, ///< one if multi_query (the default), else one per query head
    QueryGroups, ///< multi_query_group_num if multi_query_attention, else one per query head
};

/// What the model class behind a model_type does with fields that its file leaves out.
struct HfFamily
{
    std::string_view type;
    WindowRule windowRule = WindowRule::NotUsed;
    HeadRule headRule = HeadRule::QueryHeads;
    std::int64_t pattern = 0; ///< WindowRule::Pattern: every n-th layer is full
    bool patternField = false; ///< sliding_window_pattern replaces `pattern`
    std::int64_t window = 0; ///< sliding_window of the class; 0: null
    std::int64_t heads = 0; ///< num_attention_heads of the class; 0: must be stated
    std::int64_t kvHeads = 0;
    std::int64_t headDim = 0; ///< head_dim of the class; 0: hidden_size ÷ num_attention_heads
    bool ignoresHeadDim = false; ///< always hidden_size ÷ num_attention_heads
    bool latent = false; ///< multi-head latent attention: kv_lora_rank must be there
};

/// The family of a model_type that is known to keep nothing but attention state; null for all others.
const HfFamily* findFamily(std::string_view modelType);
/// What is done with a model_type that nobody knows: plain attention.
const HfFamily& unknownFamily();

/// Why a configuration must be refused: a field, or a model_type, that stands for state which cannot be read yet.
/// Nothing when there is no such field. Zero, null, false and empty values do not count.
std::optional<Error> unsupportedState(const HfFields& fields);

} // namespace kvw
