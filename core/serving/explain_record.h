// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "serving/run_record.h"
#include "units/explanation.h"

#include <optional>
#include <string>
#include <string_view>

namespace kvw {

/// What a figure of a run's record is: its definition, the kinds of events that it is counted from, where in the run,
/// of which plan; and the formula where it is made of others.
///
/// Paths, as `kvw predict --json` names the parts: "steps", "preemptions", "evictions", "recomputedTokens",
/// "computedTokens", "appendedBytes", "readBackEntries", "peakStep", "offered", "refused", "promptTokens", "hitTokens",
/// "hitShare"; "outcomes.completed" …; "final.active" …; "tenants.ID.hitTokens", ".promptTokens", ".hitShare",
/// ".outcomes.completed" …, ".missCauses.evicted" …; "requests.N.promptTokens" and all other numbers of a request;
/// "cold.queueSteps.median", "warm.endToEndSteps.p99" … Nothing for other paths.
std::optional<Explanation> explainRecord(const RunSetup& setup, const RunRecord& record, std::string_view path);

} // namespace kvw
