// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/modelled_device.h"

#include "device/layout_check.h"

namespace kvw {
namespace {

Error noBytes()
{
    return Error {"device.no_bytes", "a modelled device holds no bytes, so there is nothing to read from it"};
}

} // namespace

DeviceInfo ModelledDevice::info() const
{
    return DeviceInfo {"modelled", "no device: a prediction", 0, 0, "none"};
}

Result<void> ModelledDevice::reserve(const PoolLayout& layout)
{
    release();
    Result<void> checked = checkLayout(layout);
    if (checked)
        m_layout = layout;
    return checked;
}

void ModelledDevice::release()
{
    m_layout = {};
}

Result<void> ModelledDevice::checkSpans(std::span<const EntrySpan> spans) const
{
    for (const EntrySpan& span : spans) {
        Result<void> checked = checkSpan(m_layout, span);
        if (!checked)
            return checked;
    }
    return {};
}

Result<void> ModelledDevice::append(std::span<const EntrySpan> spans)
{
    return checkSpans(spans);
}

Result<VerifyCount> ModelledDevice::verify(std::span<const EntrySpan> spans)
{
    const Result<void> checked = checkSpans(spans);
    if (!checked)
        return checked.error();
    return VerifyCount {};
}

Result<void> ModelledDevice::copyBlocks(
    std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> fromTo)
{
    return checkCopies(m_layout, pool, fromTo);
}

Result<std::vector<std::optional<EntryTag>>> ModelledDevice::readTags(std::uint32_t, std::uint32_t) const
{
    return noBytes();
}

Result<void> ModelledDevice::countAndPoisonAll()
{
    return {};
}

DeviceCounts ModelledDevice::counts() const
{
    return {};
}

Result<MemoryReading> ModelledDevice::memory() const
{
    return noBytes();
}

bool ModelledDevice::holdsBytes() const
{
    return false;
}

Rate ModelledDevice::appendRate() const
{
    return {};
}

Rate ModelledDevice::verifyRate() const
{
    return {};
}

} // namespace kvw
