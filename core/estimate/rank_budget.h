// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"
#include "plan/inputs.h"

#include <string>
#include <vector>

namespace kvw {

/// One part of a rank's device memory.
struct BudgetPart
{
    std::string id; ///< "weights", "activation", "other", "pool", "remainder", "outside", "unaccounted": stable
    std::string title;
    Quantity bytes;
};

/// What one rank's device memory is for, as far as the plan and the engine's rule say it, in the order in which the
/// engine takes it: weights, activation, other, pool, what the division into blocks leaves over, what the engine may
/// not take. Where the device's memory is stated and these do not fill it, the last part is what nobody accounts for.
/// Parts that are not stated are absent; parts that are negative (more is asked for than there is) stay, so that it is
/// seen.
std::vector<BudgetPart> rankBudget(const Plan& plan, const EngineSizing& sizing, const PlanInputs& inputs);

} // namespace kvw
