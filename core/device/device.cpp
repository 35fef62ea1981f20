// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/device.h"

namespace kvw {

VerifyCount& VerifyCount::operator+=(const VerifyCount& other)
{
    entries += other.entries;
    mismatched += other.mismatched;
    foreign += other.foreign;
    bytesRead += other.bytesRead;
    blocksRead += other.blocksRead;
    return *this;
}

double Rate::perSecond() const
{
    return seconds > 0 ? bytes / seconds : 0;
}

Device::~Device() = default;

} // namespace kvw
