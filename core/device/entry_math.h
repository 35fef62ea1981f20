// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>

/// Arithmetic that every device shares, so that bytes written by one are what another expects. Plain types and C++17
/// only: a GPU compiler reads this header too.
#if defined(__CUDACC__)
#define KVW_HOST_DEVICE __host__ __device__
#else
#define KVW_HOST_DEVICE
#endif

namespace kvw {

/// Clears bit 6 of each byte.
constexpr std::uint64_t contentMask = 0xbfbfbfbfbfbfbfbfULL;
constexpr std::uint64_t poisonWord = 0xffffffffffffffffULL;
/// Step of the counters that content is made from: odd, so that a counter visits every value.
constexpr std::uint64_t counterStep = 0x9e3779b97f4a7c15ULL;
constexpr std::uint32_t tagPositionMask = 0xffffff;
constexpr std::int64_t tagGroups = 256; ///< group numbers that a tag can hold

/// A bijection of 64-bit words in which each input bit reaches every output bit.
KVW_HOST_DEVICE constexpr std::uint64_t mix64(std::uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ULL;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebULL;
    x ^= x >> 31;
    return x;
}

/// 56 bits as eight bytes of 7 bits each, at bits 0-5 and 7: bit 6 stays clear.
KVW_HOST_DEVICE constexpr std::uint64_t spreadBits(std::uint64_t x)
{
    x = (x & 0x000000000fffffffULL) | ((x & 0x00fffffff0000000ULL) << 4);
    x = (x & 0x00003fff00003fffULL) | ((x & 0x0fffc0000fffc000ULL) << 2);
    x = (x & 0x007f007f007f007fULL) | ((x & 0x3f803f803f803f80ULL) << 1);
    return (x & 0x3f3f3f3f3f3f3f3fULL) | ((x & 0x4040404040404040ULL) << 1);
}

/// The 56 bits that spreadBits() made `x` from. REQUIRES bit 6 clear in each byte.
KVW_HOST_DEVICE constexpr std::uint64_t gatherBits(std::uint64_t x)
{
    x = (x & 0x3f3f3f3f3f3f3f3fULL) | ((x & 0x8080808080808080ULL) >> 1);
    x = (x & 0x007f007f007f007fULL) | ((x & 0x7f007f007f007f00ULL) >> 1);
    x = (x & 0x00003fff00003fffULL) | ((x & 0x3fff00003fff0000ULL) >> 2);
    return (x & 0x000000000fffffffULL) | ((x & 0x0fffffff00000000ULL) >> 4);
}

/// What is the same in all layers and tensors of a token's entry: its tag as two words, and the seed of its other
/// bytes.
struct EntryKey
{
    std::uint64_t tagLow = 0;
    std::uint64_t tagHigh = 0;
    std::uint64_t seed = 0;
};

KVW_HOST_DEVICE constexpr EntryKey entryKey(
    std::uint64_t chain, std::uint16_t domain, std::uint8_t group, std::uint32_t position)
{
    const std::uint64_t who = (static_cast<std::uint64_t>(position & tagPositionMask) << 24)
        | (static_cast<std::uint64_t>(group) << 16) | domain; // 48 bits
    EntryKey key;
    key.tagLow = spreadBits(chain & 0x00ffffffffffffffULL);
    key.tagHigh = spreadBits((chain >> 56) | (who << 8));
    key.seed = mix64(mix64(chain + counterStep) ^ who);
    return key;
}

/// Tells the layers and tensors of an entry apart.
KVW_HOST_DEVICE constexpr std::uint64_t pieceLabel(std::uint32_t layer, std::uint32_t tensor)
{
    return mix64(((static_cast<std::uint64_t>(layer) << 32) | tensor) + counterStep);
}

/// Where the counter of one piece of an entry (one layer, one tensor) starts.
KVW_HOST_DEVICE constexpr std::uint64_t pieceSeed(std::uint64_t entrySeed, std::uint64_t label)
{
    return mix64(entrySeed + label);
}

/// The word of content at a counter. Word n after the tag has the counter pieceSeed + n × counterStep. One
/// multiplication is enough: the seeds are well mixed, and a writer must keep up with memory.
KVW_HOST_DEVICE constexpr std::uint64_t contentWord(std::uint64_t counter)
{
    std::uint64_t x = counter ^ (counter >> 32);
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return x & contentMask;
}

/// Where the entries of one tensor of a group lie in its pool. All in bytes.
struct EntryGeometry
{
    std::int64_t blockBytes = 0;
    std::int64_t pageBytes = 0;
    std::int64_t pageOffset = 0;
    std::int64_t entryBytes = 0;
};

/// Bytes from the start of the pool to an entry: 64 bits throughout.
KVW_HOST_DEVICE constexpr std::int64_t entryOffset(
    const EntryGeometry& geometry, std::int64_t block, std::int64_t layer, std::int64_t slot)
{
    return block * geometry.blockBytes + layer * geometry.pageBytes + geometry.pageOffset + slot * geometry.entryBytes;
}

} // namespace kvw
