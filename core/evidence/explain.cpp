// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/explain.h"

#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

/// What a row's figures are, by the beginning of its id.
struct RowText
{
    const char* id;
    const char* what;
    const char* estimated; ///< null: the closed form says nothing of it
    const char* predicted; ///< null: it is not predicted
};

constexpr RowText rowTexts[] {
    {"pool_bytes", "Bytes of the pools that the run reserves on its rank.",
        "the scaled plan's budget, divided into whole blocks", "the pools that the run was told to reserve"},
    {"pool_blocks", "Blocks of the one pool of the run, those that are never given away counted.",
        "the scaled plan's budget ÷ bytes of a block, cut", "the pool that the run was told to reserve"},
    {"appended_bytes", "Bytes of the entries that prefill and decode write, repeats counted.", nullptr,
        "tokens computed × bytes per token of each layer group on the rank"},
    {"evictions", "Cached blocks that are used anew and lose what they held.", nullptr, "Evict events"},
    {"recomputed_tokens", "Tokens whose entries were written, lost by a preemption and written again.", nullptr,
        "tokens computed for a request that it had computed before its Preempt event"},
    {"completed_requests", "Requests that were served to their last token.", nullptr, "Complete events"},
    {"preemptions", "How often a running request lost its state, so that others could go on.", nullptr,
        "Preempt events"},
    {"hit_tokens", "Prompt tokens of the tenant's completed requests that no admission had to compute.", nullptr,
        "Admit events: the least value of each completed request"},
    {"blocks_longest_request", "Blocks that the longest completed request holds when it ends.",
        "⌈tokens held ÷ tokens of a block⌉; its last output token is never stored",
        "Allocate and Reference less Release and Drop events of the request"},
    {"peak_active_blocks", "Blocks in a block table after the step in which the prediction has the most of them.",
        nullptr, "Allocate and Reference less Release and Drop events up to that step"},
    {"final_active_blocks", "Blocks in a block table when the run has ended.", nullptr,
        "Allocate and Reference less Release and Drop events"},
    {"final_cached_blocks", "Blocks in no table whose content can still be found.", nullptr,
        "Index events less Evict events, of blocks in no table"},
    {"final_free_blocks", "Blocks of nobody when the run has ended.", nullptr,
        "blocks of the pool less those of all other states"},
    {"entries_read_back", "Entries of completed requests, read back and compared with what they must be.", nullptr,
        "entries in the block tables at each Complete event"},
    {"content_mismatches", "Entries that held other bytes than they must.", nullptr, "none: any would be an error"},
    {"cross_domain_entries", "Entries that a request was given from another sharing domain than its own.", nullptr,
        "none: any would be an error"},
    {"wrong_blocks", "Blocks that a table leads to but that hold another content than the request's.", nullptr,
        "none: any would be an error"},
    {"append_rate", "Bytes written per second while the device appended.", nullptr, nullptr},
    {"read_rate", "Bytes read per second while completed requests were read back.", nullptr, nullptr},
};

/// Ids in a plan file have their run before them, and "-" for ".".
const RowText* textOf(const EvidenceRow& row)
{
    for (const RowText& text : rowTexts) {
        const std::string_view id = row.id;
        const std::size_t at = id.find(text.id);
        if (at == std::string_view::npos || (at > 0 && id[at - 1] != '-'))
            continue;
        const std::size_t end = at + std::string_view(text.id).size();
        if (end == id.size() || id[end] == '.' || id[end] == '-')
            return &text;
    }
    return nullptr;
}

std::string valueText(const Number& number, Unit unit)
{
    if (unit == Unit::BytesPerSecond)
        return formatRate(toDouble(number));
    const auto* whole = std::get_if<std::int64_t>(&number);
    std::string out = whole ? grouped(*whole) : formatNumber(number);
    return unit == Unit::Byte ? out + " B" : out;
}

const std::optional<Number>& numberOf(const EvidenceRow& row, EvidenceFigure figure)
{
    if (figure == EvidenceFigure::Estimated)
        return row.estimated;
    return figure == EvidenceFigure::Predicted ? row.predicted : row.measured;
}

/// The figure as an input: what is measured says by what.
Quantity leaf(const EvidenceRow& row, EvidenceFigure figure, const EvidenceContext& context)
{
    const std::string name = fmt::format("{}, {}", row.title, evidenceFigureName(figure));
    std::shared_ptr<const Source> source;
    if (figure == EvidenceFigure::Measured && row.verdict != Verdict::SameCounter)
        source = std::make_shared<const Source>(
            Source {Source::Kind::Measurement, row.instrument, context.run, {}, {}, {}, context.device});
    return input(name, *numberOf(row, figure), row.unit, std::move(source));
}

std::string toleranceText(const EvidenceRow& row)
{
    if (row.toleranceReason.empty())
        return "none is stated";
    if (row.toleranceReason.find(" … ") != std::string::npos)
        return row.toleranceReason; // from a plan file: the bounds are in it
    const auto bound = [&](double value) { return valueText(Number {static_cast<std::int64_t>(value)}, row.unit); };
    const std::string bounds
        = row.below == 0 && row.above == 0 ? "0" : fmt::format("−{} … +{}", bound(row.below), bound(row.above));
    return bounds + ": " + row.toleranceReason;
}

std::string verdictSentence(const EvidenceRow& row, const EvidenceContext& context)
{
    if (!row.measured && context.run.empty())
        return "none before a run";
    return verdictName(row.verdict) + (row.reason.empty() ? "" : ": " + row.reason);
}

void addVerdict(Explanation& out, const EvidenceRow& row, const EvidenceContext& context)
{
    const std::string name = "measured − " + std::string(row.predicted ? "predicted" : "estimated");
    if (row.measured && (row.predicted || row.estimated))
        out.quantity = named(leaf(row, EvidenceFigure::Measured, context)
                - leaf(row, row.predicted ? EvidenceFigure::Predicted : EvidenceFigure::Estimated, context),
            name, row.unit);
    out.facts.emplace_back("Verdict", verdictSentence(row, context));
    out.facts.emplace_back("Rule",
        "Agrees when measured less each figure beside it, estimate and prediction, lies within the tolerance; else "
        "differs. No verdict where both figures come from one counter, a side is missing, or the figure is one of "
        "time.");
    for (const EvidenceFigure other : {EvidenceFigure::Estimated, EvidenceFigure::Predicted}) {
        if (!row.measured || !numberOf(row, other))
            continue;
        const double less = toDouble(*row.measured) - toDouble(*numberOf(row, other));
        out.facts.emplace_back(other == EvidenceFigure::Estimated ? "Less the estimate" : "Less the prediction",
            valueText(Number {static_cast<std::int64_t>(less)}, row.unit));
    }
}

void addInstrument(Explanation& out, const EvidenceRow& row)
{
    out.facts.emplace_back("Instrument", row.instrument);
    if (row.verdict == Verdict::SameCounter)
        out.facts.emplace_back("Not independent", row.reason);
    out.facts.emplace_back("Spread",
        row.unit == Unit::BytesPerSecond ? "not known: one timing over the whole run"
                                         : "none: it is counted once, at the end of the run or at the step named");
}

} // namespace

const char* evidenceFigureName(EvidenceFigure figure)
{
    static constexpr std::array<const char*, 4> names {"estimated", "predicted", "measured", "verdict"};
    return names[static_cast<std::size_t>(figure)];
}

std::optional<EvidenceFigure> evidenceFigureFromName(std::string_view name)
{
    for (const EvidenceFigure figure :
        {EvidenceFigure::Estimated, EvidenceFigure::Predicted, EvidenceFigure::Measured, EvidenceFigure::Verdict}) {
        if (name == evidenceFigureName(figure))
            return figure;
    }
    return std::nullopt;
}

Explanation explainEvidence(const EvidenceRow& row, EvidenceFigure figure, const EvidenceContext& context,
    const std::optional<Quantity>& derived)
{
    static constexpr std::array<Explanation::Kind, 4> kinds {Explanation::Kind::Derived, Explanation::Kind::Prediction,
        Explanation::Kind::Measured, Explanation::Kind::Verdict};
    const RowText* text = textOf(row);
    Explanation out;
    out.title = fmt::format("{}, {}", row.title, evidenceFigureName(figure));
    out.kind = kinds[static_cast<std::size_t>(figure)];
    out.stale = context.stale;
    out.of = context.run.empty() ? "no run yet" : context.run;
    if (!context.planHash.empty())
        out.of += ", plan " + context.planHash.substr(0, 8);
    if (context.poolFraction)
        out.of += fmt::format(", {:.4f} of the planned blocks", *context.poolFraction);
    if (text)
        out.facts.emplace_back("What", text->what);
    if (figure == EvidenceFigure::Verdict) {
        addVerdict(out, row, context);
    } else if (numberOf(row, figure)) {
        out.quantity = figure == EvidenceFigure::Estimated && derived ? *derived : leaf(row, figure, context);
    } else {
        out.facts.emplace_back("No value",
            figure == EvidenceFigure::Estimated       ? "no closed form gives this figure"
                : figure == EvidenceFigure::Predicted ? "it is not predicted"
                : context.run.empty()                 ? "it has not been run"
                                                      : "the run did not come to measure it");
    }
    if (figure == EvidenceFigure::Estimated && text && text->estimated)
        out.facts.emplace_back("Closed form", text->estimated);
    if (figure == EvidenceFigure::Predicted && text && text->predicted)
        out.facts.emplace_back("Counted from", text->predicted);
    if (figure == EvidenceFigure::Predicted && !context.rules.empty())
        out.facts.emplace_back("Rules", context.rules);
    if (figure == EvidenceFigure::Measured)
        addInstrument(out, row);
    out.facts.emplace_back("Tolerance", toleranceText(row));
    if (figure != EvidenceFigure::Verdict)
        out.facts.emplace_back("Verdict", verdictSentence(row, context));
    return out;
}

std::optional<Quantity> evidenceEstimate(const Plan& plan, const RunSetup& setup, const EvidenceRow& row)
{
    if (!row.estimated)
        return std::nullopt;
    const RowText* text = textOf(row);
    const std::string_view id = text ? text->id : "";
    if (id != "pool_bytes" && id != "pool_blocks")
        return std::nullopt; // the only ones that are figures of the estimate itself
    Plan run = plan;
    chooseRunEngine(run);
    const Result<Estimate> figures = estimate(planForEvidence(run, setup));
    if (!figures)
        return std::nullopt;
    const std::optional<Quantity>& found = id == "pool_bytes" ? figures->engine.poolBytes : figures->engine.blocks;
    return found && found->ok() && found->number() == *row.estimated ? found : std::nullopt;
}

} // namespace kvw
