// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/identity.h"
#include "engines/engine_rules.h"
#include "plan/plan.h"
#include "workload/admission.h"
#include "workload/request.h"

#include <optional>
#include <string>
#include <vector>

namespace kvw {

/// What the scheduler is told.
struct SchedulerSettings
{
    std::int64_t maxBatchedTokens = 2048; ///< tokens computed in one step
    std::int64_t maxSequences = 256; ///< requests running at a time
    WhenExhausted whenExhausted = WhenExhausted::PreemptRecompute;
    Reservation reservation = Reservation::OnDemand;
    std::optional<std::int64_t> maxLength {}; ///< tokens of prompt and output together; a longer request is rejected
    std::optional<std::int64_t> maxWaitSteps {}; ///< then a waiting request is rejected
    std::int64_t maxSteps = 10'000'000; ///< a run that is not done by then ends with unfinished requests
};

/// Everything a run needs, and nothing of the plan: prediction and live run are given the same one.
struct RunSetup
{
    PoolLayout layout;
    CacheBehaviour behaviour;
    SchedulerSettings scheduler;
    Workload workload;
    std::vector<SharingDomain> domains; ///< by tenant of the workload
    std::string planHash; ///< of the plan as stated, before scaling
    double scale = 1; ///< what lengths, batches and pools were multiplied by, before rounding and least sizes
    double poolFraction = 1; ///< bytes of the pools over those of the planned ones
    std::int64_t plannedPoolBytes = 0; ///< of the unscaled plan
    Assumptions assumptions;
};

/// Who may share with whom, resolved: tenants whose eligibility is their group have the group's domain, all others
/// their own. Domain 0 is the public one, which no tenant has.
std::vector<SharingDomain> resolveDomains(const Plan& plan);

/// The plan at a share of its size: configured maximum, workload lengths and tokens per batch times `fraction` (at
/// least one token, batches at least one block), and the pool as if the budget were that share. What a model fixes
/// (windows, widths) stays.
Plan scaledPlan(const Plan& plan, double fraction);

/// The setup of a run of `plan` at `fraction` of its planned blocks. A plan without engine runs by the shape-only
/// rules. Errors: engine.refusal, engine.unknown, plan.workload (contradictory generator fields), run.too_small (the
/// fraction leaves no room for a single block beside the held ones).
Result<RunSetup> setUpRun(const Plan& plan, double fraction);

/// The largest fraction (at most 1) whose pools together stay within `bytes`. Errors as setUpRun; run.too_small when
/// even the smallest pools are more.
Result<double> fractionFor(const Plan& plan, std::int64_t bytes);

} // namespace kvw
