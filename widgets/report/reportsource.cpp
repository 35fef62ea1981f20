// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/reportsource.h"

#include "estimate/estimate.h"
#include "evidence/runs.h"
#include "report/sections.h"

namespace kvw::gui {

ReportSource sourceOf(const PlanDocument& document)
{
    ReportSource out;
    out.plan = document.plan();
    out.prediction = document.prediction();
    out.predictionStale = document.isPredictionStale();
    if (!out.prediction)
        out.predictionError = "no prediction has been made for this plan yet.";
    return out;
}

ReportSource sourceOf(Plan plan)
{
    ReportSource out;
    out.plan = std::move(plan);
    Result<RunSetup> setup = setUpStatedRun(out.plan, 1);
    if (!setup) {
        out.predictionError = setup.error().text();
        return out;
    }
    std::unique_ptr<EventLog> events;
    Result<RunRecord> record = predict(*setup, {}, &events);
    if (!record) {
        out.predictionError = record.error().text();
        return out;
    }
    out.prediction = std::make_shared<const PredictionResult>(
        PredictionResult {std::move(*setup), std::move(*record), std::move(events)});
    return out;
}

Document reportOf(const ReportSource& source)
{
    ReportInputs inputs;
    inputs.plan = &source.plan;
    const Result<Estimate> closedForm = estimate(source.plan);
    if (closedForm)
        inputs.estimate = &*closedForm;
    else
        inputs.estimateError = closedForm.error().text();
    if (source.prediction) {
        inputs.setup = &source.prediction->setup;
        inputs.prediction = &source.prediction->record;
        inputs.events = source.prediction->events.get();
    }
    inputs.predictionError = source.predictionError;
    inputs.predictionStale = source.predictionStale;
    inputs.leftOut = source.leftOut;
    return makeReport(inputs);
}

} // namespace kvw::gui
