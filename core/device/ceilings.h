// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"
#include "units/result.h"

#include <cstdint>
#include <functional>

namespace kvw {

/// What memory can do in this process, now: the yardsticks for append and verify rates. Only ratios of figures from one
/// run mean anything; the same machine differs by a factor of two between runs. Each rate is the median over the
/// repeats.
struct MemoryCeilings
{
    /// memcpy from one half of the working set to the other. Counts each copied byte once, although it is read and
    /// written.
    Rate copy {};
    /// Sum of the 8-byte words of the whole working set. Counts the bytes read.
    Rate read {};
    /// memset of the whole working set. Counts the bytes written; what the processor reads to do so is not counted.
    Rate write {};
    std::int64_t workingSetBytes = 0;
    int threads = 0;
    int repeats = 0;
};

constexpr std::int64_t defaultWorkingSetBytes = std::int64_t {256} << 20;

/// The working set of measureCeilings() when nobody asks for another: the default, less when that is more than an
/// eighth of MemAvailable.
std::int64_t workingSetFor(std::int64_t wantedBytes = defaultWorkingSetBytes);

/// Measures with `threads` threads, each on its own part of one mapping in huge pages. The three are taken in turn in
/// each of the `repeats`, after one unmeasured round. `stop` is asked between rounds. Errors: device.memory when the
/// working set cannot be mapped; run.stopped when `stop` said so.
Result<MemoryCeilings> measureCeilings(std::int64_t workingSetBytes = workingSetFor(), int threads = 1, int repeats = 9,
    const std::function<bool()>& stop = {});

/// The repeat in the middle by rate; of an even number the slower one. REQUIRES at least one.
Rate medianRate(std::span<const Rate> rates);

} // namespace kvw
