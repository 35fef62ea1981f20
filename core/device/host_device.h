// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"
#include "device/host_pools.h"
#include "device/worker_pool.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kvw {

struct HostDeviceOptions
{
    /// Most bytes that may be reserved. Nothing: a quarter of MemAvailable at the time.
    std::optional<std::int64_t> limitBytes {};
    /// Threads that write, read and poison. 0: one per processor, at most 4. The bytes are the same with any number.
    int threads = 0;
    bool hugePages = true; ///< ask for them (madvise); the system decides

    /// Fault injection, for tests only: so many bytes, in whole pages, at the end of the last pool are not there. Spans
    /// and copies in blocks that would need them are refused with device.range.
    std::int64_t unmappedTailBytes = 0;
};

/// Real pools in the host's memory. Each pool is a mapping of its own, written once when it is reserved. One thread at
/// a time.
///
/// It takes tensors with one entry per token only (device.layout otherwise), each entry at least tagBytes long.
class HostDevice final : public Device
{
public:
    explicit HostDevice(HostDeviceOptions options = {});

    DeviceInfo info() const override;
    Result<void> reserve(const PoolLayout& layout) override;
    void release() override;
    Result<void> append(std::span<const EntrySpan> spans) override;
    Result<VerifyCount> verify(std::span<const EntrySpan> spans) override;
    Result<void> copyBlocks(
        std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> fromTo) override;
    Result<std::vector<std::optional<EntryTag>>> readTags(std::uint32_t group, std::uint32_t block) const override;
    Result<void> countAndPoisonAll() override;
    DeviceCounts counts() const override;
    Result<MemoryReading> memory() const override;
    bool holdsBytes() const override;
    /// Writing of content only: the counting and poisoning before it is instrumentRate().
    Rate appendRate() const override;
    Rate verifyRate() const override;

    /// The device's own instrument: bytes counted and poisoned again, and the seconds that took.
    Rate instrumentRate() const;
    int threads() const;
    /// The pool's memory, for tests and for readers that look at all of it. Empty when there is no such pool.
    std::span<std::byte> poolBytes(std::uint32_t pool) const;

private:
    Result<void> checkMemory(std::int64_t needBytes) const;
    Result<void> checkSpans(std::span<const EntrySpan> spans) const;
    std::uint32_t poolOf(const EntrySpan& span) const;
    std::int64_t contentBytes(std::span<const EntrySpan> spans) const;
    HostPools::Scratch& scratch(int worker);
    /// How many of `spans` can take effect together: no block twice, so that their order does not matter.
    std::size_t roundLength(std::span<const EntrySpan> spans);
    void beginBlocks(std::span<const EntrySpan> spans);
    /// Every pool poisoned, its other bytes counted first if `count`.
    void poisonPools(bool count);
    void collectCounts();

    HostDeviceOptions m_options;
    WorkerPool m_threads;
    std::vector<HostPools::Scratch> m_scratch; // by worker
    HostPools m_pools {}; // empty: nothing is reserved
    std::vector<std::vector<std::uint32_t>> m_lastRound {}; // by pool and block: the round that touched it last
    std::uint32_t m_round = 0;
    DeviceCounts m_counts {};
    Rate m_appendRate {};
    Rate m_verifyRate {};
    Rate m_instrumentRate {};
};

} // namespace kvw
