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

    /// Entries of one sequence at `v`.
    Quantity entries(const Quantity& v) const;
};

/// A layer group's numbers as inputs of derivations.
struct GroupShape
{
    const LayerGroup* group = nullptr;
    Quantity layers;
    std::vector<TensorShape> tensors;
};

/// What a tensor is called in formulas and tables: "K", "latent".
std::string tensorWord(const StateTensor& tensor);

/// The worksheet as inputs: what every engine's rule and the ideal need start from.
/// A tensor whose element type nobody states has quantities without value that say so.
std::vector<GroupShape> shapeOf(const Plan& plan, const PlanInputs& inputs);

} // namespace kvw
