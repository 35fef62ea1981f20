// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "evidence/reconcile.h"
#include "units/explanation.h"

#include <optional>
#include <string>
#include <string_view>

namespace kvw {

/// A figure of an evidence row.
enum class EvidenceFigure : std::uint8_t { Estimated, Predicted, Measured, Verdict };
/// "estimated", "predicted", "measured", "verdict": ends of paths.
const char* evidenceFigureName(EvidenceFigure figure);
std::optional<EvidenceFigure> evidenceFigureFromName(std::string_view name);

/// What the rows of one table have in common.
struct EvidenceContext
{
    std::string run {}; ///< "run3"; empty: none has been made
    std::string device {}; ///< that it ran on; empty: not known
    std::string planHash {};
    std::string rules {}; ///< of the prediction; empty: not known
    std::optional<double> poolFraction {};
    bool stale = false; ///< of an earlier plan
};

/// What the figure is, which instrument, formula or count gives it, how far it may be off, and by which rule the
/// verdict is found. `derived`: the estimate's own formula, where it is at hand (evidenceEstimate()).
Explanation explainEvidence(const EvidenceRow& row, EvidenceFigure figure, const EvidenceContext& context,
    const std::optional<Quantity>& derived = std::nullopt);

/// The estimate of a row with its formula, computed anew from the plan of the run; nothing when there is none, or when
/// it is not the row's figure (another plan).
std::optional<Quantity> evidenceEstimate(const Plan& plan, const RunSetup& setup, const EvidenceRow& row);

} // namespace kvw
