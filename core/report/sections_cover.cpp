// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "estimate/capacity.h"
#include "plan/identity.h"
#include "report/report_words.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kvw {

namespace {

/// "6.51 GiB" as number and unit.
Cover::Headline bytesHeadline(const char* title, const std::optional<Quantity>& quantity, std::string note)
{
    Cover::Headline out {title, "–", {}, std::move(note)};
    if (!quantity || !quantity->ok() || !quantity->isInteger())
        return out;
    const std::string text = format(Bytes(quantity->integer()));
    const std::size_t space = text.find(' ');
    out.value = text.substr(0, space);
    out.unit = text.substr(space + 1);
    return out;
}

std::string whyNoNeed(const Estimate& estimate)
{
    if (!estimate.engine.refusal.empty())
        return "the engine's rule refuses the plan";
    return estimate.engine.ranks.empty() ? "no engine chosen" : "not stated";
}

/// On what the figures that depend on ranks are: all of them together, so that they can be compared.
std::string basisOf(const EngineSizing& engine)
{
    return engine.ranks.size() > 1 ? fmt::format("all {} ranks", engine.ranks.size()) : "the one rank";
}

std::string derivedNote(const std::string& basis, const Quantity& quantity)
{
    return basis + (restsOnAssumption(quantity.derivation()) ? ", derived, rests on ◇" : ", derived");
}

Cover::Headline poolHeadline(const ReportInputs& inputs)
{
    const EngineSizing& engine = inputs.estimate->engine;
    if (engine.poolBytes && inputs.estimate->reservedBytes) {
        std::string note = basisOf(engine);
        if (engine.ranks.size() > 1)
            note += ", " + formatQuantity(*engine.poolBytes) + " each";
        return bytesHeadline("Pool", inputs.estimate->reservedBytes, std::move(note));
    }
    std::string note = whyNoNeed(*inputs.estimate);
    if (engine.refusal.empty() && !engine.ranks.empty())
        note = "memory is not stated";
    return bytesHeadline("Pool", std::nullopt, std::move(note));
}

/// Whole sequences, as the capacity of the plan counts them: blocks that are never given away carry none.
Cover::Headline fitHeadline(const ReportInputs& inputs)
{
    const Plan& plan = *inputs.plan;
    Cover::Headline out {"Fits", "–", {}, whyNoNeed(*inputs.estimate)};
    if (!plan.limits.maxModelLen)
        return out;
    const Result<LengthCapacity> capacity = capacityAt(plan, *plan.limits.maxModelLen);
    if (!capacity || !capacity->engineSequences || !capacity->engineSequences->ok())
        return out;
    const std::int64_t fit = capacity->engineSequences->integer();
    out.value = grouped(fit);
    out.unit = fit == 1 ? "sequence" : "sequences";
    out.note = fmt::format("of {} tokens; ", grouped(*plan.limits.maxModelLen));
    const std::optional<std::int64_t>& planned = plan.limits.concurrentSequences;
    out.note += planned
        ? fmt::format("{} planned: {}", grouped(*planned), *planned <= fit ? "they fit" : "they do not fit")
        : "concurrency is not stated";
    return out;
}

Cover::Headline evidenceHeadline(const Plan& plan)
{
    std::int64_t agree = 0;
    std::int64_t differ = 0;
    for (const EvidenceSummary& row : plan.evidence) {
        agree += row.verdict == verdictName(Verdict::Agrees) ? 1 : 0;
        differ += row.verdict == verdictName(Verdict::Differs) ? 1 : 0;
    }
    if (plan.evidence.empty())
        return {"Evidence", "none", {}, "nothing was measured"};
    const auto judged = agree + differ;
    const std::string rest
        = fmt::format("{} without verdict", static_cast<std::int64_t>(plan.evidence.size()) - judged);
    if (judged == 0)
        return {"Evidence", "–", {}, rest};
    const std::string hash = planHash(plan);
    const bool stale = std::any_of(plan.evidence.begin(), plan.evidence.end(), [&](const EvidenceSummary& row) {
        return std::any_of(plan.runs.begin(), plan.runs.end(),
            [&](const RunReference& run) { return run.id == row.run && run.planHash != hash; });
    });
    const std::string counts = fmt::format("{} {}, {}", differ, differ == 1 ? "differs" : "differ", rest);
    return {"Evidence", fmt::format("{}{} of {}", stale ? "~ " : "", agree, judged), "agree",
        stale ? "of an earlier plan; " + counts : counts};
}

std::string coverLine(const Plan& plan)
{
    std::string out = plan.model.name.empty() ? "model not stated" : plan.model.name;
    for (const IdentityRow& row : identityOf(plan)) {
        if (row.id == "engine_build")
            out += ", "
                + (plan.engine.name == "none"
                        ? "no engine (shape only)"
                        : row.text.value_or(
                            plan.engine.name.empty() ? "engine not stated" : engineTitle(plan) + ", build not stated"));
    }
    std::set<std::uint32_t> domains;
    for (const SharingDomain& domain : resolveDomains(plan))
        domains.insert(domain.id);
    if (plan.tenants.empty())
        return out + ", no tenants stated";
    return out + ", "
        + marked(plan, "tenants." + plan.tenants.front().id + ".sharingGroup",
            fmt::format("{} in {}", counted(static_cast<std::int64_t>(plan.tenants.size()), "tenant", "tenants"),
                counted(static_cast<std::int64_t>(domains.size()), "sharing domain", "sharing domains")));
}

void addFiles(const Plan& plan, Facts& facts)
{
    std::set<std::string> seen;
    for (const auto& [path, source] : plan.provenance.entries()) {
        const bool file = source->kind == Source::Kind::File;
        if ((!file && source->kind != Source::Kind::Library) || !seen.insert(source->name + source->sha256).second)
            continue;
        facts.rows.emplace_back(file ? "Model file" : "Library entry",
            source->name + (source->sha256.empty() ? "" : ", SHA-256 " + source->sha256)
                + (source->verified.empty() ? "" : ", verified " + source->verified));
    }
    if (seen.empty())
        facts.rows.emplace_back("Model file", "none: the shape was entered");
}

} // namespace

Assumptions assumptionsOf(const ReportInputs& inputs)
{
    Assumptions out;
    std::set<std::string> seen;
    const auto add = [&](const Assumptions& some, const char* mark) {
        for (const Assumption& assumption : some) {
            if (!seen.insert(assumption.id).second)
                continue;
            out.push_back(assumption);
            out.back().text.insert(0, mark);
        }
    };
    add(inputs.estimate ? inputs.estimate->assumptions : inputs.plan->assumptions, "");
    if (inputs.setup)
        add(inputs.setup->assumptions, inputs.predictionStale ? "~ Of the earlier plan that was predicted: " : "");
    return out;
}

Cover coverOf(const ReportInputs& inputs)
{
    Cover out;
    out.kicker = "Cache plan for review";
    out.classification = inputs.plan->document.classification;
    out.line = coverLine(*inputs.plan);
    if (inputs.estimate) {
        const Estimate& estimate = *inputs.estimate;
        out.strip.push_back(bytesHeadline("Ideal need", estimate.idealBytes,
            estimate.idealBytes ? derivedNote("the model once", *estimate.idealBytes)
                                : "configured maximum not stated"));
        const std::optional<Quantity>& need = estimate.engine.engineNeedBytes;
        out.strip.push_back(bytesHeadline(
            "Engine need", need, need ? derivedNote(basisOf(estimate.engine), *need) : whyNoNeed(estimate)));
        out.strip.push_back(poolHeadline(inputs));
        out.strip.push_back(fitHeadline(inputs));
    } else {
        for (const char* title : {"Ideal need", "Engine need", "Pool", "Fits"})
            out.strip.push_back({title, "–", {}, "there is no estimate"});
    }
    out.strip.push_back(evidenceHeadline(*inputs.plan));
    return out;
}

Section restsOnSection(const ReportInputs& inputs)
{
    const Plan& plan = *inputs.plan;
    Section out {"rests_on", "What this document rests on", {}, {}, true};
    Facts facts;
    facts.rows.emplace_back("Plan", "SHA-256 " + planHash(plan));
    addFiles(plan, facts);
    facts.rows.emplace_back("Rules", inputs.estimate ? inputs.estimate->engine.rules : "none");
    facts.rows.emplace_back("Workload",
        inputs.setup ? fmt::format("{}, {} requests, SHA-256 {}",
            marked(plan, "workload.requests", plan.workload.name.empty() ? "unnamed" : plan.workload.name),
            grouped(static_cast<std::int64_t>(inputs.setup->workload.requests.size())), inputs.setup->workload.sha256())
                     : "not generated");
    if (!inputs.prediction)
        facts.rows.emplace_back("Prediction", "none");
    else
        facts.rows.emplace_back("Prediction",
            inputs.predictionStale ? "~ stale: of an earlier state of the plan" : "current for this plan");
    if (plan.evidence.empty())
        facts.rows.emplace_back("Evidence", "none: no live run has been made for this plan");
    const std::string hash = planHash(plan);
    for (const RunReference& run : plan.runs) {
        facts.rows.emplace_back("Evidence",
            fmt::format("{}, {} on {}, {}{}", runText(run.id), run.kind, run.device,
                run.at.empty() ? "time not stated" : stampText(run.at),
                run.planHash == hash ? "" : "; ~ of an earlier state of the plan"));
    }
    out.blocks.emplace_back(std::move(facts));
    return out;
}

Section readFirstSection(const ReportInputs& inputs)
{
    Section out {"cover", "Read first", {}, {}, true};
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
    const Assumptions assumptions = assumptionsOf(inputs);
    if (assumptions.empty()) {
        bullets.items.emplace_back("No input is assumed; the formulas' own assumptions (full context, no sharing) are "
                                   "listed in the section Assumptions.");
    } else {
        constexpr std::size_t shown = 3;
        std::string texts;
        for (std::size_t i = 0; i < std::min(shown, assumptions.size()); ++i)
            texts += " " + assumptions[i].text;
        if (assumptions.size() > shown)
            texts += fmt::format(" And {} more, in the section Assumptions.", assumptions.size() - shown);
        bullets.items.push_back(fmt::format("◇ The figures rest on {} {}:{}", assumptions.size(),
            assumptions.size() == 1 ? "assumption" : "assumptions", texts));
    }
    std::string live
        = "A live run executes one rank of the plan at a fraction of its pool, without weights and projections.";
    if (!inputs.plan->runs.empty() && inputs.plan->runs.back().poolFraction)
        live = fmt::format(
            "The live run executed one rank of the plan at {} of its pool, without weights and projections.",
            percentText(*inputs.plan->runs.back().poolFraction));
    bullets.items.push_back(std::move(live));
    bullets.items.emplace_back("A salt does not authenticate, encrypt or complete isolation.");
    if (!inputs.leftOut.empty())
        bullets.items.push_back(
            fmt::format("Sections left out of this document on request: {}.", fmt::join(inputs.leftOut, ", ")));
    out.blocks.emplace_back(std::move(bullets));
    return out;
}

} // namespace kvw
