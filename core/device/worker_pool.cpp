// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/worker_pool.h"

#include <system_error>

namespace kvw {

WorkerPool::WorkerPool(int threads)
{
    try {
        if (threads > 1)
            m_threads.reserve(static_cast<std::size_t>(threads) - 1);
        for (int worker = 1; worker < threads; ++worker)
            m_threads.emplace_back(&WorkerPool::work, this, worker);
    } catch (const std::system_error&) {
        // The system has no more threads: the work is done by those that there are.
    }
}

WorkerPool::~WorkerPool()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_all();
    for (std::thread& thread : m_threads)
        thread.join();
}

int WorkerPool::threads() const
{
    return static_cast<int>(m_threads.size()) + 1;
}

void WorkerPool::run(std::size_t items, bool parallel, const Job& job)
{
    if (!parallel || m_threads.empty() || items < 2) {
        for (std::size_t item = 0; item < items; ++item)
            job(item, 0);
        return;
    }
    {
        const std::lock_guard lock(m_mutex);
        m_job = &job;
        m_items = items;
        m_next.store(0, std::memory_order_relaxed);
        m_busy = m_threads.size();
        ++m_loop;
    }
    m_wake.notify_all();
    takeItems(0);
    std::unique_lock lock(m_mutex);
    m_done.wait(lock, [this] { return m_busy == 0; });
}

void WorkerPool::work(int worker)
{
    std::size_t seen = 0;
    for (;;) {
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait(lock, [&] { return m_stop || m_loop != seen; });
            if (m_stop)
                return;
            seen = m_loop;
        }
        takeItems(worker);
        const std::lock_guard lock(m_mutex);
        if (--m_busy == 0)
            m_done.notify_one();
    }
}

void WorkerPool::takeItems(int worker)
{
    for (;;) {
        const std::size_t item = m_next.fetch_add(1, std::memory_order_relaxed);
        if (item >= m_items)
            return;
        (*m_job)(item, worker);
    }
}

} // namespace kvw
