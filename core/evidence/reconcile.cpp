// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/reconcile.h"

#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

namespace kvw {

namespace {

using Maybe = std::optional<Number>;

constexpr const char* exactCount = "a count: any difference would be an error";

void judge(EvidenceRow& row)
{
    if (row.verdict == Verdict::SameCounter || !row.reason.empty())
        return;
    if (!row.measured || (!row.predicted && !row.estimated)) {
        row.reason = row.measured ? "nothing to compare with" : "not measured";
        return;
    }
    const double measured = toDouble(*row.measured);
    row.difference = measured - toDouble(row.predicted ? *row.predicted : *row.estimated);
    row.verdict = Verdict::Agrees;
    for (const Maybe& other : {row.estimated, row.predicted}) {
        if (!other)
            continue;
        const double difference = measured - toDouble(*other);
        if (difference < -row.below || difference > row.above)
            row.verdict = Verdict::Differs;
    }
}

/// Two zeros are equal, but where the thing counted can happen and did not, they show nothing.
void noteIdle(EvidenceRow& row)
{
    const bool canHappen = row.id == "evictions" || row.id == "recomputed_tokens" || row.id.starts_with("hit_tokens.");
    if (canHappen && row.verdict == Verdict::Agrees && toDouble(*row.measured) == 0) {
        row.verdict = Verdict::NotTested;
        row.reason = "none in this run";
    }
}

/// Builds the rows of one run. Each function adds the rows of one instrument.
class Rows
{
public:
    Rows(const Estimate& estimate, const RunSetup& setup, const RunRecord& prediction, const LiveRun* live)
        : m_estimate(estimate)
        , m_setup(setup)
        , m_prediction(prediction)
        , m_live(live)
        , m_readings(live ? &live->readings : nullptr)
    {}

    std::vector<EvidenceRow> all()
    {
        pools();
        writes();
        requests();
        census();
        contents();
        rates();
        const bool nothingRan = m_live && m_live->record.complete
            && m_live->record.outcomes()[static_cast<std::size_t>(Outcome::Completed)] == 0;
        for (EvidenceRow& row : m_rows) {
            if (nothingRan && row.reason.empty() && row.id != "pool_bytes" && row.id != "pool_blocks")
                row.reason = "no request was completed: zero against zero shows nothing";
            judge(row);
            noteIdle(row);
        }
        return {m_rows.begin(), m_rows.end()};
    }

private:
    EvidenceRow& add(std::string id, std::string title, Unit unit, std::string instrument)
    {
        EvidenceRow row;
        row.id = std::move(id);
        row.title = std::move(title);
        row.unit = unit;
        row.instrument = std::move(instrument);
        row.toleranceReason = exactCount;
        m_rows.push_back(std::move(row));
        return m_rows.back();
    }

    void pools()
    {
        const std::int64_t reserved = m_setup.layout.totalBytes().value().value;
        const std::string instrument
            = m_readings && m_readings->memory ? m_readings->memory->instrument : "resident memory of the pools";
        EvidenceRow& bytes = add("pool_bytes", "Pool bytes reserved", Unit::Byte, instrument);
        if (m_estimate.engine.poolBytes && m_estimate.engine.poolBytes->ok())
            bytes.estimated = m_estimate.engine.poolBytes->number();
        bytes.predicted = reserved;
        bytes.toleranceReason = "memory comes in whole pages: up to one page more, never less";
        if (m_readings && m_readings->memory) {
            bytes.measured = m_readings->memory->poolBytes;
            bytes.above = static_cast<double>(
                (m_readings->memory->pageBytes - 1) * static_cast<std::int64_t>(m_setup.layout.pools.size()));
        }
        if (m_setup.layout.pools.size() != 1)
            return;
        const PoolSpec& pool = m_setup.layout.pools.front();
        EvidenceRow& blocks = add("pool_blocks", "Blocks in the pool", Unit::Block, instrument + " ÷ bytes per block");
        if (m_estimate.engine.blocks && m_estimate.engine.blocks->ok())
            blocks.estimated = m_estimate.engine.blocks->number();
        blocks.predicted = pool.blocks.value;
        if (m_readings && m_readings->memory)
            blocks.measured = m_readings->memory->poolBytes / pool.blockBytes.value;
    }

    void writes()
    {
        EvidenceRow& bytes = add("appended_bytes", "Bytes appended", Unit::Byte,
            "bytes that are not poison, counted before each reuse and at the end");
        bytes.predicted = m_prediction.appendedBytes;
        if (m_readings)
            bytes.measured = m_readings->counts.nonPoisonBytes;

        EvidenceRow& evictions
            = add("evictions", "Evictions", Unit::Block, "blocks with every entry written that were begun anew");
        evictions.predicted = m_prediction.evictions;
        if (m_readings)
            evictions.measured = m_readings->counts.fullBlocksOverwritten;
        if (!m_setup.behaviour.prefixCaching)
            evictions.reason = "without a prefix cache nothing is cached, so nothing is evicted";

        EvidenceRow& again = add("recomputed_tokens", "Tokens computed again", Unit::Token,
            "ledger of writes: positions written more than once");
        again.predicted = m_prediction.recomputedTokens;
        if (m_readings) {
            std::int64_t repeats = 0;
            for (const WrittenTokens& written : m_readings->written)
                repeats += written.repeats;
            again.measured = repeats;
        }

        EvidenceRow& completed
            = add("completed_requests", "Requests completed", Unit::Request, "the loop's own counter");
        completed.predicted = m_prediction.outcomes()[static_cast<std::size_t>(Outcome::Completed)];
        if (m_live)
            completed.measured = m_live->record.outcomes()[static_cast<std::size_t>(Outcome::Completed)];
        completed.verdict = Verdict::SameCounter;
        completed.reason = "prediction and live run count their own completions";

        EvidenceRow& preemptions = add("preemptions", "Preemptions", Unit::Request, "the loop's own counter");
        preemptions.predicted = m_prediction.preemptions;
        if (m_live)
            preemptions.measured = m_live->record.preemptions;
        preemptions.verdict = Verdict::SameCounter;
        preemptions.reason = "no instrument but the loop's counter sees a preemption";
    }

    void requests()
    {
        for (std::size_t t = 0; t < m_setup.workload.tenants.size(); ++t) {
            const std::string& tenant = m_setup.workload.tenants[t];
            EvidenceRow& row = add("hit_tokens." + tenant, "Prompt tokens by prefix hits, " + tenant, Unit::Token,
                "ledger of writes: prompt tokens of completed requests that were never written");
            row.predicted = m_prediction.tenants[t].neverComputed;
            if (m_readings)
                row.measured = neverWritten(static_cast<std::uint16_t>(t));
        }
        if (m_setup.layout.groups.size() != 1)
            return;
        // The request with the most blocks, its closed form, and what reading it back went through.
        const auto most = std::max_element(m_prediction.requests.begin(), m_prediction.requests.end(),
            [](const RequestRecord& a, const RequestRecord& b) { return held(a) < held(b); });
        if (most == m_prediction.requests.end() || most->outcome != Outcome::Completed)
            return;
        EvidenceRow& row = add("blocks_longest_request", "Blocks of the longest completed request", Unit::Block,
            "blocks read back through its table");
        const GroupLayout& group = m_setup.layout.groups.front();
        if (!group.window)
            row.estimated = *ceilDivide(held(*most), group.blockTokens);
        row.predicted = most->mostBlocks;
        if (m_readings && !group.window)
            row.measured = m_readings->mostBlocksRead;
        if (group.window)
            row.reason = "blocks that left the window are not read back";
    }

    static std::int64_t held(const RequestRecord& request)
    {
        return request.outcome == Outcome::Completed ? request.promptTokens + request.outputTokens - 1 : 0;
    }

    std::int64_t neverWritten(std::uint16_t tenant) const
    {
        std::int64_t total = 0;
        for (const RequestRecord& request : m_live->record.requests) {
            if (request.tenant == tenant && request.outcome == Outcome::Completed)
                total += request.promptTokens - m_readings->written[request.id].distinctBelow(request.promptTokens);
        }
        return total;
    }

    void census()
    {
        const char* tags = "content tags of every block";
        const std::int64_t peakStep = m_prediction.peakStep();
        EvidenceRow& peak = add("peak_active_blocks", fmt::format("Active blocks at the peak, step {}", peakStep),
            Unit::Block, "content tags, read through the running requests' tables");
        for (const StepSample& sample : m_prediction.samples) {
            if (sample.step == peakStep)
                peak.predicted = sample.active;
        }
        if (m_readings && m_readings->peak)
            peak.measured = m_readings->peak->active;

        const bool caching = m_setup.behaviour.prefixCaching;
        const auto last = [&](const char* id, const char* title, std::int64_t predicted,
                              std::int64_t BlockCensus::*member) -> EvidenceRow& {
            EvidenceRow& row = add(id, title, Unit::Block, tags);
            row.predicted = predicted;
            if (m_readings && m_readings->last)
                row.measured = (*m_readings->last).*member;
            return row;
        };
        last("final_active_blocks", "Active blocks at the end", m_prediction.finalActive, &BlockCensus::active);
        EvidenceRow& cached
            = last("final_cached_blocks", "Cached blocks at the end", m_prediction.finalCached, &BlockCensus::cached);
        if (!caching)
            cached.reason = "without a prefix cache full blocks keep their bytes but are free";
        EvidenceRow& free
            = last("final_free_blocks", "Free blocks at the end", m_prediction.finalFree, &BlockCensus::free);
        if (!caching)
            free.reason = "without a prefix cache full blocks keep their bytes but are free";
    }

    void contents()
    {
        EvidenceRow& read = add("entries_read_back", "Entries read back and compared", Unit::Entry,
            "the device's reading of completed requests");
        read.predicted = m_prediction.readBackEntries;
        EvidenceRow& wrong = add("content_mismatches", "Content mismatches", Unit::Entry,
            "every byte of completed requests against what it must be");
        wrong.predicted = std::int64_t {0};
        EvidenceRow& foreign = add("cross_domain_entries", "Entries of another sharing domain", Unit::Entry,
            "content tags of entries that did not match");
        foreign.predicted = std::int64_t {0};
        EvidenceRow& tables = add("wrong_blocks", "Blocks in tables with another content", Unit::Block,
            "content tags, read through the running requests' tables at the peak");
        tables.predicted = std::int64_t {0};
        if (!m_readings)
            return;
        read.measured = m_readings->verified.entries;
        wrong.measured = m_readings->verified.mismatched;
        foreign.measured = m_readings->verified.foreign;
        if (m_readings->peak)
            tables.measured = m_readings->peak->wrong;
    }

    void rates()
    {
        const auto rate = [&](const char* id, const char* title, const Rate& measured,
                              const std::optional<RateSpread>& spread, const char* ceilingName,
                              const std::optional<Rate>& ceiling) {
            EvidenceRow& row = add(id, title, Unit::BytesPerSecond, "monotonic clock");
            row.toleranceReason.clear();
            row.reason = "no coefficient: a figure of time gets no verdict";
            if (!m_readings)
                return;
            row.measured = measured.perSecond();
            if (spread) {
                row.below = std::max(0.0, measured.perSecond() - spread->slowest);
                row.above = std::max(0.0, spread->fastest - measured.perSecond());
                row.toleranceReason = fmt::format("spread over {} parts of the run of about the same bytes, {} to {}",
                    spread->parts, formatRate(spread->slowest), formatRate(spread->fastest));
            }
            if (!ceiling)
                return;
            row.instrument
                += fmt::format("; ceiling, {} in this run: {}", ceilingName, formatRate(ceiling->perSecond()));
            if (measured.perSecond() > ceiling->perSecond())
                row.reason += "; the ceiling was disturbed: the run was faster";
        };
        const LiveReadings none {};
        const LiveReadings& read = m_readings ? *m_readings : none;
        const auto ceiling = [&](Rate MemoryCeilings::*which) {
            return read.ceilings ? std::optional((*read.ceilings).*which) : std::nullopt;
        };
        rate("append_rate", "Append rate", read.append, read.appendSpread, "plain write",
            ceiling(&MemoryCeilings::write));
        rate("read_rate", "Read-back rate", read.verify, read.verifySpread, "plain read",
            ceiling(&MemoryCeilings::read));
    }

    const Estimate& m_estimate;
    const RunSetup& m_setup;
    const RunRecord& m_prediction;
    const LiveRun* m_live;
    const LiveReadings* m_readings;
    std::deque<EvidenceRow> m_rows; // rows are filled by reference while others are added
};

/// "−0 … +4095: whole pages", as summaries() writes it, back into bounds and reason. Other text stays.
void readTolerance(EvidenceRow& row)
{
    const std::string minus("−");
    const std::string plus(" … +");
    const std::string& text = row.toleranceReason;
    const std::size_t middle = text.find(plus);
    const std::size_t colon = text.find(": ");
    if (!text.starts_with(minus) || middle == std::string::npos || colon == std::string::npos || colon < middle)
        return;
    const Result<std::int64_t> below = parseCount(text.substr(minus.size(), middle - minus.size()));
    const std::size_t from = middle + plus.size();
    const Result<std::int64_t> above = parseCount(text.substr(from, colon - from));
    if (!below || !above)
        return;
    row.below = static_cast<double>(*below);
    row.above = static_cast<double>(*above);
    row.toleranceReason = text.substr(colon + 2);
}

} // namespace

const char* verdictName(Verdict verdict)
{
    static constexpr std::array<const char*, 5> names {
        "agrees", "differs", "not comparable", "same counter", "not put to the test"};
    return names[static_cast<std::size_t>(verdict)];
}

std::string verdictText(std::string_view name)
{
    if (name == verdictName(Verdict::Agrees))
        return "✓ agrees";
    if (name == verdictName(Verdict::Differs))
        return "✗ differs";
    for (const Verdict verdict : {Verdict::NotComparable, Verdict::SameCounter, Verdict::NotTested}) {
        if (name == verdictName(verdict))
            return "– no verdict: " + std::string(name);
    }
    return std::string(name);
}

std::vector<EvidenceRow> reconcile(
    const Estimate& estimate, const RunSetup& setup, const RunRecord& prediction, const LiveRun* live)
{
    return Rows(estimate, setup, prediction, live).all();
}

Plan planForEvidence(const Plan& plan, const RunSetup& setup)
{
    Plan out = scaledPlan(plan, setup.scale);
    if (setup.layout.pools.size() == 1) {
        const PoolSpec& pool = setup.layout.pools.front();
        out.budget.kvBytesPerRank = pool.blocks.value * pool.blockBytes.value;
    }
    return out;
}

VerdictCounts countVerdicts(const std::vector<EvidenceRow>& rows)
{
    VerdictCounts out;
    for (const EvidenceRow& row : rows) {
        switch (row.verdict) {
        case Verdict::Agrees:
            ++out.agrees;
            break;
        case Verdict::Differs:
            ++out.differs;
            break;
        case Verdict::NotComparable:
            ++out.notComparable;
            break;
        case Verdict::SameCounter:
            ++out.sameCounter;
            break;
        case Verdict::NotTested:
            ++out.notTested;
            break;
        }
    }
    return out;
}

std::vector<EvidenceSummary> summaries(const std::vector<EvidenceRow>& rows, const std::string& run)
{
    std::vector<EvidenceSummary> out;
    const auto real = [](const Maybe& number) { return number ? std::optional(toDouble(*number)) : std::nullopt; };
    for (const EvidenceRow& row : rows) {
        EvidenceSummary summary;
        summary.id = run + "-" + row.id;
        std::replace(summary.id.begin(), summary.id.end(), '.', '-');
        summary.title = row.title;
        summary.unit = unitName(row.unit);
        summary.estimated = real(row.estimated);
        summary.predicted = real(row.predicted);
        summary.measured = real(row.measured);
        summary.instrument = row.instrument;
        summary.difference = row.difference;
        if (!row.toleranceReason.empty())
            summary.tolerance = fmt::format("−{:.0f} … +{:.0f}: {}", row.below, row.above, row.toleranceReason);
        summary.verdict = verdictName(row.verdict);
        summary.reason = row.reason;
        summary.run = run;
        out.push_back(std::move(summary));
    }
    return out;
}

std::vector<EvidenceRow> rowsOf(const std::vector<EvidenceSummary>& stored)
{
    const auto number = [](const std::optional<double>& value) -> Maybe {
        if (!value)
            return std::nullopt;
        constexpr double exact = 9007199254740992.0; // 2^53
        if (*value == std::floor(*value) && std::abs(*value) <= exact)
            return Number {static_cast<std::int64_t>(*value)};
        return Number {*value};
    };
    std::vector<EvidenceRow> out;
    for (const EvidenceSummary& summary : stored) {
        EvidenceRow row;
        row.id = summary.id;
        row.title = summary.title;
        for (int unit = 0; unit <= static_cast<int>(Unit::Ratio); ++unit) {
            if (unitName(static_cast<Unit>(unit)) == summary.unit)
                row.unit = static_cast<Unit>(unit);
        }
        row.estimated = number(summary.estimated);
        row.predicted = number(summary.predicted);
        row.measured = number(summary.measured);
        row.instrument = summary.instrument;
        row.difference = summary.difference;
        row.toleranceReason = summary.tolerance;
        readTolerance(row);
        for (const Verdict verdict :
            {Verdict::Agrees, Verdict::Differs, Verdict::NotComparable, Verdict::SameCounter, Verdict::NotTested}) {
            if (summary.verdict == verdictName(verdict))
                row.verdict = verdict;
        }
        row.reason = summary.reason;
        out.push_back(std::move(row));
    }
    return out;
}

} // namespace kvw
