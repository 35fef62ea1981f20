// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kvw::vllm {

/// Layers of each pipeline stage: ⌊layers ÷ stages⌋, and one more for as many stages as are left over, from the last
/// but one backwards (94 over 4: 23, 24, 24, 23). Draft layers come on top, on the last stage. REQUIRES stages ≥ 1.
/// Source: vllm/distributed/utils.py get_pp_indices at 017e9f44.
std::vector<std::int64_t> pipelineLayers(std::int64_t layers, std::int64_t stages);

/// The block of attention layers beside recurrent state: the smallest multiple of `unit` whose page holds one layer's
/// state. The state's page is then padded to the attention page. Nothing when it does not fit into 64 bits.
/// `unit` is the larger of the backend's smallest kernel block and the block asked for, at least 128 for latents; where
/// state is stored at every boundary, the least common multiple with the chunk of the state's kernel.
/// Source: vllm/platforms/interface.py at 017e9f44. REQUIRES positive arguments.
std::optional<std::int64_t> hybridBlockTokens(
    std::int64_t stateBytes, std::int64_t attentionBytesPerToken, std::int64_t unit);

/// The smallest block of tokens that an attention backend's kernels take, by the backend's name ("FLASHMLA"): 64 for
/// FlashMLA and the sparse and indexer backends, 32 for FlashInfer-MLA, 128 for CUTLASS-MLA and MiniMax-M3's, 256 for
/// DeepSeek-V4's, else 16. Source: as executed at 017e9f44.
std::int64_t kernelBlockTokens(std::string_view backend);

} // namespace kvw::vllm
