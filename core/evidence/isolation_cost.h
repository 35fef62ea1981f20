// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"
#include "units/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kvw {

/// Who shares state with whom, of all that could be chosen.
enum class SharingPolicy : std::uint8_t {
    Together, ///< all tenants in one sharing domain
    AsPlanned,
    Alone, ///< every tenant in a domain of its own
};
const char* sharingPolicyTitle(SharingPolicy policy); ///< "all tenants share", "as planned", "every tenant alone"

/// The plan with its tenants' sharing as the policy has it, all else as it was.
Plan withPolicy(const Plan& plan, SharingPolicy policy);

/// What a prediction of the plan under one policy came to.
struct IsolationCost
{
    SharingPolicy policy = SharingPolicy::AsPlanned;
    std::int64_t domains = 0;
    std::int64_t offered = 0; ///< requests
    std::int64_t completed = 0;
    std::int64_t promptTokens = 0; ///< of admitted requests
    std::int64_t hitTokens = 0; ///< served from the cache, all admissions together
    std::int64_t computedPromptTokens = 0; ///< prompt tokens that some admission computed
    std::int64_t peakBlocks = 0; ///< most active blocks at the end of a step, all pools
    std::int64_t keys = 0; ///< different block identities that were made findable
    std::int64_t preemptions = 0;
    std::int64_t steps = 0;

    bool operator==(const IsolationCost&) const = default;
};

/// Called after each step of each prediction; false stops.
using CostProgress = std::function<bool()>;

/// Predicts the plan under one policy, whole. Errors: those of setUpStatedRun(); run.stopped when `progress` said so.
Result<IsolationCost> isolationCost(const Plan& plan, SharingPolicy policy, const CostProgress& progress = {});

/// All policies, in the order of SharingPolicy. Policies by which the same tenants share are predicted once. Errors as
/// isolationCost().
Result<std::vector<IsolationCost>> isolationCosts(const Plan& plan, const CostProgress& progress = {});

} // namespace kvw
