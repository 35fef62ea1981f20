// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/entry_math.h"
#include "model/element_type.h"
#include "workload/request.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace kvw {

/// Content of the pool: what an entry must contain is a function of (domain, token chain, group, layer, tensor,
/// position) and nothing else, so that any entry can be checked at any time.
///
/// Every byte has bit 6 clear. So no byte is ever the poison 0xFF; every 16-bit and 32-bit float has its top exponent
/// bit clear and every fp8 code too: all values are finite, and each is exactly what the element type stores.

constexpr std::byte poisonByte {0xff};
constexpr std::size_t tagBytes = 16;

/// The chain before the first token of a request in `domain`.
std::uint64_t chainStart(std::uint32_t domain);
/// The chain after one more token.
std::uint64_t chainNext(std::uint64_t chain, TokenId token);

/// The first 16 bytes of an entry: 112 bits, 7 in each byte.
struct EntryTag
{
    std::uint64_t chain = 0;
    std::uint16_t domain = 0; ///< sharing domain
    std::uint8_t group = 0; ///< layer group of the layout
    std::uint32_t position = 0; ///< token position, lowest 24 bits; higher bits are neither stored nor mixed in

    bool operator==(const EntryTag&) const = default;
};
EntryKey keyOf(const EntryTag& tag);
void writeTag(const EntryTag& tag, std::span<std::byte, tagBytes> out);
/// Nothing when a byte is poison or has bit 6 set.
std::optional<EntryTag> readTag(std::span<const std::byte, tagBytes> bytes);
/// readTag() of an entry, and nothing when the first bytes after the tag are not what the tag promises. Any content
/// looks like a tag to readTag(); only a tag at its own place passes here. An entry of tagBytes has nothing more to
/// look at. REQUIRES entry.size() ≥ tagBytes.
std::optional<EntryTag> genuineTag(std::uint32_t layer, std::uint32_t tensor, std::span<const std::byte> entry);

/// Writes one entry (all heads of one tensor of one layer for one token): the tag, then pseudo-random bytes.
/// An entry of tagBytes is its tag alone, which does not say layer and tensor.
/// REQUIRES out.size() ≥ tagBytes.
void writeEntry(const EntryTag& tag, std::uint32_t layer, std::uint32_t tensor, std::span<std::byte> out);
/// True when `bytes` is exactly what writeEntry() would write. REQUIRES bytes.size() ≥ tagBytes.
bool entryMatches(const EntryTag& tag, std::uint32_t layer, std::uint32_t tensor, std::span<const std::byte> bytes);
/// The same for a device that writes many pieces of one entry: `label` is pieceLabel(layer, tensor).
void writeEntry(const EntryKey& key, std::uint64_t label, std::span<std::byte> out);
bool entryMatches(const EntryKey& key, std::uint64_t label, std::span<const std::byte> bytes);

/// Bytes of `bytes` that are not poison.
std::int64_t countNonPoison(std::span<const std::byte> bytes);

} // namespace kvw
