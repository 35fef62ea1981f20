// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/content.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace kvw {

// Entries are written as words; a reader of the other byte order would see other bytes.
static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::size_t wordBytes = sizeof(std::uint64_t);
constexpr std::size_t genuineBytes = 32; // of an entry that genuineTag() looks at: 16 after the tag

std::uint64_t loadWord(const std::byte* from)
{
    std::uint64_t word = 0;
    std::memcpy(&word, from, wordBytes);
    return word;
}

void storeWord(std::byte* to, std::uint64_t word)
{
    std::memcpy(to, &word, wordBytes);
}

// 1 in each byte of the result where the byte of `word` is not 0xFF.
std::uint64_t nonPoisonFlags(std::uint64_t word)
{
    constexpr std::uint64_t low7 = 0x7f7f7f7f7f7f7f7fULL;
    const std::uint64_t inverse = ~word;
    return ((((inverse & low7) + low7) | inverse) >> 7) & 0x0101010101010101ULL;
}

std::uint64_t sumOfBytes(std::uint64_t word)
{
    constexpr std::uint64_t even = 0x00ff00ff00ff00ffULL;
    const std::uint64_t pairs = (word & even) + ((word >> 8) & even);
    return (pairs * 0x0001000100010001ULL) >> 48;
}

} // namespace

std::uint64_t chainStart(std::uint32_t domain)
{
    return mix64(domain + 0x6b76776f726b6263ULL);
}

std::uint64_t chainNext(std::uint64_t chain, TokenId token)
{
    // One to one in the chain for each token and in the token for each chain.
    return mix64(chain ^ ((token + std::uint64_t {1}) * counterStep));
}

EntryKey keyOf(const EntryTag& tag)
{
    return entryKey(tag.chain, tag.domain, tag.group, tag.position);
}

void writeTag(const EntryTag& tag, std::span<std::byte, tagBytes> out)
{
    const EntryKey key = keyOf(tag);
    storeWord(out.data(), key.tagLow);
    storeWord(out.data() + wordBytes, key.tagHigh);
}

std::optional<EntryTag> readTag(std::span<const std::byte, tagBytes> bytes)
{
    const std::uint64_t low = loadWord(bytes.data());
    const std::uint64_t high = loadWord(bytes.data() + wordBytes);
    if (((low | high) & ~contentMask) != 0) // poison has bit 6 set too
        return std::nullopt;
    const std::uint64_t first = gatherBits(low);
    const std::uint64_t second = gatherBits(high);
    EntryTag tag;
    tag.chain = first | (second << 56);
    tag.domain = static_cast<std::uint16_t>(second >> 8);
    tag.group = static_cast<std::uint8_t>(second >> 24);
    tag.position = static_cast<std::uint32_t>(second >> 32) & tagPositionMask;
    return tag;
}

std::optional<EntryTag> genuineTag(std::uint32_t layer, std::uint32_t tensor, std::span<const std::byte> entry)
{
    assert(entry.size() >= tagBytes);
    const std::optional<EntryTag> tag = readTag(entry.first<tagBytes>());
    if (tag && !entryMatches(*tag, layer, tensor, entry.first(std::min(entry.size(), genuineBytes))))
        return std::nullopt;
    return tag;
}

void writeEntry(const EntryTag& tag, std::uint32_t layer, std::uint32_t tensor, std::span<std::byte> out)
{
    writeEntry(keyOf(tag), pieceLabel(layer, tensor), out);
}

bool entryMatches(const EntryTag& tag, std::uint32_t layer, std::uint32_t tensor, std::span<const std::byte> bytes)
{
    return entryMatches(keyOf(tag), pieceLabel(layer, tensor), bytes);
}

void writeEntry(const EntryKey& key, std::uint64_t label, std::span<std::byte> out)
{
    assert(out.size() >= tagBytes);
    std::byte* to = out.data();
    storeWord(to, key.tagLow);
    storeWord(to + wordBytes, key.tagHigh);
    to += tagBytes;
    std::uint64_t counter = pieceSeed(key.seed, label);
    const std::size_t words = (out.size() - tagBytes) / wordBytes;
    for (std::size_t i = 0; i < words; ++i) {
        storeWord(to + i * wordBytes, contentWord(counter));
        counter += counterStep;
    }
    const std::size_t rest = out.size() % wordBytes; // tagBytes is a multiple of wordBytes
    if (rest != 0) {
        const std::uint64_t last = contentWord(counter);
        std::memcpy(to + words * wordBytes, &last, rest);
    }
}

bool entryMatches(const EntryKey& key, std::uint64_t label, std::span<const std::byte> bytes)
{
    assert(bytes.size() >= tagBytes);
    const std::byte* from = bytes.data();
    // Differences are collected without a branch, so that the loop keeps up with memory.
    std::uint64_t difference = (loadWord(from) ^ key.tagLow) | (loadWord(from + wordBytes) ^ key.tagHigh);
    from += tagBytes;
    std::uint64_t counter = pieceSeed(key.seed, label);
    const std::size_t words = (bytes.size() - tagBytes) / wordBytes;
    for (std::size_t i = 0; i < words; ++i) {
        difference |= loadWord(from + i * wordBytes) ^ contentWord(counter);
        counter += counterStep;
    }
    const std::size_t rest = bytes.size() % wordBytes;
    if (rest != 0) {
        const std::uint64_t last = contentWord(counter);
        if (std::memcmp(from + words * wordBytes, &last, rest) != 0)
            return false;
    }
    return difference == 0;
}

std::int64_t countNonPoison(std::span<const std::byte> bytes)
{
    constexpr std::size_t lanes = 4;
    constexpr std::size_t rounds = 255; // so many flags fit into a byte
    const std::byte* from = bytes.data();
    const std::byte* const end = from + bytes.size();
    std::uint64_t total = 0;
    while (static_cast<std::size_t>(end - from) >= lanes * wordBytes) {
        std::array<std::uint64_t, lanes> flags {};
        const std::size_t steps = std::min(rounds, static_cast<std::size_t>(end - from) / (lanes * wordBytes));
        for (std::size_t step = 0; step < steps; ++step) {
            for (std::size_t lane = 0; lane < lanes; ++lane)
                flags[lane] += nonPoisonFlags(loadWord(from + lane * wordBytes));
            from += lanes * wordBytes;
        }
        for (const std::uint64_t lane : flags)
            total += sumOfBytes(lane);
    }
    total += static_cast<std::uint64_t>(std::count_if(from, end, [](std::byte b) { return b != poisonByte; }));
    return static_cast<std::int64_t>(total);
}

} // namespace kvw
