// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/sections.h"

#include "plan/choices.h"
#include "plan/field_table.h"
#include "plan/identity.h"
#include "report/report_words.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kvw {

namespace {

std::string textOr(const std::string& text, const char* otherwise = "not stated")
{
    return text.empty() ? otherwise : text;
}

std::string fieldOf(const Plan& plan, const char* path)
{
    const Result<FieldReference> found = findField(const_cast<Plan&>(plan), path); // only read
    return found ? fieldDisplay(*found->field, found->slot) : "not stated";
}

} // namespace

Section identitySection(const Plan& plan)
{
    Section out {"identity", "Identity", {}, {}, true};
    Facts facts;
    for (const IdentityRow& row : identityOf(plan)) {
        const bool assumed = row.text && std::any_of(row.paths.begin(), row.paths.end(), [&](const std::string& path) {
            return isAssumed(plan, path);
        });
        facts.rows.emplace_back(row.title, (assumed ? "◇ " : "") + row.text.value_or("not stated"));
    }
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
        (plan.limits.concurrentSequences ? counted(*plan.limits.concurrentSequences, "sequence", "sequences")
                                         : "sequences not stated")
            + (plan.limits.maxModelLen ? " of up to "
                        + marked(plan, "limits.maxModelLen", counted(*plan.limits.maxModelLen, "token", "tokens"))
                                       : ", their length not stated")
            + (plan.engine.maxBatchedTokens
                    ? "; " + counted(*plan.engine.maxBatchedTokens, "token", "tokens") + " per batch"
                    : "; tokens per batch not stated"));
    out.blocks.emplace_back(std::move(facts));
    return out;
}

namespace {

/// The tenants' fields as the field table names and spells them.
Table tenantTable(const Plan& plan)
{
    static constexpr const char* fields[] {"sharingGroup", "eligibility", "identitySource", "saltSource", "retention",
        "tiers", "loggingBoundary", "guaranteedBlocks", "maximumBlocks"};
    Table out;
    out.columns = {{"Tenant"}};
    for (const char* field : fields) {
        const Result<FieldReference> found
            = findField(const_cast<Plan&>(plan), "tenants." + plan.tenants.front().id + "." + field); // only read
        const bool kept = std::string_view(field) == "retention"; // its time stands in the same cell
        out.columns.push_back({std::string(found.value().field->title) + (kept ? ", kept for" : ""),
            found.value().field->unit == Unit::Block});
    }
    for (const Tenant& tenant : plan.tenants) {
        const std::string base = "tenants." + tenant.id + ".";
        std::vector<std::string> row {marked(plan, base + "name", tenantName(&plan, tenant.id))};
        for (const char* field : fields) {
            std::string text = fieldOf(plan, (base + field).c_str());
            if (std::string_view(field) == "retention" && tenant.retentionSeconds)
                text += fmt::format(", {} s", grouped(*tenant.retentionSeconds));
            row.push_back(marked(plan, base + field, text));
        }
        out.rows.push_back(std::move(row));
    }
    out.caption = "Eligibility (who may hit) and retention (how long it stays) are two things. Guaranteed and maximum "
                  "are blocks.";
    return out;
}

Table trustMatrix(const Plan& plan)
{
    Table out;
    out.columns = {{"may hit what … stored"}};
    const std::vector<SharingDomain> domains = resolveDomains(plan);
    for (const Tenant& tenant : plan.tenants)
        out.columns.push_back({tenantName(&plan, tenant.id)});
    for (std::size_t i = 0; i < plan.tenants.size(); ++i) {
        std::vector<std::string> row {tenantName(&plan, plan.tenants[i].id)};
        for (std::size_t j = 0; j < plan.tenants.size(); ++j)
            row.push_back(i == j ? "own" : domains[i].id == domains[j].id ? "group" : "– never");
        out.rows.push_back(std::move(row));
    }
    out.caption = "Trust matrix: the row may hit what the column stored.";
    return out;
}

} // namespace

Section tenantsSection(const Plan& plan)
{
    Section out {"tenants", "Tenants and sharing", {},
        "The reader may conclude who is meant to reuse whose state, and by which key. Not that it holds: a stated rule "
        "is no proof. A salt does not authenticate, encrypt or complete isolation."};
    if (plan.tenants.empty()) {
        out.blocks.emplace_back(Paragraph {"No tenants are stated: all requests are in one sharing domain."});
        return out;
    }
    if (isAssumed(plan, "tenants." + plan.tenants.front().id + ".sharingGroup")) {
        out.blocks.emplace_back(Paragraph {
            "◇ Nobody stated these tenants: they are those of the first workload that a new plan is given.", true});
        out.conclusion = "The reader may conclude nothing about a deployment's tenants until they are stated; what is "
                         "marked ◇ only makes the prediction possible. A salt does not authenticate, encrypt or "
                         "complete isolation.";
    }
    out.blocks.emplace_back(tenantTable(plan));
    out.blocks.emplace_back(trustMatrix(plan));
    return out;
}

Section admissionSection(const Plan& plan, const RunSetup* setup)
{
    Section out {"admission", "Admission", {},
        "The reader may conclude what is to happen to a request that finds no blocks. Not that the engine was started "
        "so."};
    Facts facts;
    bool open = false;
    const auto add = [&](const char* path, const std::string& taken) {
        const std::string text = fieldOf(plan, path);
        const bool missing = text == "not stated";
        open = open || missing;
        facts.rows.emplace_back(
            fieldTitle(path), missing && setup ? text + "; the prediction takes: " + taken : marked(plan, path, text));
    };
    const SchedulerSettings none;
    const SchedulerSettings& taken = setup ? setup->scheduler : none;
    add("admission.whenExhausted",
        std::string(choiceTitle(whenExhaustedNames(), static_cast<std::size_t>(taken.whenExhausted))));
    add("admission.reservation",
        std::string(choiceTitle(reservationNames(), static_cast<std::size_t>(taken.reservation))));
    add("admission.maxWaitSteps", taken.maxWaitSteps ? counted(*taken.maxWaitSteps, "step", "steps") : "no limit");
    add("engine.maxBatchedTokens", counted(taken.maxBatchedTokens, "token", "tokens"));
    add("engine.maxSequences", counted(taken.maxSequences, "sequence", "sequences"));
    add("reuse.prefixCaching", setup && setup->behaviour.prefixCaching ? "on" : "off");
    facts.caption = "How requests are let in, and what happens when no block is free.";
    out.blocks.emplace_back(std::move(facts));
    if (open)
        out.conclusion += plan.engine.name.empty() || plan.engine.name == "none"
            ? " What is not stated is open: without an engine there is no default either."
            : " What is not stated is left to the engine's default, which this document does not know.";
    return out;
}

Section assumptionsSection(const Assumptions& assumptions, const std::vector<std::string>& ofTheFormula)
{
    Section out {"assumptions", "Assumptions", {},
        assumptions.empty() ? "The reader may conclude that no input stands for one that nobody stated. What the "
                              "formulas assume holds all the same."
                            : "The reader may replace an assumption by stating the field that is named with it. A "
                              "number that rests on one is as good as the assumption."};
    if (!ofTheFormula.empty()) {
        out.blocks.emplace_back(Paragraph {"The formulas assume, whatever the plan states:"});
        out.blocks.emplace_back(Bullets {ofTheFormula});
    }
    Bullets bullets;
    std::set<std::string> seen;
    for (const Assumption& assumption : assumptions) {
        if (seen.insert(assumption.id).second)
            bullets.items.push_back("◇ " + assumption.text
                + (assumption.path.empty() ? "" : " To replace it, state: " + fieldTitle(assumption.path) + "."));
    }
    if (!bullets.items.empty()) {
        out.blocks.emplace_back(Paragraph {"Taken in the place of what the plan does not state:"});
        out.blocks.emplace_back(std::move(bullets));
    } else if (ofTheFormula.empty()) {
        out.blocks.emplace_back(Paragraph {"None."});
    } else {
        out.blocks.emplace_back(Paragraph {"No input is assumed."});
    }
    return out;
}

Section problemsSection(const Diagnostics& diagnostics)
{
    Section out {"problems", "Problems", {},
        diagnostics.empty()
            ? "The reader may conclude that the plan was checked and nothing was found; that does not prove it right."
            : "The reader may conclude what the checks of the plan found; that they found no more does not prove the "
              "rest right."};
    Bullets bullets;
    // What is missing of the identity is one problem, with one consequence.
    const std::string tail = ": not stated. A reviewer cannot tell which deployment the plan describes.";
    std::string missing;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (diagnostic.id.starts_with("identity.") && diagnostic.message.ends_with(tail)) {
            missing += (missing.empty() ? "" : ", ")
                + diagnostic.message.substr(0, diagnostic.message.size() - tail.size());
            continue;
        }
        bullets.items.push_back(fmt::format("{}: {}{}", severityName(diagnostic.severity), diagnostic.message,
            diagnostic.path.empty() ? "" : " Field: " + fieldTitle(diagnostic.path) + "."));
    }
    if (!missing.empty())
        bullets.items.insert(bullets.items.begin(),
            fmt::format("{}: not stated: {}. A reviewer cannot tell which deployment the plan describes.",
                severityName(Severity::Warning), missing));
    if (bullets.items.empty())
        out.blocks.emplace_back(Paragraph {"None."});
    else
        out.blocks.emplace_back(std::move(bullets));
    return out;
}

Section scopeSection()
{
    Section out {"scope", "Scope and limits", {},
        "The reader may conclude what was looked at. What is not named in this document was not examined."};
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
    if (!sourceKindName(source.kind).ends_with(source.name)) // "engine default" needs no "default"
        add(source.kind == Source::Kind::Assumption ? ": " : " ", source.name);
    add(", ", source.at);
    if (!source.sha256.empty())
        out += ", SHA-256 " + source.sha256.substr(0, 12) + "…";
    add(", verified ", source.verified);
    add("; ", source.note);
    return out;
}

namespace {

constexpr const char* forNumbers = "numbers";
constexpr const char* forBackground = "background";

/// Publications behind what the report says in general about isolation and reuse. A date by an identifier is said to be
/// that.
void addBackground(Table& table)
{
    struct Row
    {
        const char* source;
        const char* says;
        const char* published;
    };
    static constexpr Row rows[] {
        {"CVE-2025-46570 (GHSA-4qjh-9fv9-r85r); vllm-project/vllm#17045",
            "A prefix hit shows in the time to the first token; a salt in the request keeps callers apart.",
            "2025, by the identifier"},
        {"vllm-project/vllm#53347", "The salt is a field that the caller writes: a trusted gateway has to set it.",
            "not stated in the source"},
        {"arXiv 2411.18191, as quoted in vllm-project/vllm#39082", "How clear the timing signal is.",
            "2024-11, by the identifier"},
        {"arXiv 2502.07776 (ICML 2025)", "State has been shared between callers of public services.",
            "2025-02, by the identifier"},
        {"OWASP AISVS 5.5.5 (OWASP/AISVS#210)",
            "Reuse across principals is to be prevented by partitions of authenticated tenants.",
            "not stated in the source"},
    };
    for (const Row& row : rows)
        table.rows.push_back({row.source, forBackground, row.says, row.published, "quoted, not checked"});
}

/// What the plan's numbers rest on, each source once, with all places in it that were used.
class NumberSources
{
public:
    void add(const Source& source)
    {
        if (source.kind == Source::Kind::User || source.kind == Source::Kind::Definition
            || source.kind == Source::Kind::Assumption)
            return;
        const auto same = [&](const Entry& one) {
            return one.source.kind == source.kind && one.source.name == source.name
                && one.source.sha256 == source.sha256;
        };
        auto found = std::find_if(m_entries.begin(), m_entries.end(), same);
        if (found == m_entries.end())
            found = m_entries.insert(m_entries.end(), {source, {}});
        if (!source.at.empty() && source.kind == Source::Kind::EngineRule)
            found->places.insert(source.at);
        if (!source.at.empty() && source.kind == Source::Kind::Library) // where the entry has it from, how far it goes
            found->places.insert(source.at + (source.note.empty() ? "" : ": " + source.note));
    }

    void addTo(Table& table) const
    {
        for (const Entry& entry : m_entries) {
            const Source& source = entry.source;
            const std::string kind(sourceKindName(source.kind));
            std::string detail = source.sha256.empty() ? "" : "SHA-256 " + source.sha256;
            if (!entry.places.empty())
                detail = fmt::format("{}", fmt::join(entry.places, "; "));
            table.rows.push_back({kind + ": " + source.name, forNumbers, detail.empty() ? "–" : detail,
                source.published.empty() ? "not stated in the source" : source.published,
                !source.verified.empty()     ? source.verified
                    : !source.sha256.empty() ? "when read, by the digest"
                                             : "not checked"});
        }
    }

    bool empty() const { return m_entries.empty(); }

private:
    struct Entry
    {
        Source source;
        std::set<std::string> places;
    };
    std::vector<Entry> m_entries;
};

} // namespace

Section sourcesSection(const Plan& plan, const Estimate* estimate)
{
    Section out {"sources", "Sources", {}, {}};
    NumberSources numbers;
    for (const auto& [path, source] : plan.provenance.entries())
        numbers.add(*source);
    if (estimate) {
        for (const auto& [path, quantity] : figuresOf(*estimate)) {
            if (quantity.derivation()->source)
                numbers.add(*quantity.derivation()->source);
            for (const Derivation& input : inputsOf(quantity.derivation())) {
                if (input->source)
                    numbers.add(*input->source);
            }
        }
    }
    Table table;
    table.columns = {{"Source"}, {"Used for"}, {"What of it"}, {"Published"}, {"Verified"}};
    numbers.addTo(table);
    addBackground(table);
    table.caption
        = "Numbers: figures of this plan rest on it. Background: what is said about isolation and reuse rests "
          "on it, and no figure does. Published: of the file or code that was used. Verified: the day on "
          "which the product's authors compared the rule with it; quoted, not checked: taken over from the "
          "place that is named.";
    if (numbers.empty()) {
        out.blocks.emplace_back(
            Paragraph {"Every number was entered; no file, library or engine rule is behind the plan."});
        out.conclusion = "The reader may look up the background. For the numbers there is nothing to look up: who "
                         "entered them answers for them.";
    } else {
        out.conclusion
            = "The reader may look up every source and, by digest or revision, know that it is the same one. "
              "Not that a source is right, nor that a later edition says the same.";
    }
    out.blocks.emplace_back(std::move(table));
    return out;
}

} // namespace kvw
