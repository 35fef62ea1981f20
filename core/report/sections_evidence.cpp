// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/identity.h"
#include "report/report_words.h"
#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace kvw {

namespace {

constexpr const char* exactPrefix = "−0 … +0: ";

constexpr double manyBytes = 1024.0 * 1024; ///< from here on bytes are rounded, and exact in a note

/// A figure of a row: counts exact in the unit that the row's name says, bytes with their unit, rates as rates.
std::string figureText(const std::optional<double>& value, const std::string& unit, bool signs)
{
    if (!value)
        return "–";
    if (unit == unitName(Unit::BytesPerSecond))
        return formatRate(*value);
    const auto whole = static_cast<std::int64_t>(*value);
    const bool exact = *value == static_cast<double>(whole);
    const bool bytes = unit == unitName(Unit::Byte);
    if (bytes && !signs && *value >= manyBytes)
        return format(Bytes(whole));
    std::string out = exact ? grouped(whole) : fmt::format("{:.2f}", *value);
    if (out.starts_with('-'))
        out = "−" + out.substr(1);
    else if (signs && *value > 0)
        out = "+" + out;
    return bytes ? out + " B" : out;
}

/// What the table rounds: "Exact bytes, measured: Pool bytes reserved 127,926,272."
std::string exactBytes(const std::vector<EvidenceSummary>& rows)
{
    std::string out;
    for (const EvidenceSummary& row : rows) {
        if (row.unit == unitName(Unit::Byte) && row.measured && *row.measured >= manyBytes)
            out += fmt::format("{}{} {}", out.empty() ? "Exact bytes, measured: " : "; ", row.title,
                grouped(static_cast<std::int64_t>(*row.measured)));
    }
    return out.empty() ? out : out + ".";
}

/// Texts that hold for several rows, each once, with the rows that it holds for.
class Notes
{
public:
    void add(const std::string& text, const std::string& row)
    {
        const auto found
            = std::find_if(m_notes.begin(), m_notes.end(), [&](const auto& one) { return one.first == text; });
        if (found == m_notes.end())
            m_notes.emplace_back(text, row);
        else
            found->second += ", " + row;
    }

    void addTo(Bullets& bullets) const
    {
        for (const auto& [text, rows] : m_notes)
            bullets.items.push_back(fmt::format("{}: {}.", rows, text));
    }

private:
    std::vector<std::pair<std::string, std::string>> m_notes;
};

/// "−0 … +4095: whole pages" for people: "up to 4,095 B more: whole pages".
std::string toleranceText(const EvidenceSummary& row)
{
    const std::string& text = row.tolerance;
    const std::size_t plus = text.find(" … +");
    const std::size_t colon = text.find(": ");
    if (!text.starts_with("−") || plus == std::string::npos || colon == std::string::npos || colon < plus)
        return "tolerance " + text;
    if (row.unit == unitName(Unit::BytesPerSecond))
        return text.substr(colon + 2);
    const std::string minus("−");
    const std::string below = text.substr(minus.size(), plus - minus.size());
    const std::size_t from = plus + std::string(" … +").size();
    const std::string above = text.substr(from, colon - from);
    const auto size = [&](const std::string& digits) {
        const Result<std::int64_t> value = parseCount(digits);
        return value ? grouped(*value) + (row.unit == unitName(Unit::Byte) ? " B" : "") : digits;
    };
    std::string out = "tolerance ";
    if (below != "0")
        out += "up to " + size(below) + " less, ";
    out += "up to " + size(above) + " more";
    return out + text.substr(colon);
}

Table rowTable(const std::vector<EvidenceSummary>& rows, const std::function<bool(const EvidenceSummary&)>& isStale)
{
    Table out;
    out.columns = {{"Row"}, {"Estimate", true}, {"Prediction", true}, {"Measured", true}, {"Difference", true},
        {"Verdict"}, {"Instrument"}};
    for (const EvidenceSummary& row : rows) {
        const bool rate = row.unit == unitName(Unit::BytesPerSecond);
        out.rows.push_back(
            {row.title, figureText(row.estimated, row.unit, false), figureText(row.predicted, row.unit, false),
                figureText(row.measured, row.unit, false), rate ? "–" : figureText(row.difference, row.unit, true),
                (isStale(row) ? "~ " : "") + verdictText(row.verdict), row.instrument});
    }
    return out;
}

std::string countsText(const std::vector<EvidenceSummary>& rows)
{
    const VerdictCounts counts = countVerdicts(rowsOf(rows));
    std::string out
        = fmt::format("{} {}, {} {}, {} without verdict", counts.agrees, counts.agrees == 1 ? "agrees" : "agree",
            counts.differs, counts.differs == 1 ? "differs" : "differ", counts.withoutVerdict());
    std::string why;
    const auto add = [&](std::int64_t count, Verdict verdict) {
        if (count > 0)
            why += fmt::format("{}{} {}", why.empty() ? "" : ", ", count, verdictName(verdict));
    };
    add(counts.sameCounter, Verdict::SameCounter);
    add(counts.notTested, Verdict::NotTested);
    add(counts.notComparable, Verdict::NotComparable);
    return out + (why.empty() ? "" : " (" + why + ")") + ".";
}

Bullets notesOf(const std::vector<EvidenceSummary>& rows)
{
    Bullets out;
    Notes tolerances;
    Notes reasons;
    bool exact = false;
    for (const EvidenceSummary& row : rows) {
        if (row.tolerance.starts_with(exactPrefix))
            exact = true;
        else if (!row.tolerance.empty())
            tolerances.add(toleranceText(row), row.title);
        if (!row.reason.empty())
            reasons.add(verdictText(row.verdict) + ", since " + row.reason, row.title);
    }
    if (exact)
        out.items.emplace_back(
            "Tolerance 0 where nothing else is said: a count has no spread, and any difference would "
            "be an error.");
    if (const std::string exactly = exactBytes(rows); !exactly.empty())
        out.items.push_back(exactly);
    tolerances.addTo(out);
    reasons.addTo(out);
    return out;
}

void addRows(Section& out, std::vector<EvidenceSummary> rows,
    const std::function<bool(const EvidenceSummary&)>& isStale, const std::string& caption)
{
    // What differs must be seen first.
    std::stable_partition(rows.begin(), rows.end(),
        [](const EvidenceSummary& row) { return row.verdict == verdictName(Verdict::Differs); });
    Table table = rowTable(rows, isStale);
    table.caption = countsText(rows) + " " + caption;
    out.blocks.emplace_back(std::move(table));
    out.blocks.emplace_back(notesOf(rows));
}

} // namespace

Section evidenceSection(const std::vector<EvidenceRow>& rows, const RunSetup& setup, const LiveRun* live)
{
    Section out {"evidence", "Evidence", {},
        "Agreement holds for one rank at this pool fraction, on this device; no weights and no projections ran."};
    addRows(
        out, summaries(rows, "run"), [](const EvidenceSummary&) { return false; },
        "All of the same scaled plan: " + percentText(setup.poolFraction) + " of the planned blocks.");
    if (live) {
        const DeviceInfo& device = live->readings.device;
        out.blocks.emplace_back(Facts {
            {{"Device", device.id + ", " + device.name}, {"Rank", fmt::format("{} of the plan", setup.layout.rank)},
                {"Memory of the device",
                    fmt::format("{} available of {} ({})", format(Bytes(device.availableBytes)),
                        format(Bytes(device.totalBytes)), device.memorySource)}}});
        if (!live->status)
            out.blocks.emplace_back(Paragraph {"The run stopped early: " + live->status.error().text(), true});
    }
    return out;
}

Section storedEvidenceSection(const Plan& plan)
{
    Section out {"evidence", "Evidence", {},
        "Nothing may be concluded about any device: no run was made, so nothing agrees and nothing differs."};
    if (plan.evidence.empty()) {
        out.blocks.emplace_back(
            Paragraph {"No live run has been made for this plan: nothing in it has been measured."});
        return out;
    }
    out.conclusion = "The reader may conclude that where a row agrees, the plan's arithmetic held on one rank at the "
                     "run's pool fraction, on its device. Not more: no weights and no projections ran, and a row "
                     "without verdict shows nothing.";
    const std::string hash = planHash(plan);
    Facts runs;
    for (const RunReference& run : plan.runs) {
        const std::string name = runText(run.id);
        runs.rows.emplace_back("Run",
            name + ", " + run.kind + " on " + run.device
                + (run.at.empty() ? ", time not stated" : ", " + stampText(run.at)));
        runs.rows.emplace_back("Plan of " + name,
            run.planHash == hash ? "current for this plan" : "~ stale: the plan was edited after the run");
        runs.rows.emplace_back("Pool fraction of " + name,
            run.poolFraction ? percentText(*run.poolFraction) + " of the planned blocks" : "not stated");
    }
    if (plan.runs.empty()) {
        out.blocks.emplace_back(
            Paragraph {"The plan names no run for these rows: they cannot be traced and prove nothing.", true});
    } else {
        runs.caption = "The runs that the plan names.";
        out.blocks.emplace_back(std::move(runs));
    }
    const auto isStale = [&](const EvidenceSummary& row) {
        return std::any_of(plan.runs.begin(), plan.runs.end(),
            [&](const RunReference& run) { return run.id == row.run && run.planHash != hash; });
    };
    std::vector<EvidenceSummary> rows = plan.evidence;
    for (EvidenceSummary& row : rows) {
        for (const Tenant& tenant : plan.tenants) {
            const std::string tail = ", " + tenant.id;
            if (row.title.ends_with(tail))
                row.title.replace(row.title.size() - tail.size(), tail.size(), ", " + tenantName(&plan, tenant.id));
        }
    }
    addRows(out, std::move(rows), isStale,
        "Measured is read by the instrument that the row names. Counts are in the unit that the row's name says; "
        "difference is measured less predicted.");
    return out;
}

} // namespace kvw
