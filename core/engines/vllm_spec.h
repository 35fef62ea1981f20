// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/vllm_generation.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvw::vllm {

/// The kinds of cache that a layer may ask for (vllm/v1/kv_cache_interface.py).
enum class SpecKind : std::uint8_t {
    Full,
    SinkFull, ///< full, with tokens at the front that are never dropped
    Mla, ///< one latent vector a token; also index keys
    Sliding,
    SlidingMla, ///< one vector a token, inside a window: DeepSeek-V4's window caches and compressor states
    ChunkedLocal,
    Cross, ///< keys and values of an encoder
    Mamba, ///< recurrent state: as large at any length
    Ring, ///< one block a request for its whole life
};

/// "full", "sliding_mla" …, as the reference cases name them.
std::string_view specKindName(SpecKind kind);
std::optional<SpecKind> specKindFromName(std::string_view name);

/// When recurrent state is stored: at the end alone, at the ends of steps on block boundaries, at every boundary.
enum class MambaMode : std::uint8_t {
    None,
    Align,
    All,
};
std::string_view mambaModeName(MambaMode mode);

/// One tensor of recurrent state.
struct StateArray
{
    std::vector<std::int64_t> shape;
    std::int64_t elementBytes = 2;

    bool operator==(const StateArray&) const = default;
};

/// What one layer asks of the cache, on one rank, before the pages of all layers are made to fit together.
struct LayerSpec
{
    SpecKind kind = SpecKind::Full;
    std::int64_t blockTokens = 16;

    std::int64_t heads = 1; ///< KV heads on the rank
    std::int64_t headSize = 0; ///< elements of K, of the latent, of the record
    std::int64_t valueSize = 0; ///< elements of V; 0 for one vector a token
    std::int64_t elementBytes = 2;
    std::optional<std::int64_t> headSlots {}; ///< instead of heads, where the backend packs differently
    std::optional<std::int64_t> contentBytes {}; ///< of one slot and token, instead of the elements' bytes
    std::int64_t compression = 1; ///< tokens per stored entry
    std::optional<std::int64_t> alignment {}; ///< pages are rounded up to a multiple of it
    std::optional<std::int64_t> paddedPage {}; ///< the page as it was padded by the platform
    bool stridedPages = true; ///< the backend finds pages by a stride, so that they may be padded
    std::optional<std::int64_t> window {};
    std::optional<std::int64_t> chunk {};
    std::int64_t retained = 0; ///< tokens kept beyond the window
    std::string cacheType {}; ///< named storage of latents: "auto", "fp8_ds_mla"
    std::string quantization {}; ///< "FP8_PER_TENSOR" …; empty: none
    std::string modelVersion {};

    std::vector<StateArray> arrays {}; ///< of Mamba
    std::int64_t draftBlocks = 0; ///< of Mamba: further states a request for draft tokens

    bool operator==(const LayerSpec&) const = default;
};

/// What the blocks of one request depend on beside its length.
struct RequestTerms
{
    std::int64_t inFlightTokens = 0; ///< tokens computed and not settled, or about to be computed
    std::int64_t contextRanks = 1; ///< ranks that share the tokens of a sequence (DCP)
    std::int64_t encoderTokens = 0;
    MambaMode mambaMode = MambaMode::Align;
};

/// True for the kinds that keep every token: these may share a cache group whatever their pages.
bool isFullKind(SpecKind kind);
/// True for the kinds that keep a window.
bool isSlidingKind(SpecKind kind);
/// True for everything that is stored by token; false for recurrent state.
bool isAttentionKind(SpecKind kind);

/// Bytes of a page without padding: one layer's part of one block. Nothing when it does not fit into 64 bits.
std::optional<std::int64_t> unpaddedPageBytes(const LayerSpec& spec, const Rules& rules);
/// Bytes of a page: as the platform padded it, else rounded up to the spec's alignment.
std::optional<std::int64_t> pageBytes(const LayerSpec& spec, const Rules& rules);

/// Blocks that one request of `length` tokens may hold in a group of this spec:
/// - full kinds: ⌈⌈length ÷ DCP⌉ ÷ block⌉
/// - windows: ⌈min(window − 1 + retained + in flight, length) ÷ block⌉ + 1 (the window may begin inside a block)
/// - chunks: ⌈min(chunk + in flight, length) ÷ block⌉; before 0.10 ⌈length ÷ block⌉
/// - recurrent state: 1, with mode align 2, with mode all ⌈length ÷ block⌉, and the blocks for draft tokens
/// - cross attention: ⌈encoder tokens ÷ block⌉; a ring: 1.
/// REQUIRES length ≥ 0 and terms below 2^60.
std::int64_t blocksPerRequest(
    const LayerSpec& spec, const Rules& rules, const RequestTerms& terms, std::int64_t length);

/// Whether vLLM takes layers of these specs for the same: they may be one group with one page size. Full layers may
/// differ in the window or chunk that they compute with. REQUIRES at least one.
bool areMergeable(std::span<const LayerSpec* const> specs);
/// Whether they always need the same number of token slots, so that they may share a block table with pages of their
/// own sizes. REQUIRES at least one.
bool areUniform(std::span<const LayerSpec* const> specs);

} // namespace kvw::vllm
