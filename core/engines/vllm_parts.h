// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"

#include <optional>
#include <vector>

namespace kvw::vllm {

// Figures that every sizing of vLLM starts from.

/// Tokens of a block: the plan's, else 16.
Quantity blockTokensOf(PlanInputs& inputs);
/// Tensor-parallel ranks: the plan's, else 1.
Quantity ranksOf(PlanInputs& inputs);
/// The configured maximum; without value where it is not stated.
Quantity lengthOf(const PlanInputs& inputs);
/// Heads of each tensor of the group on one rank: at least one.
std::vector<Quantity> headsOnRank(const GroupShape& shape, const Quantity& tp);
/// Bytes of each group and of all on one rank; bytesPerBlock is left to the caller.
RankSizing rankSizing(const std::vector<GroupShape>& shape, const Quantity& tp);
/// What is left for state on one rank, or nothing with the reason in `sizing.unstated`.
std::optional<Quantity> availableOf(const Plan& plan, PlanInputs& inputs, EngineSizing& sizing);

} // namespace kvw::vllm
