// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/loop.h"

#include "serving/loop_run.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

Loop::Loop(const RunSetup& setup, Device& device, EventLog* log, const LoopObserver& observer, RunRecord& record)
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
        m_anyLeaves |= request.cancelStep.has_value();
        m_requests.push_back(std::move(live));
    }
    std::stable_sort(m_requests.begin(), m_requests.end(),
        [](const auto& a, const auto& b) { return a->record.arrivalStep < b->record.arrivalStep; });
}

Result<void> Loop::run()
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

Result<void> Loop::step(bool& goOn)
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

void Loop::emit(EventKind kind, const LiveRequest* live, std::int64_t value)
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

void Loop::arrive()
{
    for (; m_next < m_requests.size() && m_requests[m_next]->record.arrivalStep <= m_step; ++m_next) {
        LiveRequest* live = m_requests[m_next].get();
        live->waitingSince = m_step;
        m_waiting.push_back(live);
        emit(EventKind::Arrive, live, live->record.promptTokens);
        // As a serving front end does, before the scheduler sees the request.
        const std::int64_t tokens = live->record.promptTokens + live->sequence.request->outputTokens;
        if (const auto& most = m_setup.scheduler.maxLength; most && tokens > *most)
            end(*live, Outcome::Rejected,
                fmt::format(
                    "its {} tokens of prompt and output are more than the configured maximum of {}", tokens, *most));
    }
    const std::optional<std::int64_t>& limit = m_setup.scheduler.maxWaitSteps;
    if (!m_anyLeaves && !limit)
        return;
    // Copies, because ending a request takes it out of the lists.
    const auto leave = [&](LiveRequest& live) {
        const std::optional<std::int64_t>& cancel = live.sequence.request->cancelStep;
        if (cancel && *cancel <= m_step)
            end(live, Outcome::Cancelled, "the client left");
        return live.done;
    };
    for (LiveRequest* live : std::vector<LiveRequest*>(m_running))
        leave(*live);
    for (LiveRequest* live : std::vector<LiveRequest*>(m_waiting.begin(), m_waiting.end())) {
        if (!leave(*live) && limit && m_step - live->waitingSince > *limit)
            end(*live, Outcome::Rejected, fmt::format("waited {} steps for state", m_step - live->waitingSince));
    }
}

void Loop::scheduleRunning(std::vector<Scheduled>& scheduled)
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

void Loop::admitWaiting(std::vector<Scheduled>& scheduled)
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

void Loop::admit(LiveRequest& live, const Hit& hit)
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

std::vector<std::int64_t> Loop::blocksFor(const LiveRequest& live, const Hit& hit, std::int64_t tokens) const
{
    return m_cache.blocksNeeded(live.sequence, hit, tokens, m_setup.scheduler.maxBatchedTokens);
}

std::string Loop::neverFits(const LiveRequest& live, std::int64_t tokens) const
{
    const std::vector<std::int64_t> needed = blocksFor(live, Hit {}, tokens);
    for (std::size_t p = 0; p < needed.size(); ++p) {
        const std::int64_t usable = m_cache.pool(p).total() - m_cache.pool(p).held();
        if (needed[p] > usable)
            return fmt::format("it needs {} blocks for {} tokens, the pool has {}", needed[p], tokens, usable);
    }
    return {};
}

bool Loop::hasRoom(const std::vector<std::int64_t>& needed) const
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

bool Loop::take(LiveRequest& live, const Hit* hit, std::int64_t from, std::int64_t count)
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

void Loop::setAside(LiveRequest& live, const std::vector<std::int64_t>& stillNeeded)
{
    for (std::size_t p = 0; p < stillNeeded.size(); ++p) {
        live.setAside[p] = stillNeeded[p];
        m_setAside[p] += stillNeeded[p];
    }
}

void Loop::giveBack(LiveRequest& live)
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

void Loop::schedule(std::vector<Scheduled>& scheduled, LiveRequest& live, std::int64_t from, std::int64_t count)
{
    scheduled.push_back({&live, from, count});
    m_budget -= count;
    const BlockTables* tables = m_cache.tables(live.record.id);
    const auto held
        = std::count_if(tables->groups[0].begin(), tables->groups[0].end(), [](BlockId b) { return b != noBlock; });
    live.record.mostBlocks = std::max<std::int64_t>(live.record.mostBlocks, held);
}

void Loop::preempt(LiveRequest& live)
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

void Loop::end(LiveRequest& live, Outcome outcome, std::string reason)
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
    live.everComputed = {};
}

void Loop::breakDeadlock()
{
    const auto leaves = [&](const LiveRequest* live) { return live->sequence.request->cancelStep.has_value(); };
    if (m_running.empty() || m_preempted || std::any_of(m_running.begin(), m_running.end(), leaves))
        return;
    end(*m_running.back(), Outcome::Failed,
        "every running request waits for state that only the others could give back");
}

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
