// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "estimate/estimate.h"
#include "evidence/runs.h"
#include "plan/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

enum class Verdict : std::uint8_t {
    Agrees, ///< measured lies within the tolerance of every figure that it is compared with
    Differs,
    NotComparable, ///< a side is missing, or the figure is one of time
    SameCounter, ///< both figures come from the loop's own counter: no verdict
    NotTested, ///< what could have happened did not, and both figures are 0: no verdict
};
/// "agrees", "differs", "not comparable", "same counter", "not put to the test"
const char* verdictName(Verdict verdict);
/// As people read it, with its sign: "✓ agrees", "– no verdict: same counter". The name of no verdict stays as it is.
std::string verdictText(std::string_view name);

/// One line of the evidence table. All figures are of the same scaled plan.
struct EvidenceRow
{
    std::string id; ///< "pool_bytes", "hit_tokens.acme" …: stable
    std::string title;
    Unit unit = Unit::None;
    std::optional<Number> estimated; ///< closed form
    std::optional<Number> predicted; ///< prediction, event by event
    std::optional<Number> measured; ///< instrument
    std::string instrument; ///< what measured it
    std::optional<double> difference; ///< measured − predicted (or estimated)
    double below = 0; ///< tolerance: measured may be this much less …
    double above = 0; ///< … or this much more
    std::string toleranceReason;
    Verdict verdict = Verdict::NotComparable;
    std::string reason; ///< of the verdict, where it needs one
};

/// Compares estimate, prediction and measurement. `estimate` is of the scaled plan (planForEvidence()).
/// `live` may be null: then every row lacks its measured figure.
std::vector<EvidenceRow> reconcile(
    const Estimate& estimate, const RunSetup& setup, const RunRecord& prediction, const LiveRun* live);

/// The scaled plan whose estimate stands in the evidence table: scaledPlan() with the run's pool as its budget.
Plan planForEvidence(const Plan& plan, const RunSetup& setup);

struct VerdictCounts
{
    std::int64_t agrees = 0;
    std::int64_t differs = 0;
    std::int64_t notComparable = 0;
    std::int64_t sameCounter = 0;
    std::int64_t notTested = 0;

    std::int64_t judged() const { return agrees + differs; }
    std::int64_t withoutVerdict() const { return notComparable + sameCounter + notTested; }
};
VerdictCounts countVerdicts(const std::vector<EvidenceRow>& rows);

/// The rows as plain data for the plan.
std::vector<EvidenceSummary> summaries(const std::vector<EvidenceRow>& rows, const std::string& run);
/// The way back, as far as plain data tells: numbers that are whole become integers; ids keep their run.
std::vector<EvidenceRow> rowsOf(const std::vector<EvidenceSummary>& stored);

} // namespace kvw
