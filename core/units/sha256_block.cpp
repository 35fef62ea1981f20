// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/sha256_block.h"

#include <bit>
#include <cstddef>

#if defined(__x86_64__) && defined(__GNUC__)
#define KVW_X86
#include <cpuid.h>
#include <immintrin.h>
#endif

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

void sha256BlockPortable(std::array<std::uint32_t, 8>& state, const std::uint8_t* block)
{
    std::array<std::uint32_t, 64> w;
    for (std::size_t i = 0; i < 16; ++i)
        w[i] = bigEndian(block + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
        const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
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
        state[i] += added[i];
}

#ifdef KVW_X86

namespace {

bool hasShaExtensions()
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    constexpr unsigned ssse3AndSse41 = (1U << 9) | (1U << 19);
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & ssse3AndSse41) != ssse3AndSse41)
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1U << 29)) != 0;
}

__attribute__((target("sha,sse4.1"))) void sha256BlockX86(
    std::array<std::uint32_t, 8>& state, const std::uint8_t* block)
{
    const auto load = [](const void* from) __attribute__((target("sha,sse4.1")))
    {
        return _mm_loadu_si128(static_cast<const __m128i*>(from));
    };
    // The instructions keep the words a to h as (a, b, e, f) and (c, d, g, h), the first of each on top.
    const __m128i cdab = _mm_shuffle_epi32(load(state.data()), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1b);
    const __m128i abefBefore = _mm_alignr_epi8(cdab, efgh, 8);
    const __m128i cdghBefore = _mm_blend_epi16(efgh, cdab, 0xf0);
    __m128i abef = abefBefore;
    __m128i cdgh = cdghBefore;
    const __m128i bigEndian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i w[4]; // the last 16 words of the message schedule, as a ring
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) {
        __m128i& now = w[i % 4];
        if (i < 4) {
            now = _mm_shuffle_epi8(load(block + 16 * i), bigEndian);
        } else {
            const __m128i& last = w[(i + 3) % 4];
            const __m128i sevenBack = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
            now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) % 4]), sevenBack), last);
        }
        const __m128i sum = _mm_add_epi32(now, load(roundConstants.data() + 4 * i));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum); // two rounds swap the halves
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    const __m128i feba = _mm_shuffle_epi32(_mm_add_epi32(abef, abefBefore), 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdghBefore), 0xb1);
    auto* const out = reinterpret_cast<__m128i*>(state.data());
    _mm_storeu_si128(out, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(out + 1, _mm_alignr_epi8(dchg, feba, 8));
}

} // namespace

Sha256Block sha256BlockOfProcessor()
{
    return hasShaExtensions() ? sha256BlockX86 : nullptr;
}

#else

Sha256Block sha256BlockOfProcessor()
{
    return nullptr;
}

#endif

} // namespace kvw
