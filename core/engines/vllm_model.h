// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/vllm_scope.h"
#include "engines/vllm_sizing.h"
#include "plan/inputs.h"

#include <cstddef>
#include <vector>

namespace kvw::vllm {

/// The tensors of the worksheet that one cache spec holds.
struct SpecSource
{
    std::size_t group = 0; ///< index in the worksheet
    std::vector<std::size_t> tensors {}; ///< indices in the group
};

/// A plan as vLLM would see it: the caches of all layers on one rank, and the settings.
struct PlanModel
{
    SizingInput input {}; ///< no workers; maxModelLen 0 when the plan states none
    std::vector<SpecSource> sources {}; ///< of each of input.specs
    Refusal refusal {};
};

/// The caches that vLLM's model code registers for the worksheet, by their tensors, never by the architecture:
/// - K and V: full, with a limit a window, chunked, or cross attention; heads ÷ TP, at least one;
/// - a latent with its rotary part: one vector a token, on every rank; index keys: a cache of their own before it, as
///   fp8 with one fp32 scale per 128 elements (beside K and V: in the cache's own type);
/// - recurrent and convolution state: one page a layer; draft tokens widen the convolution.
/// Beside recurrent state, the block of attention is the smallest whose page holds one state. Windows of mixed models
/// keep blocks of 16 from 0.25 on. Assumptions go into `inputs`.
PlanModel modelOf(const Plan& plan, PlanInputs& inputs);

} // namespace kvw::vllm
