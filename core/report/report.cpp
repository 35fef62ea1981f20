// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "plan/identity.h"
#include "units/version.h"

#include <fmt/format.h>

namespace kvw {

namespace {

Section coverSection(const ReportInputs& inputs)
{
    Section out {"cover", "Read first", {}, {}};
    Bullets bullets;
    std::string missing;
    for (const IdentityRow& row : identityOf(*inputs.plan)) {
        if (!row.text)
            missing += (missing.empty() ? "" : ", ") + row.title;
    }
    if (!missing.empty())
        bullets.items.push_back("Not stated: " + missing + ".");
    if (inputs.estimate && !inputs.estimate->label.empty())
        bullets.items.push_back("The sizes are " + inputs.estimate->label + ".");
    bullets.items.emplace_back(
        "The figures rest on the assumptions that are listed below, each with the field that would replace it.");
    bullets.items.emplace_back(
        "A live run executes one rank of the plan at a fraction of its pool, without weights and projections.");
    bullets.items.emplace_back("A salt does not authenticate, encrypt or complete isolation.");
    out.blocks.emplace_back(std::move(bullets));
    return out;
}

Section absent(const char* id, const char* title, const std::string& why)
{
    return {id, title, {Paragraph {"There is none: " + why, true}}, {}};
}

} // namespace

Document makeReport(const ReportInputs& inputs)
{
    const Plan& plan = *inputs.plan;
    Document out;
    out.title = plan.document.title.empty() ? "Cache plan" : plan.document.title;
    out.subtitle = "Cache plan for review" + (plan.document.author.empty() ? "" : ", by " + plan.document.author);
    out.sections.push_back(coverSection(inputs));
    out.sections.push_back(identitySection(plan));
    out.sections.push_back(loadedSection(plan));
    if (inputs.estimate) {
        out.sections.push_back(worksheetSection(plan, *inputs.estimate));
        out.sections.push_back(needSection(*inputs.estimate));
        out.sections.push_back(engineSection(plan, *inputs.estimate));
        out.sections.push_back(strategiesSection(*inputs.estimate));
        out.sections.push_back(formulasSection(*inputs.estimate));
    } else {
        out.sections.push_back(absent("worksheet", "Worksheet", inputs.estimateError));
    }
    out.sections.push_back(tenantsSection(plan));
    out.sections.push_back(admissionSection(plan));
    if (inputs.setup && inputs.prediction) {
        out.sections.push_back(workloadSection(plan, *inputs.setup));
        out.sections.push_back(predictionSection(*inputs.setup, *inputs.prediction));
    } else {
        out.sections.push_back(absent("prediction", "Prediction", inputs.predictionError));
    }
    out.sections.push_back(storedEvidenceSection(plan));
    Assumptions assumptions = inputs.estimate ? inputs.estimate->assumptions : plan.assumptions;
    if (inputs.setup)
        assumptions.insert(assumptions.end(), inputs.setup->assumptions.begin(), inputs.setup->assumptions.end());
    out.sections.push_back(assumptionsSection(
        assumptions, inputs.estimate ? inputs.estimate->formulaAssumptions : std::vector<std::string> {}));
    out.sections.push_back(problemsSection(inputs.estimate ? inputs.estimate->diagnostics : diagnose(plan)));
    out.sections.push_back(scopeSection());
    out.sections.push_back(sourcesSection(plan, inputs.estimate));
    out.footer = fmt::format("KV Workbench {} · plan {} · rules: {}", version(), planHash(plan).substr(0, 16),
        inputs.estimate ? inputs.estimate->engine.rules : "none");
    return out;
}

} // namespace kvw
