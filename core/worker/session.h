// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "worker/device_source.h"
#include "worker/outbox.h"
#include "worker/protocol.h"
#include "worker/request_json.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace kvw::worker {

/// What the worker does with the messages it gets. Messages are taken by one thread, which never waits here; probes run
/// on a thread of their own, one after another.
class Session
{
public:
    Session(Outbox& outbox, const DeviceSource& devices, Hello mine);
    /// Cancels everything and waits for the running probe.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// The worker's own hello.
    void greet();
    /// Errors: those that end the connection. protocol.version, protocol.order (no hello before, or a second one),
    /// protocol.direction (a message that only the worker sends), protocol.request_id, protocol.pieces.
    Result<void> handle(const Message& message);
    /// A stop came.
    bool stopped() const { return m_stopped; }
    /// Cancels everything and waits for the running probe. False when it does not end in time.
    bool finish(std::chrono::milliseconds longest);

private:
    struct Task
    {
        std::uint64_t id = 0; ///< of the request, or of the barrier
        bool isBarrier = false;
        ProbeRequest probe {};
        std::atomic<bool> cancelled = false;
    };

    Result<void> handleRequest(const Request& request);
    void answerDevices(std::uint64_t id);
    void startProbe(std::uint64_t id, ProbeRequest request);
    /// True when another probe runs or waits. REQUIRES m_mutex.
    bool isBusy() const;
    void add(std::shared_ptr<Task> task);
    void cancel(std::uint64_t id);
    /// REQUIRES m_mutex.
    void cancelAll();
    void run();
    void runTask(Task& task);
    void runProbe(Task& task);

    Outbox& m_outbox;
    const DeviceSource& m_devices;
    const Hello m_mine;
    bool m_greeted = false; // by the other side
    bool m_stopped = false;
    std::uint64_t m_lastId = 0;
    TextJoiner m_text {};
    bool m_textOpen = false; // a request whose last piece is still to come
    std::mutex m_mutex {};
    std::condition_variable m_changed {};
    std::deque<std::shared_ptr<Task>> m_tasks {}; // the first one is being worked on
    bool m_answering = false; // the first task's answer is on its way, so that a next probe is welcome
    bool m_finishing = false; // the thread ends once there is no task
    bool m_ended = false; // it has
    std::thread m_thread {};
};

} // namespace kvw::worker
