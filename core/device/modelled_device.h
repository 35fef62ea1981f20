// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"

namespace kvw {

/// The device of a prediction: it keeps no bytes and spends no time. It refuses what a device with bytes would refuse,
/// and counts nothing, because a count of its own would only repeat the loop's. One thread at a time.
class ModelledDevice final : public Device
{
public:
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
    Result<void> checkSpans(std::span<const EntrySpan> spans) const;

    PoolLayout m_layout {}; // empty: nothing is reserved
};

} // namespace kvw
