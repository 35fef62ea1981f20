// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "estimate/estimate.h"
#include "evidence/reconcile.h"
#include "plan/plan.h"
#include "report/document.h"

#include <optional>
#include <string>

namespace kvw {

// Each section from the results it shows. Whatever is missing is said, never left out silently.

Section identitySection(const Plan& plan);
Section loadedSection(const Plan& plan);
Section worksheetSection(const Plan& plan, const Estimate& estimate);
Section needSection(const Estimate& estimate); ///< ideal need, engine need and every named byte between them
Section engineSection(const Plan& plan, const Estimate& estimate); ///< ranks, budget, pool, fits or not
Section strategiesSection(const Estimate& estimate);
Section formulasSection(const Estimate& estimate);
Section tenantsSection(const Plan& plan);
Section admissionSection(const Plan& plan);
Section workloadSection(const Plan& plan, const RunSetup& setup);
Section predictionSection(const RunSetup& setup, const RunRecord& record);
Section evidenceSection(const std::vector<EvidenceRow>& rows, const RunSetup& setup, const LiveRun* live);
Section storedEvidenceSection(const Plan& plan);
Section assumptionsSection(const Assumptions& assumptions, const std::vector<std::string>& ofTheFormula);
Section problemsSection(const Diagnostics& diagnostics);
Section scopeSection();
Section sourcesSection(const Plan& plan, const Estimate* estimate);

/// A source in one line: kind, name, place, digest, dates ("not stated in the source" where a publication date is
/// missing).
std::string sourceText(const Source& source);
/// One derivation as a formula block.
Formula formulaOf(const Quantity& quantity, std::string label, std::string title);

/// What a report is made of. Only the plan is needed; an absent part is said to be absent, with the reason.
struct ReportInputs
{
    const Plan* plan = nullptr;
    const Estimate* estimate = nullptr;
    std::string estimateError {}; ///< why there is no estimate
    const RunSetup* setup = nullptr;
    const RunRecord* prediction = nullptr;
    std::string predictionError {}; ///< why there is no prediction
};
Document makeReport(const ReportInputs& inputs);

} // namespace kvw
