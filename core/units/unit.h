// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

namespace kvw {

/// What a number counts. Names are stable: they appear in JSON.
enum class Unit : std::uint8_t {
    None,
    Byte,
    Token,
    Block,
    Entry,
    Element,
    Bit,
    Layer,
    Head,
    Sequence,
    Request,
    Rank,
    Step,
    BytesPerToken,
    BytesPerEntry,
    BytesPerElement,
    BytesPerBlock,
    BytesPerSequence,
    BlocksPerSequence,
    EntriesPerSequence,
    BytesPerSecond,
    Seconds,
    Ratio, ///< a pure ratio, such as sequences that fit at once
};

/// Stable name for JSON: "bytes", "bytes/token" …
std::string_view unitName(Unit unit);
/// True for the units that are formatted as binary sizes (B, KiB …).
bool isByteUnit(Unit unit);

} // namespace kvw
