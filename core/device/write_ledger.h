// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"

#include <unordered_map>
#include <vector>

namespace kvw {

/// What was written for one request, by token position, as the device was told to write it.
struct WrittenTokens
{
    std::vector<bool> positions; ///< position → written at least once
    std::int64_t writes = 0; ///< entries written, repeats counted
    std::int64_t repeats = 0; ///< entries written at a position that had been written before

    /// Distinct positions below `end` that were written.
    std::int64_t distinctBelow(std::int64_t end) const;
};

/// A device that keeps a ledger of what is written to it and passes everything on. It knows nothing of hits or of the
/// loop's counters: tokens of a completed request that were never written were served from the cache. Only group 0 is
/// kept: every token is written once in each group.
class WriteLedger final : public Device
{
public:
    /// `device` must outlive the ledger.
    explicit WriteLedger(Device& device);

    const std::unordered_map<std::uint32_t, WrittenTokens>& requests() const;

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
    Rate appendRate() const override;
    Rate verifyRate() const override;

private:
    Device& m_device;
    std::unordered_map<std::uint32_t, WrittenTokens> m_requests;
};

} // namespace kvw
