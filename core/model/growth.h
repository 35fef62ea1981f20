// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/quantity.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kvw {

/// What a growing tensor counts.
enum class GrowthVariable : std::uint8_t {
    Tokens,
    EncoderTokens,
    ImageTokens,
};

enum class GrowthForm : std::uint8_t {
    Fixed, ///< `entries` from the first token on (0 at 0)
    Linear, ///< min(round(max(v + offset, 0) / stride), limit)
    Chunked, ///< ((v − 1) mod chunk) + 1, 0 at 0
};

enum class Rounding : std::uint8_t {
    Down,
    Up,
    Nearest, ///< halves up
};

std::span<const std::string_view> growthVariableNames(); ///< "tokens", "encoder_tokens", "image_tokens"
std::span<const std::string_view> growthFormNames(); ///< "fixed", "linear", "chunked"
std::span<const std::string_view> roundingNames(); ///< "down", "up", "nearest"

/// How many entries a tensor holds at v. The one question every kind of state answers.
struct GrowthLaw
{
    GrowthForm form = GrowthForm::Linear;
    GrowthVariable variable = GrowthVariable::Tokens;
    Rounding rounding = Rounding::Down;
    std::int64_t entries = 1; ///< Fixed: entries per sequence
    std::int64_t offset = 0; ///< Linear: added to v
    std::int64_t stride = 1; ///< Linear: v per entry, at least 1
    std::optional<std::int64_t> limit {}; ///< Linear: the most it keeps (a sliding window); none: grows without end
    std::int64_t chunk = 1; ///< Chunked: entries of a full chunk, at least 1

    bool operator==(const GrowthLaw&) const = default;

    /// Entries at v ≥ 0, as a plain number.
    std::int64_t at(std::int64_t v) const;
    /// True when entries keep growing with v: no limit, not fixed, not chunked.
    bool isUnbounded() const;
    /// True when every further token of a sequence adds to it: unbounded, and v counts tokens.
    bool growsWithTokens() const;
    /// The most entries it ever holds; nothing when unbounded.
    std::optional<std::int64_t> saturation() const;
};

/// The law's numbers as inputs with their sources, so that the formula in use is the law itself.
struct GrowthInputs
{
    Quantity entries;
    Quantity offset;
    Quantity stride;
    Quantity limit;
    Quantity chunk;
};

/// Entries at `v` as a derivation. Where the law does not need an input, the formula leaves it out (stride 1, offset
/// 0).
Quantity entriesAt(const GrowthLaw& law, const GrowthInputs& inputs, const Quantity& v);

/// "v", "min(v, 128)", "⌊(v + 3) ÷ 4⌋", "max(v − 3, 0)", "((v − 1) mod 8192) + 1", "1 (fixed)": as a worksheet shows
/// it.
std::string growthText(const GrowthLaw& law);

} // namespace kvw
