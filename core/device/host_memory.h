// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/result.h"

#include <cstdint>
#include <istream>
#include <span>
#include <string>

namespace kvw {

/// What the Linux kernel says about memory. Each reader of a stream has a twin that opens the file in /proc itself.

struct MemInfo
{
    std::int64_t totalBytes = 0; ///< MemTotal
    std::int64_t availableBytes = 0; ///< MemAvailable: what can be had without swapping
};

/// Errors: device.memory when a line is missing or is no number.
Result<MemInfo> readMemInfo(std::istream& meminfo);
Result<MemInfo> readMemInfo();

/// Addresses [begin, end).
struct AddressRange
{
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
};

/// Sum of the Rss of all mappings that lie in `ranges`. Errors: device.memory when the text is not smaps, or when a
/// mapping reaches across the border of a range, because its Rss cannot be divided then.
Result<std::int64_t> residentBytes(std::istream& smaps, std::span<const AddressRange> ranges);
/// The same from /proc/self/smaps.
Result<std::int64_t> residentBytes(std::span<const AddressRange> ranges);

/// Bytes of a memory page; 4096 when the system does not say.
std::int64_t memoryPageBytes();
/// `bytes` rounded up to whole pages. REQUIRES 0 ≤ bytes ≤ 2^62.
std::int64_t roundUpToPages(std::int64_t bytes);
/// The processor's name in /proc/cpuinfo, "processor" when there is none.
std::string processorName();

} // namespace kvw
