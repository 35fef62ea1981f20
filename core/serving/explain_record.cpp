// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/explain_record.h"

#include "serving/record_tables.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kvw {

namespace {

constexpr std::size_t mostTerms = 24; ///< a longer sum is told, not written out

/// A number that the run counted.
Quantity counted(std::string name, std::int64_t value, Unit unit)
{
    return input(std::move(name), value, unit, std::shared_ptr<const Source>());
}

/// The rest of `path` behind `prefix`; nothing when it does not begin so.
std::optional<std::string_view> behind(std::string_view path, std::string_view prefix)
{
    return path.starts_with(prefix) ? std::optional(path.substr(prefix.size())) : std::nullopt;
}

class Explainer
{
public:
    Explainer(const RunSetup& setup, const RunRecord& record)
        : m_setup(setup)
        , m_record(record)
    {}

    std::optional<Explanation> at(std::string_view path) const
    {
        for (const RunFigure& figure : runFigures) {
            if (path == figure.path)
                return ofRun(figure);
        }
        if (const auto outcome = behind(path, "outcomes."))
            return outcomeOf(*outcome, m_record.outcomes(), {});
        if (const auto rest = behind(path, "requests."))
            return ofRequest(*rest);
        for (const TenantRecord& tenant : m_record.tenants) {
            if (const auto rest = behind(path, "tenants." + tenant.id + "."))
                return ofTenant(tenant, *rest);
        }
        for (const bool warm : {false, true}) {
            if (const auto rest = behind(path, warm ? "warm." : "cold."))
                return ofLatency(*rest, warm);
        }
        return ofTotals(path);
    }

private:
    Explanation begin(std::string title, std::optional<Quantity> quantity) const
    {
        Explanation out;
        out.title = std::move(title);
        out.quantity = std::move(quantity);
        out.kind = Explanation::Kind::Prediction;
        out.of = fmt::format("{} of plan {}, {:.4f} of the planned blocks", m_record.kind,
            m_record.planHash.substr(0, 8), m_record.poolFraction);
        return out;
    }

    /// Ends every explanation the same way: by whose rules, of which requests.
    Explanation finish(Explanation out) const
    {
        out.facts.emplace_back("Rules", m_setup.behaviour.rule);
        out.facts.emplace_back("Workload",
            fmt::format("{} requests, frozen as {}", grouped(static_cast<std::int64_t>(m_record.requests.size())),
                m_record.workloadHash.substr(0, 8)));
        return out;
    }

    std::string wholeRun() const
    {
        return m_record.steps > 0 ? fmt::format("the whole run, steps 0 to {}", grouped(m_record.steps - 1))
                                  : std::string("the whole run, no step");
    }

    Explanation ofRun(const RunFigure& figure) const
    {
        Explanation out = begin(figure.title, counted(figure.title, m_record.*figure.value, figure.unit));
        out.facts = {{"What", figure.what}, {"Counted from", figure.from}};
        const bool last = std::string_view(figure.path).starts_with("final.");
        out.facts.emplace_back("When", last ? "after the last step" : wholeRun());
        return finish(std::move(out));
    }

    static Quantity outcomeCounted(Outcome outcome, std::int64_t count)
    {
        return counted(std::string(outcomeName(outcome)), count, Unit::Request);
    }

    std::optional<Explanation> outcomeOf(
        std::string_view name, const std::array<std::int64_t, outcomeCount>& counts, const std::string& tenant) const
    {
        static constexpr std::array<const char*, outcomeCount> events {"requests without an event that ends them",
            "Complete events", "Reject events", "Cancel events", "Fail events"};
        for (std::size_t i = 0; i < counts.size(); ++i) {
            const auto outcome = static_cast<Outcome>(i);
            if (name != outcomeName(outcome))
                continue;
            Explanation out = begin(fmt::format("requests {}{}", name, tenant), outcomeCounted(outcome, counts[i]));
            out.facts = {{"What", "Every request has exactly one outcome; together they are the requests offered."},
                {"Counted from", events[i]}, {"When", wholeRun()}};
            return finish(std::move(out));
        }
        return std::nullopt;
    }

    /// The sum as a formula, where it is short enough to be read.
    static Quantity total(std::string name, const std::vector<Quantity>& terms, std::int64_t value, Unit unit)
    {
        if (terms.empty() || terms.size() > mostTerms)
            return counted(std::move(name), value, unit);
        return named(sum(terms), std::move(name), unit);
    }

    Quantity ofTenants(const char* name, std::int64_t TenantRecord::*member, std::int64_t value) const
    {
        std::vector<Quantity> terms;
        for (const TenantRecord& tenant : m_record.tenants)
            terms.push_back(tenantTotal(tenant, name, member));
        return total(name, terms, value, Unit::Token);
    }

    Quantity tenantTotal(const TenantRecord& tenant, const char* name, std::int64_t TenantRecord::*member) const
    {
        const bool hits = member == &TenantRecord::hitTokens;
        std::vector<Quantity> terms;
        for (const RequestRecord& request : m_record.requests) {
            if (request.admitStep < 0 || m_record.tenants[request.tenant].id != tenant.id)
                continue;
            const std::int64_t value = hits ? request.hitTokens : request.promptTokens;
            if (value != 0)
                terms.push_back(counted(fmt::format("request {}", request.id), value, Unit::Token));
        }
        return total(fmt::format("{} of {}", name, tenant.id), terms, tenant.*member, Unit::Token);
    }

    std::optional<Explanation> ofTotals(std::string_view path) const
    {
        const RunTotals totals = m_record.totals();
        const auto outcomes = m_record.outcomes();
        const auto outcome
            = [&](Outcome which) { return outcomeCounted(which, outcomes[static_cast<std::size_t>(which)]); };
        const Quantity hits = ofTenants("prompt tokens by prefix hits", &TenantRecord::hitTokens, totals.hitTokens);
        const Quantity prompts = ofTenants("prompt tokens", &TenantRecord::promptTokens, totals.promptTokens);
        if (path == "offered" || path == "refused") {
            std::vector<Quantity> terms;
            for (const Outcome which :
                {Outcome::Completed, Outcome::Rejected, Outcome::Cancelled, Outcome::Failed, Outcome::Unfinished}) {
                if (path == "offered" || which == Outcome::Rejected || which == Outcome::Failed)
                    terms.push_back(outcome(which));
            }
            const std::string title = path == "offered" ? "requests offered" : "requests rejected or failed";
            Explanation out = begin(title, named(sum(terms), title, Unit::Request));
            out.facts = {
                {"What",
                    path == "offered"
                        ? "Requests of the workload. Nothing is dropped: their outcomes add up to it."
                        : "Requests that were turned away: rejected, or failed because no state could be had."},
                {"Counted from", path == "offered" ? "Arrive events" : "Reject and Fail events"}, {"When", wholeRun()}};
            return finish(std::move(out));
        }
        if (path == "peakStep") {
            Explanation out = begin("step with the most active blocks",
                counted("step with the most active blocks", m_record.peakStep(), Unit::Step));
            out.facts = {{"What", "The first step after which the most blocks were in a block table."},
                {"Counted from", "Allocate and Reference less Release and Drop events, after each step"}};
            return finish(std::move(out));
        }
        if (path == "hitTokens")
            return ofTokens("prompt tokens by prefix hits", hits, true, wholeRun());
        if (path == "promptTokens")
            return ofTokens("prompt tokens", prompts, false, wholeRun());
        if (path == "hitShare")
            return ofShare("share of prompt tokens by prefix hits", hits, prompts);
        return std::nullopt;
    }

    Explanation ofTokens(const std::string& title, const Quantity& quantity, bool hits, const std::string& when) const
    {
        Explanation out = begin(title, quantity);
        out.facts
            = {{"What",
                   hits ? "Prompt tokens that were served from the cache at an admission instead of computed, all "
                          "admissions of a request together. A warm hit saves prefill and nothing else."
                        : "Prompt tokens of the requests that were admitted."},
                {"Counted from", hits ? "Admit events, their value" : "Arrive events of requests with an Admit event"},
                {"When", when}};
        return finish(std::move(out));
    }

    Explanation ofShare(const std::string& title, const Quantity& hits, const Quantity& prompts) const
    {
        std::optional<Quantity> share;
        if (prompts.ok() && prompts.integer() > 0)
            share = named(ratio(hits, prompts), title, Unit::Ratio);
        Explanation out = begin(title, share);
        out.facts = {{"What", "Tokens from the cache over prompt tokens of admitted requests, both of this run."},
            {"Counted from", "Admit and Arrive events, their values"}, {"When", wholeRun()}};
        return finish(std::move(out));
    }

    std::optional<Explanation> ofTenant(const TenantRecord& tenant, std::string_view path) const
    {
        const Quantity hits = tenantTotal(tenant, "prompt tokens by prefix hits", &TenantRecord::hitTokens);
        const Quantity prompts = tenantTotal(tenant, "prompt tokens", &TenantRecord::promptTokens);
        if (path == "hitTokens")
            return ofTokens(hits.name(), hits, true, wholeRun());
        if (path == "promptTokens")
            return ofTokens(prompts.name(), prompts, false, wholeRun());
        if (path == "hitShare")
            return ofShare("share of prompt tokens by prefix hits, " + tenant.id, hits, prompts);
        if (path == "neverComputed")
            return ofNeverComputed(tenant);
        if (const auto outcome = behind(path, "outcomes."))
            return outcomeOf(*outcome, tenant.outcomes, ", " + tenant.id);
        const auto name = behind(path, "missCauses.");
        for (std::size_t i = 0; name && i < missCauseCount; ++i) {
            const auto cause = static_cast<MissCause>(i);
            if (*name != missCauseName(cause))
                continue;
            const std::string title = fmt::format("first misses of {}: {}", tenant.id, *name);
            Explanation out = begin(title, counted(title, tenant.missCauses[i], Unit::Request));
            out.facts = {{"What", missMeaning(cause)},
                {"Counted from", "first Admit event of each request: the cause of the first token that was not served"},
                {"When", wholeRun()}};
            return finish(std::move(out));
        }
        return std::nullopt;
    }

    Explanation ofNeverComputed(const TenantRecord& tenant) const
    {
        const std::string title = "prompt tokens never computed, " + tenant.id;
        Explanation out = begin(title, counted(title, tenant.neverComputed, Unit::Token));
        out.facts = {{"What",
                         "Prompt tokens of the tenant's completed requests that no admission had to compute: what a "
                         "live run finds never written."},
            {"Counted from", "Admit events: the least value of each completed request"}, {"When", wholeRun()}};
        return finish(std::move(out));
    }

    static const char* missMeaning(MissCause cause)
    {
        switch (cause) {
        case MissCause::None:
            return "Every token that the rules allow was served.";
        case MissCause::NeverSeen:
            return "No block with these tokens had been stored by anyone.";
        case MissCause::Evicted:
            return "A block with these tokens had been stored, and evicted since.";
        case MissCause::IdentityDiffers:
            return "The same tokens are stored, but in another sharing domain: not eligible.";
        case MissCause::BelowUnit:
            return "What would match is less than the unit in which this engine shares.";
        }
        return "";
    }

    std::optional<Explanation> ofRequest(std::string_view path) const
    {
        std::size_t number = 0;
        const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
        const std::string_view rest(end, static_cast<std::size_t>(path.data() + path.size() - end));
        if (error != std::errc() || !rest.starts_with('.') || number >= m_record.requests.size())
            return std::nullopt;
        const RequestRecord& request = m_record.requests[number];
        for (const RequestFigure& figure : requestFigures) {
            if (rest.substr(1) != figure.path)
                continue;
            const std::int64_t value = request.*figure.value;
            const std::string title = fmt::format("request {}: {}", request.id, figure.title);
            Explanation out = begin(title, std::nullopt);
            if (value >= 0) // steps that never came are −1
                out.quantity = counted(title, value, figure.unit);
            out.facts = {{"Counted from", figure.from}, {"When", spanOf(request)},
                {"Tenant", m_record.tenants[request.tenant].id},
                {"Outcome",
                    std::string(outcomeName(request.outcome)) + (request.reason.empty() ? "" : ": " + request.reason)}};
            return finish(std::move(out));
        }
        return std::nullopt;
    }

    static std::string spanOf(const RequestRecord& request)
    {
        std::string out = fmt::format("arrives in step {}", grouped(request.arrivalStep));
        out += request.admitStep < 0 ? ", never admitted" : fmt::format(", admitted in {}", grouped(request.admitStep));
        out += request.endStep < 0 ? ", has not ended" : fmt::format(", ends in {}", grouped(request.endStep));
        return out;
    }

    /// The value as that of the first request that has it.
    Quantity latencyOf(const Latency& latency, bool warm, std::int64_t value, std::string& whose) const
    {
        for (const RequestRecord& request : m_record.requests) {
            if (request.outcome != Outcome::Completed || request.warm != warm)
                continue;
            const Quantity first = counted(std::string("step of ") + latency.from, request.*latency.first, Unit::Step);
            const Quantity last = counted(std::string("step of ") + latency.to, request.*latency.last, Unit::Step);
            Quantity steps = last - first;
            if (latency.perToken)
                steps = request.outputTokens > 1
                    ? ceilDivide(steps, counted("output tokens", request.outputTokens, Unit::Token) - constant(1))
                    : constant(0);
            if (!steps.ok() || steps.integer() != value)
                continue;
            whose = fmt::format("request {}", request.id);
            return named(steps, latency.title, Unit::Step);
        }
        return counted(latency.title, value, Unit::Step);
    }

    std::optional<Explanation> ofLatency(std::string_view path, bool warm) const
    {
        const char* temperature = warm ? "warm" : "cold";
        for (const Latency& latency : latencies) {
            const auto rest = behind(path, std::string(latency.path) + ".");
            if (!rest)
                continue;
            const StepDistribution distribution = (m_record.*latency.of)(warm);
            const auto count = static_cast<std::int64_t>(distribution.sorted.size());
            if (*rest == "count") {
                const std::string title = fmt::format("completed {} requests", temperature);
                Explanation out = begin(title, counted(title, count, Unit::Request));
                out.facts = {{"What", temperatureMeaning(warm)}, {"Counted from", "Complete events"}};
                return finish(std::move(out));
            }
            for (const Share& share : shares) {
                if (*rest != share.path)
                    continue;
                Explanation out
                    = begin(fmt::format("{}, {}, {}", latency.title, temperature, share.title), std::nullopt);
                std::string whose;
                if (count > 0)
                    out.quantity = latencyOf(latency, warm, distribution.quantile(share.share), whose);
                out.facts = {{"What",
                    fmt::format("The least number of steps that at least {} of the {} completed {} requests do not "
                                "exceed, from {} to {}{}.",
                        share.share == 1        ? std::string("all")
                            : share.share > 0.5 ? fmt::format("{:.0f} %", share.share * 100)
                                                : std::string("half"),
                        grouped(count), temperature, latency.from, latency.to,
                        latency.perToken ? ", for each token after the first, rounded up" : "")}};
                if (!whose.empty())
                    out.facts.emplace_back("Taken from", whose + ", the first that has it");
                out.facts.emplace_back("Which requests", temperatureMeaning(warm));
                out.facts.emplace_back("Counted from", "Arrive, Admit and Complete events, their steps");
                out.facts.emplace_back("Not", "seconds: no coefficients are stated");
                return finish(std::move(out));
            }
        }
        return std::nullopt;
    }

    static std::string temperatureMeaning(bool warm)
    {
        return warm ? "Warm: at its first admission a request was served something from the cache."
                    : "Cold: at its first admission a request was served nothing from the cache.";
    }

    const RunSetup& m_setup;
    const RunRecord& m_record;
};

} // namespace

std::optional<Explanation> explainRecord(const RunSetup& setup, const RunRecord& record, std::string_view path)
{
    return Explainer(setup, record).at(path);
}

} // namespace kvw
