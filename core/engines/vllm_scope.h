// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/vllm_generation.h"
#include "plan/plan.h"
#include "units/quantity.h"

#include <memory>
#include <string>

namespace kvw::vllm {

/// The engine's code as the authority of a step; `at` names the function.
std::shared_ptr<const Source> rule(const char* at, std::string note = {});

/// The one group that keeps state, or null when there is none or more than one.
const LayerGroup* onlyGroup(const Plan& plan);

/// Why the rules do not apply to a plan.
struct Refusal
{
    std::string text {}; ///< empty: they do
    std::string field = "engine.name"; ///< the plan field to change first
};

/// Of plans of any kind of layers: no state, another allocation, a group on the host, pipeline or data parallelism.
Refusal generalRefusal(const Plan& plan);

/// Of plans that are run or sized as one group: the same, several groups, and state that is not one entry per token.
Refusal refusalOf(const Plan& plan);

} // namespace kvw::vllm
