// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "serving/loop_run.h"

#include <algorithm>

namespace kvw {

Result<void> Loop::execute(const std::vector<Scheduled>& scheduled)
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

Result<void> Loop::advance(LiveRequest& live, std::int64_t from, std::int64_t count)
{
    const std::int64_t to = from + count;
    const std::int64_t again = live.noteComputed(from, to);
    live.record.recomputedTokens += again;
    m_record.recomputedTokens += again;
    m_record.computedTokens += count;
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

Result<void> Loop::verify(LiveRequest& live)
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

StepSample Loop::measure(const std::vector<Scheduled>& scheduled) const
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

std::vector<RunningRequest> Loop::view() const
{
    std::vector<RunningRequest> out;
    for (const LiveRequest* live : m_running) {
        out.push_back({live->sequence.request, static_cast<std::uint16_t>(live->sequence.domain.id), live->computed,
            m_cache.tables(live->record.id), &live->chains});
    }
    return out;
}

void Loop::finish(const Result<void>& result)
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

} // namespace kvw
