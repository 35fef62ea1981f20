// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"
#include "plan/inputs.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// One part of a rank's device memory.
struct BudgetPart
{
    std::string id; ///< "weights", "activation", "other", "planned", "left", "remainder", "outside", "unaccounted"
    std::string title;
    Quantity bytes;
};

/// What one rank's device memory is for, as far as the plan and the engine's rule say it: nothing is taken for what is
/// not stated.
struct RankBudget
{
    /// One after another from 0, in the order in which the engine takes them: weights, activation, other, what the
    /// planned sequences take of the pool, what is left of it, what the division into blocks leaves over, what the
    /// engine may not take. Where the device's memory is stated and these do not fill it, the last part is what nobody
    /// accounts for. Parts that are negative (more is asked for than there is) stay, so that it is seen.
    std::vector<BudgetPart> parts;
    std::optional<Quantity> pool; ///< planned and left together
    std::optional<Quantity> device; ///< memory of the device
    std::optional<Quantity> configured; ///< what the planned sequences hold at the configured maximum, ideally
    std::optional<Quantity> retained; ///< what the reading says is held
};

/// The budget of the ranks: the same for the report and for every page. All ranks have the same one (RankSizings).
struct Budget
{
    std::int64_t ranks = 0;
    RankBudget each; ///< of every rank; empty when there is none
    std::vector<std::string> notStated; ///< titles of the parts that the plan does not state
    std::string missing; ///< why there is no rank at all; empty when there are some
};
Budget budgetOf(const Plan& plan, const EngineSizing& sizing, PlanInputs& inputs);

/// A figure of a rank's budget: the id of a part, "pool", "device", "configured" or "retained"; nothing when there is
/// none.
std::optional<Quantity> budgetFigure(const RankBudget& rank, std::string_view id);

/// Why the engine's rules give no pool, in one sentence.
std::string whyNoPool(const EngineSizing& engine);

} // namespace kvw
