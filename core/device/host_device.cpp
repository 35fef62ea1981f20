// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_device.h"

#include "device/layout_check.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>

namespace kvw {
namespace {

// Below this many bytes waking a thread takes longer than the work.
constexpr std::int64_t parallelBytes = std::int64_t {512} * 1024;
constexpr std::size_t poisonChunkBytes = std::size_t {4} << 20;

int threadsFor(int asked)
{
    if (asked > 0)
        return asked;
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 4);
}

class Stopwatch
{
public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count(); }

private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

std::string sizeText(std::int64_t bytes)
{
    return fmt::format("{} bytes ({})", grouped(bytes), format(Bytes(bytes)));
}

} // namespace

HostDevice::HostDevice(HostDeviceOptions options)
    : m_options(options)
    , m_threads(threadsFor(options.threads))
    , m_scratch(static_cast<std::size_t>(m_threads.threads()))
{}

DeviceInfo HostDevice::info() const
{
    const Result<MemInfo> memory = readMemInfo();
    const MemInfo known = memory ? *memory : MemInfo {};
    return DeviceInfo {
        "host", processorName(), known.totalBytes, known.availableBytes, "/proc/meminfo MemTotal, MemAvailable"};
}

Result<void> HostDevice::reserve(const PoolLayout& layout)
{
    release();
    m_counts = {};
    m_appendRate = m_verifyRate = m_instrumentRate = {};
    Result<void> checked = checkLayout(layout);
    if (checked)
        checked = checkContentLayout(layout);
    if (checked)
        checked = checkMemory(layout.totalBytes()->value);
    if (!checked)
        return checked;
    try {
        Result<HostPools> pools = HostPools::create(layout, m_options.hugePages, m_options.unmappedTailBytes);
        if (!pools)
            return pools.error();
        for (const PoolSpec& pool : layout.pools)
            m_lastRound.emplace_back(static_cast<std::size_t>(pool.blocks.value), m_round);
        m_pools = std::move(*pools);
    } catch (const std::bad_alloc&) {
        release();
        return Error {"device.memory", "no memory is left for the bookkeeping of the pools"};
    }
    poisonPools(false); // touches every page, so that no later figure contains a first touch
    return {};
}

Result<void> HostDevice::checkMemory(std::int64_t needBytes) const
{
    const Result<MemInfo> memory = readMemInfo();
    if (!memory)
        return memory.error();
    const std::int64_t limit = m_options.limitBytes.value_or(memory->availableBytes / 4);
    if (needBytes <= limit && needBytes <= memory->availableBytes)
        return {};
    return Error {"device.memory",
        fmt::format("the pools do not fit: they need {}, the limit is {}{}, available are {}", sizeText(needBytes),
            sizeText(limit), m_options.limitBytes ? "" : ", a quarter of what is available",
            sizeText(memory->availableBytes))};
}

void HostDevice::release()
{
    m_pools = {};
    m_lastRound.clear();
}

Result<void> HostDevice::checkSpans(std::span<const EntrySpan> spans) const
{
    for (const EntrySpan& span : spans) {
        Result<void> checked = checkSpan(m_pools.layout(), span);
        if (checked)
            checked = m_pools.checkMapped(poolOf(span), span.block);
        // Devices without bytes need no content and may be given none.
        if (checked && span.chains == nullptr)
            checked = Error {"device.range", "a span comes without the token chains of its entries"};
        if (!checked)
            return checked;
    }
    return {};
}

std::uint32_t HostDevice::poolOf(const EntrySpan& span) const
{
    return m_pools.layout().groups[span.group].pool;
}

std::int64_t HostDevice::contentBytes(std::span<const EntrySpan> spans) const
{
    std::int64_t bytes = 0;
    for (const EntrySpan& span : spans)
        bytes += span.count * entryBytesOfToken(m_pools.layout().groups[span.group]);
    return bytes;
}

HostPools::Scratch& HostDevice::scratch(int worker)
{
    return m_scratch[static_cast<std::size_t>(worker)];
}

std::size_t HostDevice::roundLength(std::span<const EntrySpan> spans)
{
    if (m_round == std::numeric_limits<std::uint32_t>::max()) { // the numbers are used up: forget them all
        for (std::vector<std::uint32_t>& blocks : m_lastRound)
            std::fill(blocks.begin(), blocks.end(), 0);
        m_round = 0;
    }
    ++m_round;
    std::size_t length = 0;
    for (const EntrySpan& span : spans) {
        std::uint32_t& last = m_lastRound[poolOf(span)][span.block];
        if (last == m_round)
            break;
        last = m_round;
        ++length;
    }
    return length;
}

Result<void> HostDevice::append(std::span<const EntrySpan> spans)
{
    Result<void> checked = checkSpans(spans);
    if (!checked)
        return checked;
    while (!spans.empty()) {
        const std::span<const EntrySpan> round = spans.first(roundLength(spans));
        spans = spans.subspan(round.size());
        beginBlocks(round);
        const std::int64_t bytes = contentBytes(round);
        const Stopwatch watch;
        m_threads.run(round.size(), bytes >= parallelBytes,
            [&](std::size_t item, int worker) { m_pools.writeSpan(round[item], scratch(worker)); });
        m_appendRate.seconds += watch.seconds();
        m_appendRate.bytes += static_cast<double>(bytes);
    }
    return {};
}

void HostDevice::beginBlocks(std::span<const EntrySpan> spans)
{
    const auto begins
        = [&](const EntrySpan& span) { return span.slot == 0 && holdsState(m_pools.layout().groups[span.group]); };
    std::int64_t bytes = 0;
    for (const EntrySpan& span : spans)
        bytes += begins(span) ? m_pools.layout().pools[poolOf(span)].blockBytes.value : 0;
    if (bytes == 0)
        return;
    const Stopwatch watch;
    m_threads.run(spans.size(), bytes >= parallelBytes, [&](std::size_t item, int worker) {
        if (begins(spans[item]))
            m_pools.beginBlock(poolOf(spans[item]), spans[item].block, scratch(worker));
    });
    m_instrumentRate.seconds += watch.seconds();
    m_instrumentRate.bytes += static_cast<double>(bytes);
    collectCounts();
}

void HostDevice::collectCounts()
{
    for (HostPools::Scratch& worker : m_scratch) {
        m_counts.nonPoisonBytes += worker.counts.nonPoisonBytes;
        m_counts.fullBlocksOverwritten += worker.counts.fullBlocksOverwritten;
        worker.counts = {};
    }
}

Result<VerifyCount> HostDevice::verify(std::span<const EntrySpan> spans)
{
    const Result<void> checked = checkSpans(spans);
    if (!checked)
        return checked.error();
    const Stopwatch watch;
    m_threads.run(spans.size(), contentBytes(spans) >= parallelBytes,
        [&](std::size_t item, int worker) { m_pools.verifySpan(spans[item], scratch(worker)); });
    m_verifyRate.seconds += watch.seconds();
    VerifyCount found;
    for (HostPools::Scratch& worker : m_scratch) {
        found += worker.found;
        worker.found = {};
    }
    m_verifyRate.bytes += static_cast<double>(found.bytesRead);
    return found;
}

Result<void> HostDevice::copyBlocks(std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> fromTo)
{
    Result<void> checked = checkCopies(m_pools.layout(), pool, fromTo);
    for (std::size_t i = 0; checked && i < fromTo.size(); ++i)
        checked = m_pools.checkMapped(pool, std::max(fromTo[i].first, fromTo[i].second));
    if (!checked)
        return checked;
    for (const auto& [from, to] : fromTo) {
        m_pools.beginBlock(pool, to, scratch(0));
        const std::span<const std::byte> source = m_pools.blockBytes(pool, from);
        std::memcpy(m_pools.blockBytes(pool, to).data(), source.data(), source.size());
    }
    collectCounts();
    return {};
}

Result<std::vector<std::optional<EntryTag>>> HostDevice::readTags(std::uint32_t group, std::uint32_t block) const
{
    Result<void> checked = checkReadable(m_pools.layout(), group, block);
    if (checked)
        checked = m_pools.checkMapped(m_pools.layout().groups[group].pool, block);
    if (!checked)
        return checked.error();
    const GroupLayout& layout = m_pools.layout().groups[group];
    std::vector<std::optional<EntryTag>> tags(static_cast<std::size_t>(layout.blockTokens));
    for (std::size_t slot = 0; holdsState(layout) && slot < tags.size(); ++slot)
        tags[slot] = m_pools.tagAt(group, block, static_cast<std::int64_t>(slot));
    return tags;
}

void HostDevice::poisonPools(bool count)
{
    for (std::uint32_t pool = 0; pool < m_pools.size(); ++pool) {
        const std::span<std::byte> bytes = m_pools.bytes(pool);
        m_threads.run(
            (bytes.size() + poisonChunkBytes - 1) / poisonChunkBytes, true, [&](std::size_t item, int worker) {
                const std::size_t first = item * poisonChunkBytes;
                const std::span<std::byte> chunk
                    = bytes.subspan(first, std::min(poisonChunkBytes, bytes.size() - first));
                if (count)
                    scratch(worker).counts.nonPoisonBytes += countNonPoison(chunk);
                poison(chunk);
            });
    }
}

Result<void> HostDevice::countAndPoisonAll()
{
    const Stopwatch watch;
    poisonPools(true);
    m_instrumentRate.seconds += watch.seconds();
    for (std::uint32_t pool = 0; pool < m_pools.size(); ++pool)
        m_instrumentRate.bytes += static_cast<double>(m_pools.bytes(pool).size());
    collectCounts();
    return {};
}

DeviceCounts HostDevice::counts() const
{
    return m_counts;
}

Result<MemoryReading> HostDevice::memory() const
{
    const Result<std::int64_t> resident = residentBytes(m_pools.pages());
    if (!resident)
        return resident.error();
    return MemoryReading {"/proc/self/smaps Rss of the pool mappings", *resident, memoryPageBytes()};
}

bool HostDevice::holdsBytes() const
{
    return true;
}

Rate HostDevice::appendRate() const
{
    return m_appendRate;
}

Rate HostDevice::verifyRate() const
{
    return m_verifyRate;
}

Rate HostDevice::instrumentRate() const
{
    return m_instrumentRate;
}

int HostDevice::threads() const
{
    return m_threads.threads();
}

std::span<std::byte> HostDevice::poolBytes(std::uint32_t pool) const
{
    return pool < m_pools.size() ? m_pools.bytes(pool) : std::span<std::byte> {};
}

} // namespace kvw
