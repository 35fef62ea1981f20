// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "plan/identity.h"
#include "report/report_words.h"
#include "units/version.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

Section absent(const char* id, const char* title, const std::string& why)
{
    return {id, title, {Paragraph {"There is none: " + why, true}}, "Nothing may be concluded of it."};
}

void addPrediction(const ReportInputs& inputs, std::vector<Section>& out)
{
    const std::string why = inputs.predictionError.empty() ? "no prediction was made." : inputs.predictionError;
    if (!inputs.setup || !inputs.prediction) {
        out.push_back(absent("workload", "Workload", why));
        out.push_back(absent("blockmap", "Block map", "it is drawn from a prediction's event log, and " + why));
        out.push_back(absent("prediction", "Prediction", why));
        return;
    }
    out.push_back(workloadSection(*inputs.plan, *inputs.setup));
    out.push_back(inputs.events ? blockMapSection(*inputs.prediction, *inputs.events, *inputs.setup, inputs.plan)
                                : absent("blockmap", "Block map", "the prediction kept no event log."));
    out.push_back(predictionSection(*inputs.setup, *inputs.prediction, inputs.plan));
    if (!inputs.predictionStale)
        return;
    for (auto section = out.end() - 3; section != out.end(); ++section) {
        section->blocks.insert(section->blocks.begin(),
            Paragraph {"~ Stale: this is of an earlier state of the plan, which was edited since.", true});
    }
}

/// Takes out what is not wanted; the first page says which sections that were.
void leaveOut(std::vector<Section>& sections, const std::vector<std::string>& ids)
{
    std::erase_if(sections, [&](const Section& section) {
        return !section.onCover && std::find(ids.begin(), ids.end(), section.id) != ids.end();
    });
}

} // namespace

Document makeReport(const ReportInputs& given)
{
    ReportInputs inputs = given;
    const Plan& plan = *inputs.plan;
    Document out;
    out.title = plan.document.title.empty() ? "Cache plan" : plan.document.title;
    out.subtitle = "Cache plan for review" + (plan.document.author.empty() ? "" : ", by " + plan.document.author);
    out.cover = coverOf(inputs);
    out.sections.push_back({});
    out.sections.push_back(identitySection(plan));
    out.sections.push_back(loadedSection(plan));
    out.sections.push_back(restsOnSection(inputs));
    std::vector<Section> formulas;
    if (inputs.estimate) {
        formulas = formulaSections(*inputs.estimate);
        out.sections.push_back(worksheetSection(plan, *inputs.estimate));
        out.sections.push_back(std::move(formulas.front()));
        out.sections.push_back(needSection(*inputs.estimate));
        out.sections.push_back(engineSection(plan, *inputs.estimate));
        out.sections.push_back(strategiesSection(*inputs.estimate));
    } else {
        for (const auto& [id, title] :
            {std::pair {"worksheet", "Worksheet"}, {"formulas", "Formulas"}, {"need", "From ideal need to engine need"},
                {"engine", "Engine and budget"}, {"strategies", "Allocation strategies"}})
            out.sections.push_back(absent(id, title, inputs.estimateError));
    }
    out.sections.push_back(tenantsSection(plan));
    out.sections.push_back(admissionSection(plan, inputs.setup));
    addPrediction(inputs, out.sections);
    out.sections.push_back(storedEvidenceSection(plan));
    out.sections.push_back(assumptionsSection(
        assumptionsOf(inputs), inputs.estimate ? inputs.estimate->formulaAssumptions : std::vector<std::string> {}));
    out.sections.push_back(problemsSection(inputs.estimate ? inputs.estimate->diagnostics : diagnose(plan)));
    out.sections.push_back(scopeSection());
    out.sections.push_back(sourcesSection(plan, inputs.estimate));
    if (!formulas.empty())
        out.sections.push_back(std::move(formulas.back()));
    // The first page names what is left out by its title.
    std::vector<std::string> titles;
    for (const Section& section : out.sections) {
        if (!section.onCover
            && std::find(given.leftOut.begin(), given.leftOut.end(), section.id) != given.leftOut.end())
            titles.push_back(section.title);
    }
    inputs.leftOut = std::move(titles);
    out.sections.front() = readFirstSection(inputs);
    leaveOut(out.sections, given.leftOut);
    out.footer = (plan.document.classification.empty() ? "" : plan.document.classification + " · ")
        + fmt::format("KV Workbench {} · plan {} · rules: {}", version(), planHash(plan).substr(0, 16),
            inputs.estimate ? inputs.estimate->engine.rules : "none");
    setTypographically(out);
    return out;
}

} // namespace kvw
