// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "worker/frame.h"
#include "worker/protocol.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace kvw::worker {

struct OutboxLimits
{
    std::size_t waitBytes = std::size_t {16} << 20; ///< send() waits while more than so much is queued
    std::size_t mostBytes = std::size_t {256} << 20; ///< post() gives up, and with it the other side, beyond this
};

/// Messages on their way out. A thread of its own writes them in order, and a heartbeat whenever one is due, so that
/// the other side hears from a busy worker too. Whoever sends never waits for the pipe, except in send() while the
/// other side is slow to read. Any thread may send.
class Outbox
{
public:
    /// Writes to `descriptor`, which stays the caller's. A hello must be the first message.
    Outbox(int descriptor, std::chrono::milliseconds heartbeat, OutboxLimits limits = {});
    /// Ends the thread; what is not written by then is lost (see drain()).
    ~Outbox();
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    /// Waits while the queue is full. False when the message cannot arrive any more.
    bool send(const Message& message);
    /// Never waits.
    bool post(const Message& message);
    /// True when the other side does not read any more.
    bool broken() const;
    /// Gives up on the other side.
    void breakOff();
    /// Nothing waits any longer and nothing more is taken; what is queued is still written.
    void close();
    /// Waits until everything is written. False when that takes longer, or when it cannot be.
    bool drain(std::chrono::milliseconds longest);

private:
    struct Item
    {
        MessageType type = MessageType::Heartbeat;
        std::vector<std::byte> payload {};
    };

    static std::size_t sizeOf(const Item& item);
    bool add(Item item);
    void run();
    bool write(const Item& item);

    const int m_descriptor;
    const std::chrono::milliseconds m_heartbeat;
    const OutboxLimits m_limits;
    FrameWriter m_writer {}; // of the thread
    std::mutex m_mutex {};
    std::condition_variable m_changed {};
    std::deque<Item> m_queue {};
    std::size_t m_queuedBytes = 0;
    bool m_writing = false;
    bool m_closed = false;
    std::atomic<bool> m_broken = false;
    std::atomic<bool> m_abandoned = false; // the thread shall end now
    std::thread m_thread {};
};

} // namespace kvw::worker
