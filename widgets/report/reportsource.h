// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "report/document.h"

#include <memory>
#include <string>
#include <vector>

namespace kvw::gui {

/// A plan with what was computed from it: all that a report needs, by value, so that it can be made in any thread.
struct ReportSource
{
    Plan plan;
    std::shared_ptr<const PredictionResult> prediction {}; ///< null: predictionError says why
    std::string predictionError {};
    bool predictionStale = false;
    std::vector<std::string> leftOut {}; ///< ids of sections that are not wanted
};

/// What is open in the window, as it is now.
ReportSource sourceOf(const PlanDocument& document);
/// A plan alone: its prediction is made here, by the same rules as `kvw report`.
ReportSource sourceOf(Plan plan);
/// The report. Its estimate is made anew from the plan.
Document reportOf(const ReportSource& source);

} // namespace kvw::gui
