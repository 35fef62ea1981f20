// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"

#include <cstdint>
#include <vector>

namespace kvw::test {

/// A fault that a device may have and that the instruments must find. A pool that is a page short is not among them:
/// HostDeviceOptions::unmappedTailBytes makes one.
struct Sabotage
{
    enum class Kind {
        None,
        WrongSlot, ///< the span's entries land one slot further, the last slot's in slot 0 (which begins the block
                   ///< anew)
        AppendTwice, ///< the span is also written into block `otherBlock`
        RepeatedAppend, ///< the span is written a second time where it is: harmless to the bytes
        ForeignDomain, ///< the span is written as domain `otherDomain`
        SkippedAppend, ///< the span is not written
    };

    Kind kind = Kind::None;
    std::int64_t afterSpans = 0; ///< appended spans, over all calls, that stay untouched before the one that is hit
    std::uint32_t otherBlock = 0;
    std::uint16_t otherDomain = 0;
};

/// Another device with one fault in it: exactly one span is hit. Everything else goes straight through. Does not own
/// the device.
class SabotageDevice final : public Device
{
public:
    SabotageDevice(Device& inner, Sabotage sabotage);

    /// The span that was hit, as the caller gave it (its chains belong to the caller); nothing before.
    const std::optional<EntrySpan>& hit() const;

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
    void addSabotaged(const EntrySpan& span, std::vector<EntrySpan>& out) const;
    void addShifted(const EntrySpan& span, std::vector<EntrySpan>& out) const;

    Device& m_inner;
    Sabotage m_sabotage;
    PoolLayout m_layout {};
    std::int64_t m_seen = 0; // appended spans so far
    std::optional<EntrySpan> m_hit {};
};

} // namespace kvw::test
