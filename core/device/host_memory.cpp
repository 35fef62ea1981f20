// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>

#include <unistd.h>

namespace kvw {
namespace {

std::string_view withoutLeadingBlanks(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t");
    return first == std::string_view::npos ? std::string_view {} : text.substr(first);
}

// "Rss:      1234 kB" with the key "Rss:" is 1,263,616 bytes.
std::optional<std::int64_t> kilobyteLine(std::string_view line, std::string_view key)
{
    if (!line.starts_with(key))
        return std::nullopt;
    line = withoutLeadingBlanks(line.substr(key.size()));
    std::int64_t value = 0;
    const std::from_chars_result read = std::from_chars(line.data(), line.data() + line.size(), value);
    const std::string_view unit = line.substr(static_cast<std::size_t>(read.ptr - line.data()));
    constexpr std::int64_t most = std::int64_t {1} << 52;
    if (read.ec != std::errc {} || withoutLeadingBlanks(unit) != "kB" || value < 0 || value > most)
        return std::nullopt;
    return value * 1024;
}

// The first line of a mapping: "7f12a000-7f12c000 rw-p …".
std::optional<AddressRange> mappingLine(std::string_view line)
{
    AddressRange range;
    const char* const end = line.data() + line.size();
    std::from_chars_result read = std::from_chars(line.data(), end, range.begin, 16);
    if (read.ec != std::errc {} || read.ptr == end || *read.ptr != '-')
        return std::nullopt;
    read = std::from_chars(read.ptr + 1, end, range.end, 16);
    if (read.ec != std::errc {} || read.ptr == end || *read.ptr != ' ')
        return std::nullopt;
    return range;
}

bool contains(const AddressRange& outer, const AddressRange& inner)
{
    return outer.begin <= inner.begin && inner.end <= outer.end;
}

bool overlaps(const AddressRange& range, const AddressRange& mapping)
{
    return range.begin < range.end && range.begin < mapping.end && mapping.begin < range.end;
}

} // namespace

Result<MemInfo> readMemInfo(std::istream& meminfo)
{
    std::optional<std::int64_t> total;
    std::optional<std::int64_t> available;
    for (std::string line; std::getline(meminfo, line);) {
        if (const std::optional<std::int64_t> bytes = kilobyteLine(line, "MemTotal:"))
            total = bytes;
        else if (const std::optional<std::int64_t> free = kilobyteLine(line, "MemAvailable:"))
            available = free;
    }
    if (!total || !available)
        return Error {"device.memory", "the system does not say how much memory it has", Location {"/proc/meminfo", {}},
            {}, "lines MemTotal and MemAvailable in kB"};
    return MemInfo {*total, *available};
}

Result<MemInfo> readMemInfo()
{
    std::ifstream file("/proc/meminfo");
    return readMemInfo(file);
}

Result<std::int64_t> residentBytes(std::istream& smaps, std::span<const AddressRange> ranges)
{
    std::int64_t sum = 0;
    bool anyMapping = false;
    bool ours = false;
    for (std::string line; std::getline(smaps, line);) {
        if (const std::optional<AddressRange> mapping = mappingLine(line)) {
            anyMapping = true;
            ours = std::any_of(
                ranges.begin(), ranges.end(), [&](const AddressRange& r) { return contains(r, *mapping); });
            if (!ours && std::any_of(ranges.begin(), ranges.end(), [&](const AddressRange& r) {
                    return overlaps(r, *mapping);
                }))
                return Error {"device.memory",
                    "a mapping holds a pool and other memory together, so its Rss says nothing of the pool",
                    Location {"/proc/self/smaps", line}};
        } else if (ours) {
            sum += kilobyteLine(line, "Rss:").value_or(0);
        }
    }
    if (!anyMapping)
        return Error {"device.memory", "no mapping could be read", Location {"/proc/self/smaps", {}}};
    return sum;
}

Result<std::int64_t> residentBytes(std::span<const AddressRange> ranges)
{
    std::ifstream file("/proc/self/smaps");
    return residentBytes(file, ranges);
}

std::int64_t memoryPageBytes()
{
    const long bytes = sysconf(_SC_PAGESIZE);
    return bytes > 0 ? bytes : 4096;
}

std::int64_t roundUpToPages(std::int64_t bytes)
{
    const std::int64_t page = memoryPageBytes();
    return (bytes + page - 1) / page * page;
}

std::string processorName()
{
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(':');
        if (line.starts_with("model name") && colon != std::string::npos)
            return std::string(withoutLeadingBlanks(std::string_view(line).substr(colon + 1)));
    }
    return "processor";
}

} // namespace kvw
