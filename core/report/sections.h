// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/event_log.h"
#include "estimate/estimate.h"
#include "evidence/reconcile.h"
#include "plan/plan.h"
#include "report/document.h"

#include <optional>
#include <string>

namespace kvw {

// Each section from the results it shows. Whatever is missing is said, never left out silently.

struct ReportInputs;

Section readFirstSection(const ReportInputs& inputs);
Section restsOnSection(const ReportInputs& inputs);
Cover coverOf(const ReportInputs& inputs);
Section identitySection(const Plan& plan);
Section loadedSection(const Plan& plan);
Section worksheetSection(const Plan& plan, const Estimate& estimate);
Section needSection(const Estimate& estimate); ///< ideal need, engine need and every named byte between them
Section engineSection(const Plan& plan, const Estimate& estimate); ///< ranks, budget, pool, fits or not
Section strategiesSection(const Estimate& estimate);
/// Every figure's derivation as numbered formulas, two sections: those that the reader meets first, and an appendix
/// with the other figures, the steps below them and the sources.
std::vector<Section> formulaSections(const Estimate& estimate);
Section tenantsSection(const Plan& plan);
/// `setup`: of the prediction, which says what was taken for what is not stated; may be null.
Section admissionSection(const Plan& plan, const RunSetup* setup = nullptr);
Section workloadSection(const Plan& plan, const RunSetup& setup);
/// `plan`: for the names of tenants and groups; without it their ids stand there.
Section predictionSection(const RunSetup& setup, const RunRecord& record, const Plan* plan = nullptr);
/// Blocks by state at the step with the most active ones, drawn from the run's event log.
Section blockMapSection(
    const RunRecord& record, const EventLog& events, const RunSetup& setup, const Plan* plan = nullptr);
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

/// The assumptions of everything that the report shows, each once.
Assumptions assumptionsOf(const ReportInputs& inputs);

/// What a report is made of. Only the plan is needed; an absent part is said to be absent, with the reason.
struct ReportInputs
{
    const Plan* plan = nullptr;
    const Estimate* estimate = nullptr;
    std::string estimateError {}; ///< why there is no estimate
    const RunSetup* setup = nullptr;
    const RunRecord* prediction = nullptr;
    std::string predictionError {}; ///< why there is no prediction
    const EventLog* events = nullptr; ///< of the prediction
    bool predictionStale = false; ///< the prediction is of an earlier state of the plan
    std::vector<std::string> leftOut {}; ///< ids of sections that are not wanted; the document says so
};
Document makeReport(const ReportInputs& inputs);

} // namespace kvw
