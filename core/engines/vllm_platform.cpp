// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_platform.h"

#include "units/amount.h"

#include <array>
#include <utility>

namespace kvw::vllm {

std::vector<std::int64_t> pipelineLayers(std::int64_t layers, std::int64_t stages)
{
    std::vector<std::int64_t> out(static_cast<std::size_t>(stages), layers / stages);
    const std::int64_t rest = layers % stages;
    for (std::int64_t i = 0; i < rest; ++i) {
        const std::int64_t stage = stages > rest ? stages - 2 - i : i;
        ++out[static_cast<std::size_t>(stage)];
    }
    return out;
}

std::optional<std::int64_t> hybridBlockTokens(
    std::int64_t stateBytes, std::int64_t attentionBytesPerToken, std::int64_t unit)
{
    const std::optional<std::int64_t> step = checkedMultiply(attentionBytesPerToken, unit);
    const std::optional<std::int64_t> units = step ? ceilDivide(stateBytes, *step) : std::nullopt;
    return units ? checkedMultiply(*units, unit) : std::nullopt;
}

std::int64_t kernelBlockTokens(std::string_view backend)
{
    constexpr std::array blocks {
        std::pair<std::string_view, std::int64_t> {"FLASHMLA", 64},
        std::pair<std::string_view, std::int64_t> {"FLASHMLA_SPARSE", 64},
        std::pair<std::string_view, std::int64_t> {"FLASHINFER_MLA_SPARSE", 64},
        std::pair<std::string_view, std::int64_t> {"V32_INDEXER", 64},
        std::pair<std::string_view, std::int64_t> {"FLASHINFER_MLA", 32},
        std::pair<std::string_view, std::int64_t> {"CUTLASS_MLA", 128},
        std::pair<std::string_view, std::int64_t> {"M3_SPARSE", 128},
        std::pair<std::string_view, std::int64_t> {"V4_SWA", 256},
    };
    for (const auto& [name, block] : blocks) {
        if (name == backend)
            return block;
    }
    return 16;
}

} // namespace kvw::vllm
