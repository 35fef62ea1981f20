// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/ceilings.h"

#include "device/host_memory.h"
#include "device/pool_mapping.h"
#include "device/worker_pool.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

namespace kvw {
namespace {

constexpr std::int64_t smallestWorkingSet = std::int64_t {1} << 20;

std::uint64_t sumOfWords(std::span<const std::byte> bytes)
{
    constexpr std::size_t lanes = 8; // independent sums, so that the loop waits for memory and not for itself
    constexpr std::size_t step = lanes * sizeof(std::uint64_t);
    std::array<std::uint64_t, lanes> sums {};
    std::array<std::uint64_t, lanes> words {};
    for (std::size_t at = 0; at + step <= bytes.size(); at += step) {
        std::memcpy(words.data(), bytes.data() + at, step);
        for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[lane] += words[lane];
    }
    std::uint64_t sum = 0;
    for (const std::uint64_t lane : sums)
        sum += lane;
    return sum;
}

// Part `index` of `parts` equal ones; a remainder is left out.
std::span<std::byte> part(std::span<std::byte> bytes, std::size_t index, std::size_t parts)
{
    const std::size_t size = bytes.size() / parts;
    return bytes.subspan(index * size, size);
}

class Measurement
{
public:
    Measurement(std::span<std::byte> bytes, int threads)
        : m_bytes(bytes)
        , m_pool(threads)
        , m_parts(static_cast<std::size_t>(m_pool.threads()))
        , m_sums(m_parts)
    {}

    Rate copy()
    {
        const std::size_t half = m_bytes.size() / 2;
        return timed(half, [&, half](std::size_t item) {
            const std::span<std::byte> from = part(m_bytes.first(half), item, m_parts);
            std::memcpy(part(m_bytes.subspan(half, half), item, m_parts).data(), from.data(), from.size());
        });
    }
    Rate read()
    {
        return timed(
            m_bytes.size(), [&](std::size_t item) { m_sums[item] += sumOfWords(part(m_bytes, item, m_parts)); });
    }
    Rate write()
    {
        ++m_fill; // a value that the compiler does not know
        return timed(m_bytes.size(), [&](std::size_t item) {
            const std::span<std::byte> to = part(m_bytes, item, m_parts);
            std::memset(to.data(), m_fill & 0x7f, to.size());
        });
    }
    int threads() const { return m_pool.threads(); }
    // Depends on every sum, so that no reading can be left out.
    std::uint64_t witness() const
    {
        std::uint64_t all = 0;
        for (const std::uint64_t sum : m_sums)
            all ^= sum;
        return all;
    }

private:
    Rate timed(std::size_t bytes, const std::function<void(std::size_t)>& job)
    {
        const auto start = std::chrono::steady_clock::now();
        m_pool.run(m_parts, true, [&](std::size_t item, int) { job(item); });
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        const std::size_t counted = bytes / m_parts * m_parts; // a remainder is left out
        return {static_cast<double>(counted), time.count()};
    }

    std::span<std::byte> m_bytes;
    WorkerPool m_pool;
    std::size_t m_parts;
    std::vector<std::uint64_t> m_sums;
    int m_fill = 0;
};

} // namespace

Rate medianRate(std::span<const Rate> rates)
{
    std::vector<Rate> sorted(rates.begin(), rates.end());
    std::sort(sorted.begin(), sorted.end(), [](const Rate& a, const Rate& b) { return a.perSecond() < b.perSecond(); });
    return sorted[(sorted.size() - 1) / 2];
}

std::int64_t workingSetFor(std::int64_t wantedBytes)
{
    const Result<MemInfo> memory = readMemInfo();
    const std::int64_t most = memory ? memory->availableBytes / 8 : smallestWorkingSet;
    return std::max(std::min(wantedBytes, most), smallestWorkingSet);
}

Result<MemoryCeilings> measureCeilings(
    std::int64_t workingSetBytes, int threads, int repeats, const std::function<bool()>& stop)
{
    const std::int64_t bytes = std::max(workingSetBytes, smallestWorkingSet);
    Result<PoolMapping> mapping = PoolMapping::create(bytes, true);
    if (!mapping)
        return mapping.error();
    Measurement measurement(mapping->bytes(), std::max(threads, 1));
    std::vector<Rate> copies;
    std::vector<Rate> reads;
    std::vector<Rate> writes;
    for (int repeat = -1; repeat < std::max(repeats, 1); ++repeat) {
        if (stop && stop())
            return Error {"run.stopped", "stopped while memory rates were measured"};
        const Rate write = measurement.write(); // first, so that it also touches the memory
        const Rate copy = measurement.copy();
        const Rate read = measurement.read();
        if (repeat < 0)
            continue;
        writes.push_back(write);
        copies.push_back(copy);
        reads.push_back(read);
    }
    volatile std::uint64_t keep = measurement.witness();
    (void)keep;
    return MemoryCeilings {medianRate(copies), medianRate(reads), medianRate(writes), bytes, measurement.threads(),
        static_cast<int>(reads.size())};
}

} // namespace kvw
