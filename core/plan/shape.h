// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/inputs.h"

#include <vector>

namespace kvw {

/// A tensor's numbers as inputs of derivations.
struct TensorShape
{
    const StateTensor* tensor = nullptr;
    ElementType elementType = ElementType::NotStated; ///< the tensor's own, or the plan's
    Quantity heads;
    Quantity rowBytes; ///< one head's row, scales included
    Quantity entryBytes; ///< all heads
    GrowthInputs growth;
    std::optional<Quantity> variable; ///< what it counts where that is not tokens: the plan's encoder or image tokens

    /// Entries of one sequence of `v` tokens.
    Quantity entries(const Quantity& v) const;
};

/// A layer group's numbers as inputs of derivations.
struct GroupShape
{
    const LayerGroup* group = nullptr;
    Quantity layers;
    std::vector<TensorShape> tensors;
};

/// True when the group keeps state in this plan: it has tensors, and draft layers run where it is made of them.
bool keepsState(const Plan& plan, const LayerGroup& group);

/// Entries of a tensor in one sequence of `tokens` tokens, as a plain number. Nothing when it counts encoder or image
/// tokens and the plan does not state how many.
std::optional<std::int64_t> entriesIn(const Plan& plan, const StateTensor& tensor, std::int64_t tokens);

/// What a tensor is called in formulas and tables: "K", "latent".
std::string tensorWord(const StateTensor& tensor);

/// The worksheet as inputs: what every engine's rule and the ideal need start from.
/// A tensor whose element type nobody states, and one that counts encoder or image tokens that nobody states, has
/// quantities without value that say so. A group that keeps no state in this plan has no tensors here.
std::vector<GroupShape> shapeOf(const Plan& plan, const PlanInputs& inputs);

} // namespace kvw
