// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"

#include <optional>
#include <string>
#include <vector>

namespace kvw {

/// One of the eleven facts without which a plan cannot be reviewed.
struct IdentityRow
{
    std::string id; ///< "tokenizer_revision": stable, also the end of its diagnostic's id
    std::string title;
    std::optional<std::string> text; ///< as a report shows it; nothing when not stated
    std::vector<std::string> paths; ///< plan fields that state it
};

/// The engine as people write it: "vLLM"; empty when none is stated.
std::string engineTitle(const Plan& plan);

/// The eleven, always all of them, in the order of the report: model revision, tokenizer revision, engine build,
/// attention layout, cache element type, prompt and output limits, concurrency, block allocation, parallelism, reuse
/// policy, outcome when no state can be had.
std::vector<IdentityRow> identityOf(const Plan& plan);

/// Every diagnostic of the plan itself: identity fields that are not stated, contradictions between fields, tenants'
/// policies. Engines and estimates add their own.
Diagnostics diagnose(const Plan& plan);

} // namespace kvw
