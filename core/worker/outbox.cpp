// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/outbox.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <new>
#include <poll.h>
#include <unistd.h>

namespace kvw::worker {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int pollMilliseconds = 100; // how long a full pipe may keep the thread from seeing that it shall end

} // namespace

Outbox::Outbox(int descriptor, std::chrono::milliseconds heartbeat, OutboxLimits limits)
    : m_descriptor(descriptor)
    , m_heartbeat(heartbeat)
    , m_limits(limits)
{
    m_thread = std::thread([this] { run(); });
}

Outbox::~Outbox()
{
    close();
    {
        const std::lock_guard lock(m_mutex);
        m_abandoned = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

bool Outbox::send(const Message& message)
{
    Item item {typeOf(message), encode(message)};
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_closed || m_broken || m_queuedBytes <= m_limits.waitBytes; });
    }
    return add(std::move(item));
}

bool Outbox::post(const Message& message)
{
    return add({typeOf(message), encode(message)});
}

bool Outbox::add(Item item)
{
    {
        const std::lock_guard lock(m_mutex);
        if (m_closed || m_broken)
            return false;
        if (m_queuedBytes > m_limits.mostBytes) {
            m_broken = true;
        } else {
            m_queuedBytes += sizeOf(item);
            m_queue.push_back(std::move(item));
        }
    }
    m_changed.notify_all();
    return !m_broken;
}

bool Outbox::broken() const
{
    return m_broken;
}

void Outbox::breakOff()
{
    {
        const std::lock_guard lock(m_mutex);
        m_broken = true;
    }
    m_changed.notify_all();
}

void Outbox::close()
{
    {
        const std::lock_guard lock(m_mutex);
        m_closed = true;
    }
    m_changed.notify_all();
}

bool Outbox::drain(std::chrono::milliseconds longest)
{
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, longest, [&] { return m_broken || (m_queue.empty() && !m_writing); });
    return !m_broken && m_queue.empty() && !m_writing;
}

std::size_t Outbox::sizeOf(const Item& item)
{
    return frameHeaderBytes + item.payload.size();
}

void Outbox::run()
{
    Clock::time_point due = Clock::now() + m_heartbeat;
    bool greeted = false; // the hello comes before any heartbeat
    std::unique_lock lock(m_mutex);
    while (!m_abandoned && !m_broken) {
        const bool beats = greeted && !m_closed && Clock::now() >= due;
        if (!beats && m_queue.empty()) {
            m_changed.wait_until(lock, greeted && !m_closed ? due : Clock::now() + m_heartbeat);
            continue;
        }
        Item item;
        if (!beats) {
            item = std::move(m_queue.front());
            m_queue.pop_front();
        }
        m_writing = true;
        lock.unlock();
        const bool written = write(item);
        lock.lock();
        m_writing = false;
        if (!beats)
            m_queuedBytes -= sizeOf(item);
        greeted = true;
        if (beats)
            due = Clock::now() + m_heartbeat;
        if (!written)
            m_broken = true;
        m_changed.notify_all();
    }
}

bool Outbox::write(const Item& item)
{
    std::vector<std::byte> bytes;
    try {
        if (!m_writer.write(static_cast<std::uint8_t>(item.type), item.payload, bytes))
            return false;
    } catch (const std::bad_alloc&) {
        return false;
    }
    std::span<const std::byte> rest = bytes;
    while (!rest.empty()) {
        pollfd wait {m_descriptor, POLLOUT, 0};
        const int ready = ::poll(&wait, 1, pollMilliseconds);
        if (m_abandoned || (ready < 0 && errno != EINTR))
            return false;
        if (ready <= 0)
            continue;
        // A pipe that is ready takes this many bytes without waiting.
        const ssize_t got = ::write(m_descriptor, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return false;
        if (got > 0)
            rest = rest.subspan(static_cast<std::size_t>(got));
    }
    return true;
}

} // namespace kvw::worker
