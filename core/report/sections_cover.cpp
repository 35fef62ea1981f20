// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "plan/identity.h"
#include "units/format.h"

#include <fmt/format.h>

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

Cover::Headline poolHeadline(const ReportInputs& inputs)
{
    const EngineSizing& engine = inputs.estimate->engine;
    std::string note = whyNoNeed(*inputs.estimate);
    if (engine.poolBytes) {
        note = engine.ranks.size() > 1 ? fmt::format("on each of {} ranks", engine.ranks.size()) : "on the one rank";
    } else if (engine.refusal.empty() && !engine.ranks.empty()) {
        note = "memory is not stated";
    }
    return bytesHeadline("Pool", engine.poolBytes, std::move(note));
}

Cover::Headline fitHeadline(const ReportInputs& inputs)
{
    const EngineSizing& engine = inputs.estimate->engine;
    Cover::Headline out {"Fits", "–", {}, whyNoNeed(*inputs.estimate)};
    if (!engine.maxConcurrency || !engine.maxConcurrency->ok())
        return out;
    out.value = formatQuantity(*engine.maxConcurrency);
    out.unit = "sequences";
    out.note = inputs.plan->limits.concurrentSequences
        ? fmt::format("{} planned{}", grouped(*inputs.plan->limits.concurrentSequences),
            !engine.fitsConcurrency       ? ""
                : *engine.fitsConcurrency ? ": they fit"
                                          : ": they do not fit")
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
    bool stale = false;
    for (const RunReference& run : plan.runs)
        stale = stale || (run.id == plan.evidence.front().run && run.planHash != hash);
    return {"Evidence", fmt::format("{}{} of {}", stale ? "~ " : "", agree, judged), "agree",
        stale ? "of an earlier plan" : fmt::format("{} {}, {}", differ, differ == 1 ? "differs" : "differ", rest)};
}

std::string coverLine(const Plan& plan)
{
    std::string out = plan.model.name.empty() ? "model not stated" : plan.model.name;
    for (const IdentityRow& row : identityOf(plan)) {
        if (row.id == "engine_build")
            out += ", " + row.text.value_or("engine not stated");
    }
    std::set<std::uint32_t> domains;
    for (const SharingDomain& domain : resolveDomains(plan))
        domains.insert(domain.id);
    if (plan.tenants.empty())
        return out + ", no tenants stated";
    return out
        + fmt::format(", {} {} in {} sharing {}", plan.tenants.size(), plan.tenants.size() == 1 ? "tenant" : "tenants",
            domains.size(), domains.size() == 1 ? "domain" : "domains");
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
    const auto add = [&](const Assumptions& some) {
        for (const Assumption& assumption : some) {
            if (seen.insert(assumption.id).second)
                out.push_back(assumption);
        }
    };
    add(inputs.estimate ? inputs.estimate->assumptions : inputs.plan->assumptions);
    if (inputs.setup)
        add(inputs.setup->assumptions);
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
        const bool assumed = estimate.idealBytes && restsOnAssumption(estimate.idealBytes->derivation());
        out.strip.push_back(bytesHeadline("Ideal need", estimate.idealBytes,
            !estimate.idealBytes ? "configured maximum not stated"
                : assumed        ? "derived, rests on ◇"
                                 : "derived"));
        const bool engineAssumed
            = estimate.engine.engineNeedBytes && restsOnAssumption(estimate.engine.engineNeedBytes->derivation());
        out.strip.push_back(bytesHeadline("Engine need", estimate.engine.engineNeedBytes,
            !estimate.engine.engineNeedBytes ? whyNoNeed(estimate)
                : engineAssumed              ? "derived, rests on ◇"
                                             : "derived"));
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
    facts.rows.emplace_back("Engine rules", inputs.estimate ? inputs.estimate->engine.rules : "none");
    facts.rows.emplace_back("Workload",
        inputs.setup ? fmt::format("{}, {} requests, SHA-256 {}",
            plan.workload.name.empty() ? "unnamed" : plan.workload.name,
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
            fmt::format("{}, {} on {}, {}{}", run.id, run.kind, run.device, run.at.empty() ? "time not stated" : run.at,
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
    bullets.items.emplace_back(
        "A live run executes one rank of the plan at a fraction of its pool, without weights and projections.");
    bullets.items.emplace_back("A salt does not authenticate, encrypt or complete isolation.");
    if (!inputs.leftOut.empty())
        bullets.items.push_back(
            fmt::format("Sections left out of this document on request: {}.", fmt::join(inputs.leftOut, ", ")));
    out.blocks.emplace_back(std::move(bullets));
    return out;
}

} // namespace kvw
