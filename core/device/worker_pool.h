// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kvw {

/// A few threads that divide a loop among them. Belongs to one thread, which works along as worker 0.
class WorkerPool
{
public:
    /// A piece of work and the worker (0 … threads() − 1) that does it. It must not throw.
    using Job = std::function<void(std::size_t item, int worker)>;

    /// `threads` workers, the caller included; fewer when the system refuses to start threads.
    explicit WorkerPool(int threads);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// At least 1.
    int threads() const;
    /// Does every item below `items` once and returns when all are done. With `parallel` false the caller does them all
    /// in order, which is quicker for little work.
    void run(std::size_t items, bool parallel, const Job& job);

private:
    void work(int worker);
    void takeItems(int worker);

    std::vector<std::thread> m_threads;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    std::condition_variable m_done;
    std::size_t m_loop = 0; // number of the loop that is running
    std::size_t m_busy = 0; // threads that have not finished it
    bool m_stop = false;
    const Job* m_job = nullptr;
    std::size_t m_items = 0;
    std::atomic<std::size_t> m_next {0};
};

} // namespace kvw
