// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kvw {

namespace {

constexpr std::array<std::uint32_t, 64> roundConstants {0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b,
    0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc,
    0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1,
    0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814,
    0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t bigEndian(const std::uint8_t* bytes)
{
    return (std::uint32_t {bytes[0]} << 24) | (std::uint32_t {bytes[1]} << 16) | (std::uint32_t {bytes[2]} << 8)
        | bytes[3];
}

} // namespace

void Sha256::compress(const std::uint8_t* block)
{
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = bigEndian(block + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = m_state;
    for (std::size_t i = 0; i < 64; ++i) {
        const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + roundConstants[i] + w[i];
        const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    const std::array<std::uint32_t, 8> added {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i)
        m_state[i] += added[i];
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
