// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "serving/live_request.h"
#include "serving/loop.h"

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kvw {

/// Tokens of one request that a step computes.
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
    Loop(const RunSetup& setup, Device& device, EventLog* log, const LoopObserver& observer, RunRecord& record);
    Result<void> run();

private:
    Result<void> step(bool& goOn);
    void emit(EventKind kind, const LiveRequest* live, std::int64_t value);
    void arrive();
    void scheduleRunning(std::vector<Scheduled>& scheduled);
    void admitWaiting(std::vector<Scheduled>& scheduled);
    void admit(LiveRequest& live, const Hit& hit);
    /// Blocks by pool for the request to hold `tokens` tokens, when no step computes more than a batch.
    std::vector<std::int64_t> blocksFor(const LiveRequest& live, const Hit& hit, std::int64_t tokens) const;
    /// Why the request can never be admitted, or "".
    std::string neverFits(const LiveRequest& live, std::int64_t tokens) const;
    bool hasRoom(const std::vector<std::int64_t>& needed) const;
    bool take(LiveRequest& live, const Hit* hit, std::int64_t from, std::int64_t count);
    void setAside(LiveRequest& live, const std::vector<std::int64_t>& stillNeeded);
    void giveBack(LiveRequest& live);
    void schedule(std::vector<Scheduled>& scheduled, LiveRequest& live, std::int64_t from, std::int64_t count);
    void preempt(LiveRequest& live);
    void end(LiveRequest& live, Outcome outcome, std::string reason);
    /// Nothing could be scheduled though requests run: they all wait for blocks that only they could give back.
    void breakDeadlock();
    Result<void> execute(const std::vector<Scheduled>& scheduled);
    Result<void> advance(LiveRequest& live, std::int64_t from, std::int64_t count);
    Result<void> verify(LiveRequest& live);
    StepSample measure(const std::vector<Scheduled>& scheduled) const;
    std::vector<RunningRequest> view() const;
    void finish(const Result<void>& result);
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
    bool m_anyLeaves = false; // some request is cancelled by its client at some step
    std::vector<LiveRequest*> m_running; // by admission
    std::deque<LiveRequest*> m_waiting;
    std::int64_t m_step = 0;
    std::int64_t m_budget = 0;
    bool m_preempted = false;
};

} // namespace kvw
