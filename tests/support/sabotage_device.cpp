// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "support/sabotage_device.h"

#include "device/layout_check.h"

#include <algorithm>

namespace kvw::test {

SabotageDevice::SabotageDevice(Device& inner, Sabotage sabotage)
    : m_inner(inner)
    , m_sabotage(sabotage)
{}

const std::optional<EntrySpan>& SabotageDevice::hit() const
{
    return m_hit;
}

Result<void> SabotageDevice::reserve(const PoolLayout& layout)
{
    m_layout = layout;
    m_seen = 0;
    m_hit.reset();
    return m_inner.reserve(layout);
}

Result<void> SabotageDevice::append(std::span<const EntrySpan> spans)
{
    std::vector<EntrySpan> out;
    out.reserve(spans.size() + 2);
    for (const EntrySpan& span : spans) {
        if (m_seen++ == m_sabotage.afterSpans && m_sabotage.kind != Sabotage::Kind::None) {
            m_hit = span;
            addSabotaged(span, out);
        } else {
            out.push_back(span);
        }
    }
    return m_inner.append(out);
}

void SabotageDevice::addSabotaged(const EntrySpan& span, std::vector<EntrySpan>& out) const
{
    EntrySpan other = span;
    switch (m_sabotage.kind) {
    case Sabotage::Kind::None:
        out.push_back(span);
        break;
    case Sabotage::Kind::WrongSlot:
        addShifted(span, out);
        break;
    case Sabotage::Kind::AppendTwice:
        other.block = m_sabotage.otherBlock;
        out.push_back(span);
        out.push_back(other);
        break;
    case Sabotage::Kind::RepeatedAppend:
        out.push_back(span);
        out.push_back(span);
        break;
    case Sabotage::Kind::ForeignDomain:
        other.domain = m_sabotage.otherDomain;
        out.push_back(other);
        break;
    case Sabotage::Kind::SkippedAppend:
        break;
    }
}

void SabotageDevice::addShifted(const EntrySpan& span, std::vector<EntrySpan>& out) const
{
    if (!checkSpan(m_layout, span)) {
        out.push_back(span); // the inner device refuses it too
        return;
    }
    const auto slots = static_cast<std::int32_t>(m_layout.groups[span.group].blockTokens);
    const std::int32_t fitting = std::clamp(slots - span.slot - 1, 0, span.count);
    EntrySpan shifted = span;
    if (fitting < span.count) { // before the others, because slot 0 begins the block anew
        EntrySpan wrapped = span;
        wrapped.slot = 0;
        wrapped.count = span.count - fitting;
        wrapped.position += fitting;
        wrapped.chains += fitting;
        out.push_back(wrapped);
    }
    if (fitting > 0) {
        ++shifted.slot;
        shifted.count = fitting;
        out.push_back(shifted);
    }
}

DeviceInfo SabotageDevice::info() const
{
    return m_inner.info();
}

void SabotageDevice::release()
{
    m_inner.release();
}

Result<VerifyCount> SabotageDevice::verify(std::span<const EntrySpan> spans)
{
    return m_inner.verify(spans);
}

Result<void> SabotageDevice::copyBlocks(
    std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> fromTo)
{
    return m_inner.copyBlocks(pool, fromTo);
}

Result<std::vector<std::optional<EntryTag>>> SabotageDevice::readTags(std::uint32_t group, std::uint32_t block) const
{
    return m_inner.readTags(group, block);
}

Result<void> SabotageDevice::countAndPoisonAll()
{
    return m_inner.countAndPoisonAll();
}

DeviceCounts SabotageDevice::counts() const
{
    return m_inner.counts();
}

Result<MemoryReading> SabotageDevice::memory() const
{
    return m_inner.memory();
}

bool SabotageDevice::holdsBytes() const
{
    return m_inner.holdsBytes();
}

Rate SabotageDevice::appendRate() const
{
    return m_inner.appendRate();
}

Rate SabotageDevice::verifyRate() const
{
    return m_inner.verifyRate();
}

} // namespace kvw::test
