// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"
#include "units/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kvw {

/// What one sequence of one length needs.
struct SequenceNeed
{
    std::int64_t tokens = 0;
    std::int64_t idealBytes = 0; ///< what its tensors hold
    std::optional<std::int64_t> engineBytes; ///< what the engine allocates for it alone, all ranks; none: no such rule
};

/// The need of one sequence at each of `lengths` (≥ 1): the plan's own laws and the engine's own rule, with that length
/// as the configured maximum and one sequence planned. Errors: engine.unknown, estimate.not_stated (no element type or
/// no groups), estimate.overflow.
Result<std::vector<SequenceNeed>> sequenceNeeds(const Plan& plan, std::span<const std::int64_t> lengths);

} // namespace kvw
