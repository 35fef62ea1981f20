// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/loop.h"

#include "serving/live_request.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

namespace kvw {

namespace {

struct Scheduled
{
    LiveRequest* live = nullptr;
    std::int64_t from = 0;
    std::int64_t count = 0;
};

/// One run. All state of the scheduler is here; the cache's is in the manager, the content's on the device.
class Loop
{
public:
    Loop(const RunSetup& setup, Device& device, EventLog* log, const LoopObserver& observer, RunRecord& record)
        : m_setup(setup)
        , m_device(device)
        , m_log(log)
        , m_observer(observer)
        , m_record(record)
        , m_cache(setup.layout, setup.behaviour, log)
        , m_setAside(setup.layout.pools.size())
    {
        for (const Request& request : setup.workload.requests) {
            auto live = std::make_unique<LiveRequest>();
            live->sequence = {&request, setup.domains[request.tenant]};
            live->known = request.promptTokens();
            live->record.id = request.id;
            live->record.tenant = request.tenant;
            live->record.promptTokens = live->known;
            live->record.arrivalStep = request.arrivalStep;
            live->setAside.resize(setup.layout.pools.size());
            m_requests.push_back(std::move(live));
        }
        std::stable_sort(m_requests.begin(), m_requests.end(),
            [](const auto& a, const auto& b) { return a->record.arrivalStep < b->record.arrivalStep; });
    }

    Result<void> run()
    {
        Result<void> result;
        while (result && m_ended < m_requests.size()) {
            if (m_step >= m_setup.scheduler.maxSteps) {
                m_record.stopReason = fmt::format("stopped after {} steps", m_step);
                break;
            }
            if (m_running.empty() && m_waiting.empty() && m_next < m_requests.size())
                m_step = std::max(m_step, m_requests[m_next]->record.arrivalStep);
            bool goOn = true;
            result = step(goOn);
            if (result && !goOn) {
                m_record.stopReason = "stopped";
                break;
            }
            ++m_step;
        }
        finish(result);
        return result;
    }

private:
    Result<void> step(bool& goOn)
    {
        m_cache.setStep(m_step);
        emit(EventKind::Step, nullptr, static_cast<std::int64_t>(m_running.size()));
        arrive();
        std::vector<Scheduled> scheduled;
        m_budget = m_setup.scheduler.maxBatchedTokens;
        m_preempted = false;
        scheduleRunning(scheduled);
        if (!m_preempted)
            admitWaiting(scheduled);
        if (scheduled.empty())
            breakDeadlock();
        if (Result<void> done = execute(scheduled); !done)
            return done;
        const StepSample sample = measure(scheduled);
        m_record.samples.push_back(sample);
        if (m_observer.afterStep)
            goOn = m_observer.afterStep(sample, view());
        return {};
    }

    void emit(EventKind kind, const LiveRequest* live, std::int64_t value)
    {
        if (!m_log)
            return;
        Event event;
        event.kind = kind;
        event.step = static_cast<std::uint32_t>(m_step);
        event.value = static_cast<std::uint32_t>(value);
        if (live) {
            event.request = live->record.id;
            event.tenant = live->record.tenant;
        }
        m_log->add(event);
    }

    void arrive()
    {
        for (; m_next < m_requests.size() && m_requests[m_next]->record.arrivalStep <= m_step; ++m_next) {
            LiveRequest* live = m_requests[m_next].get();
            live->waitingSince = m_step;
            m_waiting.push_back(live);
            emit(EventKind::Arrive, live, live->record.promptTokens);
        }
        const std::vector<LiveRequest*> present = [&] {
            std::vector<LiveRequest*> all(m_running.begin(), m_running.end());
            all.insert(all.end(), m_waiting.begin(), m_waiting.end());
            return all;
        }();
        for (LiveRequest* live : present) {
            const std::optional<std::int64_t>& cancel = live->sequence.request->cancelStep;
            const std::optional<std::int64_t>& limit = m_setup.scheduler.maxWaitSteps;
            const bool waits = std::find(m_waiting.begin(), m_waiting.end(), live) != m_waiting.end();
            if (cancel && *cancel <= m_step)
                end(*live, Outcome::Cancelled, "the client left");
            else if (waits && limit && m_step - live->waitingSince > *limit)
                end(*live, Outcome::Rejected, fmt::format("waited {} steps for state", m_step - live->waitingSince));
        }
    }

    void scheduleRunning(std::vector<Scheduled>& scheduled)
    {
        for (std::size_t i = 0; i < m_running.size() && m_budget > 0;) {
            LiveRequest& live = *m_running[i];
            const std::int64_t count = std::min(live.known - live.computed, m_budget);
            if (take(live, nullptr, live.computed, count)) {
                schedule(scheduled, live, live.computed, count);
                ++i;
                continue;
            }
            switch (m_setup.scheduler.whenExhausted) {
            case WhenExhausted::Reject:
                end(live, Outcome::Rejected, "no block was to be had for its next token");
                break;
            case WhenExhausted::Wait:
                ++i; // it keeps what it has and tries again in the next step
                break;
            case WhenExhausted::NotStated:
            case WhenExhausted::PreemptRecompute:
                preempt(*m_running.back()); // the loop ends when that was the request itself
                break;
            }
        }
    }

    void admitWaiting(std::vector<Scheduled>& scheduled)
    {
        const auto limit = static_cast<std::size_t>(m_setup.scheduler.maxSequences);
        while (!m_waiting.empty() && m_budget > 0 && m_running.size() < limit) {
            LiveRequest& live = *m_waiting.front();
            const Hit hit = m_cache.lookup(live.sequence, live.known);
            const bool full = m_setup.scheduler.reservation == Reservation::FullOutput;
            const std::int64_t most = full ? std::max(live.mostTokens(), live.known) : live.known;
            if (const std::string why = neverFits(live, most); !why.empty()) {
                end(live, Outcome::Rejected, why);
                continue;
            }
            const std::int64_t count = std::min(live.known - hit.tokens, m_budget);
            const std::int64_t asked = full || m_setup.behaviour.reserveWholePrompt ? most : hit.tokens + count;
            const std::vector<std::int64_t> needed = blocksFor(live, hit, asked);
            if (!hasRoom(needed) || !m_cache.allocate(live.sequence, &hit, hit.tokens, count)) {
                if (m_setup.scheduler.whenExhausted != WhenExhausted::Reject)
                    return;
                end(live, Outcome::Rejected, "the state it needs was not to be had");
                continue;
            }
            admit(live, hit);
            if (full)
                setAside(live, blocksFor(live, hit, asked));
            schedule(scheduled, live, hit.tokens, count);
        }
    }

    void admit(LiveRequest& live, const Hit& hit)
    {
        m_waiting.pop_front();
        m_running.push_back(&live);
        live.computed = hit.tokens;
        RequestRecord& record = live.record;
        record.hitTokens += hit.tokens;
        live.leastHit = std::min(live.leastHit, hit.tokens);
        if (record.admitStep < 0) {
            record.admitStep = m_step;
            record.missCause = hit.cause;
            record.warm = hit.tokens > 0;
        }
        emit(EventKind::Admit, &live, hit.tokens);
    }

    /// Blocks by pool for the request to hold `tokens` tokens, when no step computes more than a batch.
    std::vector<std::int64_t> blocksFor(const LiveRequest& live, const Hit& hit, std::int64_t tokens) const
    {
        return m_cache.blocksNeeded(live.sequence, hit, tokens, m_setup.scheduler.maxBatchedTokens);
    }

    /// Why the request can never be admitted, or "".
    std::string neverFits(const LiveRequest& live, std::int64_t tokens) const
    {
        const std::vector<std::int64_t> needed = blocksFor(live, Hit {}, tokens);
        for (std::size_t p = 0; p < needed.size(); ++p) {
            const std::int64_t usable = m_cache.pool(p).total() - m_cache.pool(p).held();
            if (needed[p] > usable)
                return fmt::format("it needs {} blocks for {} tokens, the pool has {}", needed[p], tokens, usable);
        }
        return {};
    }

    bool hasRoom(const std::vector<std::int64_t>& needed) const
    {
        for (std::size_t p = 0; p < needed.size(); ++p) {
            const BlockPool& pool = m_cache.pool(p);
            // The watermark is for others' sake: with nothing running, every block may be used.
            const auto kept = m_running.empty()
                ? std::int64_t {0}
                : static_cast<std::int64_t>(m_setup.behaviour.watermark * static_cast<double>(pool.total()));
            if (needed[p] > pool.available() - m_setAside[p] - kept)
                return false;
        }
        return true;
    }

    bool take(LiveRequest& live, const Hit* hit, std::int64_t from, std::int64_t count)
    {
        std::vector<std::int64_t> before;
        for (std::size_t p = 0; p < m_setAside.size(); ++p)
            before.push_back(m_cache.pool(p).available());
        if (!m_cache.allocate(live.sequence, hit, from, count))
            return false;
        for (std::size_t p = 0; p < m_setAside.size(); ++p) {
            const std::int64_t used
                = std::clamp<std::int64_t>(before[p] - m_cache.pool(p).available(), 0, live.setAside[p]);
            live.setAside[p] -= used;
            m_setAside[p] -= used;
        }
        return true;
    }

    void setAside(LiveRequest& live, const std::vector<std::int64_t>& stillNeeded)
    {
        for (std::size_t p = 0; p < stillNeeded.size(); ++p) {
            live.setAside[p] = stillNeeded[p];
            m_setAside[p] += stillNeeded[p];
        }
    }

    void giveBack(LiveRequest& live)
    {
        if (m_cache.tables(live.record.id))
            m_cache.release(live.record.id);
        for (std::size_t p = 0; p < m_setAside.size(); ++p) {
            m_setAside[p] -= live.setAside[p];
            live.setAside[p] = 0;
        }
        std::erase(m_running, &live);
        std::erase(m_waiting, &live);
    }

    void schedule(std::vector<Scheduled>& scheduled, LiveRequest& live, std::int64_t from, std::int64_t count)
    {
        scheduled.push_back({&live, from, count});
        m_budget -= count;
        const BlockTables* tables = m_cache.tables(live.record.id);
        const auto held
            = std::count_if(tables->groups[0].begin(), tables->groups[0].end(), [](BlockId b) { return b != noBlock; });
        live.record.mostBlocks = std::max<std::int64_t>(live.record.mostBlocks, held);
    }

    void preempt(LiveRequest& live)
    {
        emit(EventKind::Preempt, &live, live.computed);
        giveBack(live);
        ++live.record.preemptions;
        ++m_record.preemptions;
        live.computed = 0;
        live.waitingSince = m_step;
        m_waiting.push_front(&live);
        m_preempted = true;
    }

    void end(LiveRequest& live, Outcome outcome, std::string reason)
    {
        giveBack(live);
        live.done = true;
        ++m_ended;
        RequestRecord& record = live.record;
        record.outcome = outcome;
        record.reason = std::move(reason);
        record.endStep = m_step;
        if (record.admitStep >= 0)
            record.neverComputed = std::min(live.leastHit, record.promptTokens);
        static constexpr std::array<EventKind, outcomeCount> kinds {
            EventKind::Fail, EventKind::Complete, EventKind::Reject, EventKind::Cancel, EventKind::Fail};
        emit(kinds[static_cast<std::size_t>(outcome)], &live, record.outputTokens);
        if (m_observer.afterRequest)
            m_observer.afterRequest(record);
        live.chains = {};
    }

    /// Nothing could be scheduled though requests run: they all wait for blocks that only they could give back.
    void breakDeadlock()
    {
        const auto leaves = [&](const LiveRequest* live) { return live->sequence.request->cancelStep.has_value(); };
        if (m_running.empty() || m_preempted || std::any_of(m_running.begin(), m_running.end(), leaves))
            return;
        end(*m_running.back(), Outcome::Failed,
            "every running request waits for state that only the others could give back");
    }

    Result<void> execute(const std::vector<Scheduled>& scheduled)
    {
        std::vector<EntrySpan> spans;
        for (const Scheduled& item : scheduled) {
            LiveRequest& live = *item.live;
            const std::int64_t to = item.from + item.count;
            if (m_device.holdsBytes())
                live.extendChains(to);
        }
        for (const Scheduled& item : scheduled)
            item.live->addSpans(
                m_setup.layout, *m_cache.tables(item.live->record.id), item.from, item.from + item.count, spans);
        if (Result<void> appended = m_device.append(spans); !appended)
            return appended;
        for (const EntrySpan& span : spans)
            m_record.appendedBytes += span.count * m_setup.layout.groups[span.group].bytesPerToken();
        for (const Scheduled& item : scheduled) {
            if (Result<void> advanced = advance(*item.live, item.from, item.count); !advanced)
                return advanced;
        }
        return {};
    }

    Result<void> advance(LiveRequest& live, std::int64_t from, std::int64_t count)
    {
        const std::int64_t to = from + count;
        const std::int64_t again = std::max<std::int64_t>(0, std::min(to, live.highWater) - from);
        live.record.recomputedTokens += again;
        m_record.recomputedTokens += again;
        m_record.computedTokens += count;
        live.highWater = std::max(live.highWater, to);
        live.computed = to;
        if (live.computed < live.known)
            return {};
        if (live.record.firstTokenStep < 0)
            live.record.firstTokenStep = m_step;
        ++live.known;
        ++live.record.outputTokens;
        if (live.record.outputTokens < live.sequence.request->outputTokens)
            return {};
        if (Result<void> verified = verify(live); !verified)
            return verified;
        end(live, Outcome::Completed, {});
        return {};
    }

    Result<void> verify(LiveRequest& live)
    {
        std::vector<EntrySpan> spans;
        live.addSpans(m_setup.layout, *m_cache.tables(live.record.id), 0, live.computed, spans);
        for (const EntrySpan& span : spans)
            m_record.readBackEntries += span.count;
        if (!m_device.holdsBytes())
            return {};
        const Result<VerifyCount> count = m_device.verify(spans);
        if (!count)
            return count.error();
        if (m_observer.afterVerify)
            m_observer.afterVerify(live.record, *count);
        return {};
    }

    StepSample measure(const std::vector<Scheduled>& scheduled) const
    {
        StepSample out;
        out.step = m_step;
        out.running = static_cast<std::int64_t>(m_running.size());
        out.waiting = static_cast<std::int64_t>(m_waiting.size());
        for (const Scheduled& item : scheduled)
            out.scheduledTokens += item.count;
        for (std::size_t p = 0; p < m_setAside.size(); ++p) {
            const BlockPool& pool = m_cache.pool(p);
            const std::int64_t bytes = m_setup.layout.pools[p].blockBytes.value;
            out.active += pool.active();
            out.cached += pool.cached();
            out.free += pool.free();
            out.activeBytes += pool.active() * bytes;
            out.cachedBytes += pool.cached() * bytes;
            out.reservedBytes += (pool.active() + m_setAside[p]) * bytes;
        }
        return out;
    }

    std::vector<RunningRequest> view() const
    {
        std::vector<RunningRequest> out;
        for (const LiveRequest* live : m_running) {
            out.push_back({live->sequence.request, static_cast<std::uint16_t>(live->sequence.domain.id), live->computed,
                m_cache.tables(live->record.id), &live->chains});
        }
        return out;
    }

    void finish(const Result<void>& result)
    {
        if (!result)
            m_record.stopReason = result.error().text();
        m_record.steps = m_step;
        m_record.complete = m_ended == m_requests.size();
        m_record.evictions = m_cache.evictions();
        m_record.requests.resize(m_requests.size());
        for (const auto& live : m_requests)
            m_record.requests[live->record.id] = live->record;
        for (std::size_t p = 0; p < m_cache.poolCount(); ++p) {
            m_record.finalActive += m_cache.pool(p).active();
            m_record.finalCached += m_cache.pool(p).cached();
            m_record.finalFree += m_cache.pool(p).free();
            m_record.finalHeld += m_cache.pool(p).held();
        }
        m_record.tenants.resize(m_setup.workload.tenants.size());
        for (std::size_t t = 0; t < m_record.tenants.size(); ++t)
            m_record.tenants[t].id = m_setup.workload.tenants[t];
        for (const RequestRecord& request : m_record.requests) {
            TenantRecord& tenant = m_record.tenants[request.tenant];
            ++tenant.outcomes[static_cast<std::size_t>(request.outcome)];
            if (request.admitStep < 0)
                continue;
            tenant.promptTokens += request.promptTokens;
            tenant.hitTokens += request.hitTokens;
            ++tenant.missCauses[static_cast<std::size_t>(request.missCause)];
            if (request.outcome == Outcome::Completed)
                tenant.neverComputed += request.neverComputed;
        }
    }

    const RunSetup& m_setup;
    Device& m_device;
    EventLog* m_log;
    const LoopObserver& m_observer;
    RunRecord& m_record;
    CacheManager m_cache;
    std::vector<std::int64_t> m_setAside; // by pool, all requests together
    std::vector<std::unique_ptr<LiveRequest>> m_requests; // by arrival
    std::size_t m_next = 0; // first that has not arrived
    std::size_t m_ended = 0;
    std::vector<LiveRequest*> m_running; // by admission
    std::deque<LiveRequest*> m_waiting;
    std::int64_t m_step = 0;
    std::int64_t m_budget = 0;
    bool m_preempted = false;
};

} // namespace

Result<void> runLoop(
    const RunSetup& setup, Device& device, EventLog* log, const LoopObserver& observer, RunRecord& record)
{
    record.planHash = setup.planHash;
    record.workloadHash = setup.workload.sha256();
    record.poolFraction = setup.poolFraction;
    for (const Request& request : setup.workload.requests) {
        if (request.samples != 1)
            return Error {"run.samples", "requests with several samples cannot be run yet", {{}, "workload"}};
    }
    return Loop(setup, device, log, observer, record).run();
}

} // namespace kvw
