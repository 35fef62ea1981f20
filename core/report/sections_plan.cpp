// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "plan/choices.h"
#include "plan/field_table.h"
#include "plan/identity.h"
#include "units/format.h"

#include <fmt/format.h>

#include <set>

namespace kvw {

namespace {

std::string textOr(const std::string& text, const char* otherwise = "not stated")
{
    return text.empty() ? otherwise : text;
}

template <typename Choice>
std::string choiceText(Choice choice, std::span<const std::string_view> names)
{
    return textOr(std::string(names[static_cast<std::size_t>(choice)]));
}

std::string countText(const std::optional<std::int64_t>& count, const char* unit = "")
{
    return count ? grouped(*count) + unit : "not stated";
}

std::string fieldOf(const Plan& plan, const char* path)
{
    const Result<FieldReference> found = findField(const_cast<Plan&>(plan), path); // only read
    return found ? fieldDisplay(*found->field, found->slot) : "not stated";
}

std::string titleOf(const Plan& plan, const char* path)
{
    const Result<FieldReference> found = findField(const_cast<Plan&>(plan), path); // only read
    return found ? std::string(found->field->title) : path;
}

Facts factsFor(const Plan& plan, std::initializer_list<const char*> paths)
{
    Facts out;
    for (const char* path : paths)
        out.rows.emplace_back(titleOf(plan, path), fieldOf(plan, path));
    return out;
}

} // namespace

Section identitySection(const Plan& plan)
{
    Section out {"identity", "Identity", {}, {}, true};
    Facts facts;
    for (const IdentityRow& row : identityOf(plan))
        facts.rows.emplace_back(row.title, row.text.value_or("not stated"));
    out.blocks.emplace_back(std::move(facts));
    if (plan.model.basis == ModelBasis::Hypothetical)
        out.blocks.emplace_back(
            Paragraph {"The shape is hypothetical: what follows is shape arithmetic, not a GPU fit.", true});
    return out;
}

Section loadedSection(const Plan& plan)
{
    Section out {"loaded", "Loaded, and what may stay active", {}, {}, true};
    Facts facts;
    std::string weights = fieldOf(plan, "loaded.weightBytes");
    if (plan.loaded.weightBytes)
        weights
            += fmt::format(" ({} B); source: {}", grouped(*plan.loaded.weightBytes), textOr(plan.loaded.weightSource));
    facts.rows.emplace_back("Weights", weights);
    facts.rows.emplace_back("Work",
        fmt::format("{} of up to {}; {} per batch", countText(plan.limits.concurrentSequences, " sequences"),
            countText(plan.limits.maxModelLen, " tokens"), countText(plan.engine.maxBatchedTokens, " tokens")));
    out.blocks.emplace_back(std::move(facts));
    return out;
}

Section tenantsSection(const Plan& plan)
{
    Section out {"tenants", "Tenants and sharing", {},
        "The reader may conclude who is meant to reuse whose state, and by which key. Not that it holds: a stated rule "
        "is "
        "no proof. A salt does not authenticate, encrypt or complete isolation."};
    if (plan.tenants.empty()) {
        out.blocks.emplace_back(Paragraph {"No tenants are stated: all requests are in one sharing domain."});
        return out;
    }
    Table table;
    table.columns = {{"Tenant"}, {"Sharing group"}, {"Who may hit its state"}, {"Identity comes by"}, {"Salt made by"},
        {"Retention"}, {"Tiers"}, {"Logging boundary"}, {"Guaranteed", true}, {"Maximum", true}};
    for (const Tenant& tenant : plan.tenants) {
        std::string retention = choiceText(tenant.retention, retentionNames());
        if (tenant.retentionSeconds)
            retention += fmt::format(" {} s", grouped(*tenant.retentionSeconds));
        table.rows.push_back({tenant.name.empty() ? tenant.id : tenant.name, textOr(tenant.sharingGroup),
            choiceText(tenant.eligibility, eligibilityNames()),
            choiceText(tenant.identitySource, identitySourceNames()), choiceText(tenant.saltSource, saltSourceNames()),
            retention, textOr(tenant.tiers), choiceText(tenant.loggingBoundary, loggingBoundaryNames()),
            countText(tenant.guaranteedBlocks), countText(tenant.maximumBlocks)});
    }
    table.caption = "Eligibility (who may hit) and retention (how long it stays) are two things. Guaranteed and "
                    "maximum are blocks.";
    out.blocks.emplace_back(std::move(table));

    Table matrix;
    matrix.columns = {{"may hit what … stored"}};
    const std::vector<SharingDomain> domains = resolveDomains(plan);
    for (const Tenant& tenant : plan.tenants)
        matrix.columns.push_back({tenant.id});
    for (std::size_t i = 0; i < plan.tenants.size(); ++i) {
        std::vector<std::string> row {plan.tenants[i].id};
        for (std::size_t j = 0; j < plan.tenants.size(); ++j)
            row.push_back(i == j ? "own" : domains[i].id == domains[j].id ? "group" : "never");
        matrix.rows.push_back(std::move(row));
    }
    matrix.caption = "Trust matrix: the row may hit what the column stored.";
    out.blocks.emplace_back(std::move(matrix));
    return out;
}

Section admissionSection(const Plan& plan)
{
    Section out {"admission", "Admission", {},
        "The reader may conclude what is to happen to a request that finds no blocks. What is not stated is the "
        "engine's "
        "own default."};
    out.blocks.emplace_back(factsFor(plan,
        {"admission.whenExhausted", "admission.reservation", "admission.maxWaitSteps", "engine.maxBatchedTokens",
            "engine.maxSequences", "reuse.prefixCaching"}));
    return out;
}

Section assumptionsSection(const Assumptions& assumptions, const std::vector<std::string>& ofTheFormula)
{
    Section out {"assumptions", "Assumptions", {},
        "Each of these may be replaced by stating the field in brackets. A number that rests on one of them is as good "
        "as "
        "the assumption."};
    Bullets bullets;
    std::set<std::string> seen;
    for (const std::string& text : ofTheFormula)
        bullets.items.push_back("By the formula: " + text);
    for (const Assumption& assumption : assumptions) {
        if (seen.insert(assumption.id).second)
            bullets.items.push_back(
                "◇ " + assumption.text + (assumption.path.empty() ? "" : " [" + assumption.path + "]"));
    }
    if (bullets.items.empty())
        out.blocks.emplace_back(Paragraph {"None."});
    else
        out.blocks.emplace_back(std::move(bullets));
    return out;
}

Section problemsSection(const Diagnostics& diagnostics)
{
    Section out {"problems", "Problems", {},
        "The reader may conclude that the plan was checked for these; an empty list does not prove it right."};
    Bullets bullets;
    for (const Diagnostic& diagnostic : diagnostics) {
        bullets.items.push_back(fmt::format("{}: {}{}", severityName(diagnostic.severity), diagnostic.message,
            diagnostic.path.empty() ? "" : " [" + diagnostic.path + "]"));
    }
    if (bullets.items.empty())
        out.blocks.emplace_back(Paragraph {"None."});
    else
        out.blocks.emplace_back(std::move(bullets));
    return out;
}

Section scopeSection()
{
    Section out {"scope", "Scope and limits", {}, "What is not named in this document was not examined."};
    out.blocks.emplace_back(Bullets {{
        "State only: there are no weights and no projections in a live run, so it says nothing about a model's answers "
        "or its speed.",
        "A live run executes one rank of the plan at the pool fraction that it states; no figure is multiplied up from "
        "it.",
        "A warm hit saves prefill; it is credited with no faster decoding.",
        "Steps are not seconds: without measured coefficients for model, device and engine no times are predicted.",
        "Available memory and the longest possible request are two figures, each with its own reason.",
        "Sizes are never divided by the number of devices; each rank has its own, by the engine's sharding rule.",
        "A salt does not authenticate, encrypt or complete isolation.",
        "Figures from published papers and logs are history of their own machines and versions: they rank nothing "
        "here.",
        "CUDA devices: not built yet, never run on a GPU.",
    }});
    return out;
}

std::string sourceText(const Source& source)
{
    std::string out(sourceKindName(source.kind));
    const auto add = [&](const char* before, const std::string& text) {
        if (!text.empty())
            out += before + text;
    };
    add(" ", source.name);
    add(", ", source.at);
    if (!source.sha256.empty())
        out += ", SHA-256 " + source.sha256.substr(0, 12) + "…";
    add(", verified ", source.verified);
    add("; ", source.note);
    return out;
}

namespace {

/// Publications behind what the report says in general: about isolation, reuse and the engine's rules. A date by an
/// identifier is said to be that.
Table backgroundTable()
{
    Table out;
    out.columns = {{"Statement"}, {"Source"}, {"Published"}, {"Verified"}};
    out.rows = {
        {"The engine's sizing rules", "vLLM's own sizing code, executed on 267 cases: neuralmagic/vllm@017e9f44",
            "2026-08-17", "2026-11-30"},
        {"A prefix hit shows in the time to the first token; a salt in the request keeps callers apart",
            "CVE-2025-46570 (GHSA-4qjh-9fv9-r85r); vllm-project/vllm#17045", "2025, by the identifier",
            "quoted, not checked"},
        {"The salt is a field that the caller writes: a trusted gateway has to set it", "vllm-project/vllm#53347",
            "not stated in the source", "quoted, not checked"},
        {"How clear the timing signal is", "arXiv 2411.18191, as quoted in vllm-project/vllm#39082",
            "2024-11, by the identifier", "quoted, not checked"},
        {"State has been shared between callers of public services", "arXiv 2502.07776 (ICML 2025)",
            "2025-02, by the identifier", "quoted, not checked"},
        {"Reuse across principals is to be prevented by partitions of authenticated tenants",
            "OWASP AISVS 5.5.5 (OWASP/AISVS#210)", "not stated in the source", "quoted, not checked"},
    };
    out.caption
        = "Background of what this document says about isolation and reuse; no number of the plan comes from it.";
    return out;
}

} // namespace

Section sourcesSection(const Plan& plan, const Estimate* estimate)
{
    Section out {"sources", "Sources", {},
        "The reader may look up every source; a date of verification is the day on which the product's authors "
        "compared "
        "the rule with it."};
    Table table;
    table.columns = {{"Kind"}, {"Source"}, {"SHA-256"}, {"Published"}, {"Verified"}};
    std::set<std::string> seen;
    const auto add = [&](const Source& source) {
        if (source.kind == Source::Kind::User || source.kind == Source::Kind::Definition
            || source.kind == Source::Kind::Assumption)
            return;
        const bool rule = source.kind == Source::Kind::EngineRule;
        const std::string name = rule && !source.at.empty() ? source.name + ": " + source.at : source.name;
        if (!seen.insert(name + source.sha256).second)
            return;
        table.rows.push_back(
            {std::string(sourceKindName(source.kind)), name, source.sha256.empty() ? "–" : source.sha256,
                source.published.empty() ? "not stated in the source" : source.published,
                source.verified.empty() ? "–" : source.verified});
    };
    for (const auto& [path, source] : plan.provenance.entries())
        add(*source);
    if (estimate) {
        for (const auto& [path, quantity] : figuresOf(*estimate)) {
            if (quantity.derivation()->source)
                add(*quantity.derivation()->source);
        }
    }
    table.caption = "What this plan's numbers rest on.";
    if (table.rows.empty())
        out.blocks.emplace_back(
            Paragraph {"Every number was entered; no file, library or engine rule is behind the plan."});
    else
        out.blocks.emplace_back(std::move(table));
    out.blocks.emplace_back(backgroundTable());
    return out;
}

} // namespace kvw
