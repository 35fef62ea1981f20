// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

// What each fuzz program NAME.cpp defines. driver/ makes two programs of it: one that libFuzzer runs, and one for every
// build, which tries the seeds and random changes of them.

/// Gives `size` bytes to a reader. Returns 0, or ends the process where something does not hold.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace kvw::fuzz {

/// Inputs that reach the parts of the reader: what the search begins with.
std::vector<std::string> seeds();

/// Ends the process unless it holds.
inline void require(bool condition)
{
    if (!condition)
        std::abort();
}

} // namespace kvw::fuzz
