// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kvw {

/// SHA-256 (FIPS 180-4). Streaming: update() any number of times, then digest() once.
class Sha256
{
public:
    using Digest = std::array<std::uint8_t, 32>;

    void update(std::span<const std::byte> data);
    void update(std::string_view text);
    /// Ends the message. The object must not be used afterwards.
    Digest digest();

    /// The digest of one piece, as lower-case hex.
    static std::string hex(std::string_view text);
    static std::string hex(const Digest& digest);

private:
    void compress(const std::uint8_t* block);

    std::array<std::uint32_t, 8> m_state {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> m_buffer {};
    std::uint64_t m_length = 0; // bytes so far
};

} // namespace kvw
