// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/write_ledger.h"

#include <algorithm>

namespace kvw {

std::int64_t WrittenTokens::distinctBelow(std::int64_t end) const
{
    const auto last = positions.begin() + std::min<std::int64_t>(end, static_cast<std::int64_t>(positions.size()));
    return std::count(positions.begin(), last, true);
}

WriteLedger::WriteLedger(Device& device)
    : m_device(device)
{}

const std::unordered_map<std::uint32_t, WrittenTokens>& WriteLedger::requests() const
{
    return m_requests;
}

DeviceInfo WriteLedger::info() const
{
    return m_device.info();
}

Result<void> WriteLedger::reserve(const PoolLayout& layout)
{
    return m_device.reserve(layout);
}

void WriteLedger::release()
{
    m_device.release();
}

Result<void> WriteLedger::append(std::span<const EntrySpan> spans)
{
    Result<void> appended = m_device.append(spans);
    if (!appended)
        return appended;
    for (const EntrySpan& span : spans) {
        if (span.group != 0)
            continue;
        WrittenTokens& written = m_requests[span.request];
        const auto end = static_cast<std::size_t>(span.position + span.count);
        if (written.positions.size() < end)
            written.positions.resize(end);
        for (std::int64_t i = 0; i < span.count; ++i) {
            const auto position = static_cast<std::size_t>(span.position + i);
            written.repeats += written.positions[position] ? 1 : 0;
            written.positions[position] = true;
        }
        written.writes += span.count;
    }
    return appended;
}

Result<VerifyCount> WriteLedger::verify(std::span<const EntrySpan> spans)
{
    return m_device.verify(spans);
}

Result<void> WriteLedger::copyBlocks(
    std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> fromTo)
{
    return m_device.copyBlocks(pool, fromTo);
}

Result<std::vector<std::optional<EntryTag>>> WriteLedger::readTags(std::uint32_t group, std::uint32_t block) const
{
    return m_device.readTags(group, block);
}

Result<void> WriteLedger::countAndPoisonAll()
{
    return m_device.countAndPoisonAll();
}

DeviceCounts WriteLedger::counts() const
{
    return m_device.counts();
}

Result<MemoryReading> WriteLedger::memory() const
{
    return m_device.memory();
}

bool WriteLedger::holdsBytes() const
{
    return m_device.holdsBytes();
}

Rate WriteLedger::appendRate() const
{
    return m_device.appendRate();
}

Rate WriteLedger::verifyRate() const
{
    return m_device.verifyRate();
}

} // namespace kvw
