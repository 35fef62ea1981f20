// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"
#include "estimate/rank_budget.h"
#include "plan/plan.h"
#include "units/quantity.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvw {

/// A pair of figures in one of the worksheet's three token columns: entries of one layer's first tensor over all
/// sequences, and the bytes of the whole group.
struct TokenColumn
{
    Quantity tokens;
    Quantity bytes;
};

struct TensorEstimate
{
    const StateTensor* tensor = nullptr;
    Quantity bytesPerToken; ///< growing, all layers
    Quantity fixedBytes; ///< of one sequence when its limit is reached
    Quantity configuredBytes; ///< all planned sequences at the configured maximum
    std::optional<Quantity> retainedBytes;
};

struct GroupEstimate
{
    const LayerGroup* group = nullptr;
    Quantity bytesPerToken; ///< growing bytes of one token, the whole model's (never divided by ranks)
    Quantity fixedBytes; ///< bytes that a sequence holds in limited and fixed tensors once they are full
    Quantity sequenceBytes; ///< one sequence at the configured maximum
    std::optional<TokenColumn> configured; ///< planned sequences at the configured maximum
    std::optional<TokenColumn> retained; ///< the reading that the plan states
    std::optional<TokenColumn> reserved; ///< what the pool or the admission holds, all ranks
    std::vector<TensorEstimate> tensors; ///< of every tensor; 0 bytes where the group does not count in this plan
};

/// What one of the three allocation strategies would reserve for the planned sequences.
struct StrategyPrice
{
    Allocation strategy = Allocation::NotStated;
    std::optional<Quantity> bytes;
    std::string note;
};

/// Everything that follows from a plan in closed form. Holds pointers into the plan that it was made from, which must
/// outlive it.
struct Estimate
{
    std::vector<GroupEstimate> groups;
    Quantity bytesPerToken; ///< growing
    Quantity fixedBytes; ///< per sequence, at saturation
    std::optional<Quantity> idealSequenceBytes; ///< one sequence at the configured maximum
    std::optional<Quantity> idealBytes; ///< the planned sequences at the configured maximum
    std::optional<Quantity> retainedBytes;
    std::optional<Quantity> reservedBytes; ///< all ranks
    EngineSizing engine;
    std::vector<StrategyPrice> strategies;
    Budget budget; ///< of every rank's device memory
    std::string label; ///< "hypothetical shape arithmetic, not a GPU fit", or empty
    std::vector<std::string> formulaAssumptions; ///< full context, no sharing, equal K and V widths where it holds …
    std::vector<std::string> excludes; ///< of every total
    Assumptions assumptions; ///< of the import and of this estimate
    Diagnostics diagnostics; ///< of the plan, the engine and this estimate
};

/// The estimate. Errors: estimate.overflow when a figure does not fit into 64 bits, estimate.not_stated when the
/// worksheet lacks what every figure needs (no groups, no element type), engine.unknown.
Result<Estimate> estimate(const Plan& plan);

/// Every figure of an estimate by a stable path: "idealBytes", "groups.full.bytesPerToken", "engine.blocks",
/// "ranks.0.bytesPerToken" (the first 64 ranks; all keep the same), "differences.page_rounding", … in the order of the
/// report.
std::vector<std::pair<std::string, Quantity>> figuresOf(const Estimate& estimate);

/// The first of them that has no value, when there is one.
std::optional<std::pair<std::string, Quantity>> firstFigureWithoutValue(const Estimate& estimate);

/// One figure by its path, without making the whole list: those of figuresOf() and what one rank keeps of one group,
/// "ranks.0.groups.full.bytesPerToken" and "ranks.0.groups.full.fixedBytesPerSequence", and those of the budget by
/// rank, "ranks.0.budget.weights"; "budget.weights" is the first rank's. Nothing when there is none.
std::optional<Quantity> figureAt(const Estimate& estimate, std::string_view path);

} // namespace kvw
