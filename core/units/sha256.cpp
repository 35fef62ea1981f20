// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/sha256.h"

#include "units/sha256_block.h"

#include <algorithm>
#include <cstring>

namespace kvw {

void Sha256::compress(const std::uint8_t* block)
{
    static const Sha256Block ofProcessor = sha256BlockOfProcessor();
    if (ofProcessor)
        ofProcessor(m_state, block);
    else
        sha256BlockPortable(m_state, block);
}

void Sha256::update(std::span<const std::byte> data)
{
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data());
    std::size_t left = data.size();
    while (left > 0) {
        const std::size_t used = m_length % 64;
        if (used == 0 && left >= 64) {
            compress(bytes);
            m_length += 64;
            bytes += 64;
            left -= 64;
            continue;
        }
        const std::size_t taken = std::min(64 - used, left);
        std::memcpy(m_buffer.data() + used, bytes, taken);
        m_length += taken;
        bytes += taken;
        left -= taken;
        if (used + taken == 64)
            compress(m_buffer.data());
    }
}

void Sha256::update(std::string_view text)
{
    update(std::as_bytes(std::span(text)));
}

Sha256::Digest Sha256::digest()
{
    const std::uint64_t bits = m_length * 8;
    const std::size_t used = m_length % 64;
    m_buffer[used] = 0x80;
    std::fill(m_buffer.begin() + used + 1, m_buffer.end(), std::uint8_t {0});
    if (used >= 56) {
        compress(m_buffer.data());
        m_buffer.fill(0);
    }
    for (std::size_t i = 0; i < 8; ++i)
        m_buffer[56 + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
    compress(m_buffer.data());
    Digest out;
    for (std::size_t i = 0; i < 32; ++i)
        out[i] = static_cast<std::uint8_t>(m_state[i / 4] >> (24 - 8 * (i % 4)));
    return out;
}

std::string Sha256::hex(std::string_view text)
{
    Sha256 hash;
    hash.update(text);
    return hex(hash.digest());
}

std::string Sha256::hex(const Digest& digest)
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    for (const std::uint8_t byte : digest) {
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

} // namespace kvw
