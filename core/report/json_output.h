// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "estimate/estimate.h"
#include "evidence/reconcile.h"
#include "plan/plan.h"
#include "report/document.h"

#include <nlohmann/json_fwd.hpp>

namespace kvw {

using OrderedJson = nlohmann::ordered_json;

// The JSON of the command line. Names are stable: scripts rely on them. Bytes and tokens are integers; what is absent
// is null.

OrderedJson estimateJson(const Plan& plan, const Estimate& estimate);
OrderedJson importJson(const Plan& plan);
OrderedJson predictionJson(const RunSetup& setup, const RunRecord& record);
OrderedJson evidenceJson(const std::vector<EvidenceRow>& rows);
OrderedJson probeJson(
    const RunSetup& setup, const RunRecord& prediction, const LiveRun& live, const std::vector<EvidenceRow>& rows);
/// The whole tree: name, value, unit, operation, formula, numbers, source, operands, excludes.
OrderedJson derivationJson(const Derivation& derivation);
OrderedJson documentJson(const Document& document);
OrderedJson errorJson(const Error& error);
OrderedJson diagnosticsJson(const Diagnostics& diagnostics);
OrderedJson assumptionsJson(const Assumptions& assumptions);
OrderedJson sourceJson(const Source& source);

} // namespace kvw
