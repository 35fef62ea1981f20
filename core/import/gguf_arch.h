// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace kvw {

/// Which layers of an architecture keep a window only.
enum class GgufWindow : std::uint8_t {
    None, ///< no layer, whatever attention.sliding_window says
    Period, ///< the period, which attention.sliding_window_pattern may replace, where the window is not 0
    PerLayer, ///< attention.sliding_window_pattern says it of each layer
    Every, ///< all
};

/// Which layers of an architecture keep recurrent state instead of keys and values.
enum class GgufRecurrence : std::uint8_t {
    None,
    Every,
    Beside, ///< every layer, beside keys and values
    NoHeads, ///< those where attention.head_count_kv is 0
    NoHeadsNoFeedForward, ///< those where feed_forward_length is 0 too; layers with one of the two have no state
    Interval, ///< attention.recurrent_layers, else all but every full_attention_interval-th
};

/// What a recurrent layer keeps, in f32.
enum class GgufState : std::uint8_t {
    None,
    Mamba1, ///< {arch}.ssm.*, without heads
    Mamba2, ///< {arch}.ssm.*: time_step_rank heads, and group_count groups of B and C
    GatedDeltaNet, ///< {arch}.ssm.*: group_count key heads, time_step_rank value heads
    Kda, ///< {arch}.kda.head_dim
    ShortConvolution, ///< {arch}.shortconv.l_cache
    Wkv, ///< {arch}.wkv.head_size
    Lightning, ///< head width squared for each head
};

/// Which layers keep the keys of a sparse indexer.
enum class GgufIndexer : std::uint8_t {
    None,
    EveryLayer,
    ByTypes, ///< attention.indexer.types, else by the context length
    AfterDense, ///< from leading_dense_block_count on
    Compressed, ///< attention.compress_ratios: compressed entries beside a window
};

/// What llama.cpp knows about an architecture beside the keys of the file.
struct GgufArch
{
    std::string_view name;
    GgufWindow window = GgufWindow::None;
    std::int64_t windowTokens = 0; ///< where attention.sliding_window is absent; 0: no window, or it must be stated
    bool windowRequired = false; ///< attention.sliding_window must be there
    bool windowFixed = false; ///< windowTokens, whatever attention.sliding_window says, unless that is 0
    bool chunked = false; ///< the window is a chunk, emptied at its end
    std::int64_t period = 0; ///< of layers: the last of each has no window
    bool fullFirst = false; ///< the first of each period has no window instead
    std::int64_t onlyLayers = 0; ///< the rule for windows holds for models with so many layers only; 0: for all
    GgufRecurrence recurrence = GgufRecurrence::None;
    GgufState state = GgufState::None;
    std::int64_t interval = 4; ///< full_attention_interval where it is absent
    GgufIndexer indexer = GgufIndexer::None;
    bool draftsApart = false; ///< NextN layers have a cache of their own, made only for speculation
    std::int64_t ownLayers = 0; ///< layers from here on read the state of earlier ones; 0: all keep their own
    bool sharedLayersKey = false; ///< attention.shared_kv_layers says how many do
    bool encoder = false; ///< keeps nothing between calls
};

/// The architecture by general.architecture; null when it is not known here.
/// Source: llama.cpp of 2026-08-18 (src/llama-arch.cpp, src/llama-model.cpp, src/models/).
const GgufArch* findGgufArch(std::string_view name);
/// What an architecture that is not known is read as: keys and values in every layer.
const GgufArch& plainGgufArch();

} // namespace kvw
