// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>

namespace kvw {

/// Takes one block of 64 bytes into the eight words of SHA-256's state (FIPS 180-4, 6.2.2).
using Sha256Block = void (*)(std::array<std::uint32_t, 8>& state, const std::uint8_t* block);

/// In plain C++.
void sha256BlockPortable(std::array<std::uint32_t, 8>& state, const std::uint8_t* block);
/// With the instructions that this processor has for it (x86 SHA extensions); nullptr where it has none.
Sha256Block sha256BlockOfProcessor();

} // namespace kvw
