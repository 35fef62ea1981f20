// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional> // first: moc 6.4, which reads this header for the tests, cannot read <compare> before it

#include <compare>
#include <cstdint>

namespace kvw {

/// A whole number of one kind of thing. Kinds do not mix and do not convert.
///
/// There is no arithmetic here on purpose: sums and products that a planner sees are Quantities, which carry their
/// derivation and catch overflow; elsewhere the checked functions below are used on the plain values.
template <typename Tag>
struct Amount
{
    std::int64_t value = 0;

    constexpr Amount() = default;
    constexpr explicit Amount(std::int64_t v)
        : value(v)
    {}
    auto operator<=>(const Amount&) const = default;
};

using Bytes = Amount<struct BytesTag>;
using Tokens = Amount<struct TokensTag>;
using Blocks = Amount<struct BlocksTag>;

/// a + b, or nothing when it does not fit into 64 bits.
std::optional<std::int64_t> checkedAdd(std::int64_t a, std::int64_t b);
/// a - b, or nothing when it does not fit into 64 bits.
std::optional<std::int64_t> checkedSubtract(std::int64_t a, std::int64_t b);
/// a * b, or nothing when it does not fit into 64 bits.
std::optional<std::int64_t> checkedMultiply(std::int64_t a, std::int64_t b);
/// The largest integer not above a / b; nothing for b = 0 and for the one quotient that overflows.
std::optional<std::int64_t> floorDivide(std::int64_t a, std::int64_t b);
/// The smallest integer not below a / b; nothing for b = 0 and for the one quotient that overflows.
std::optional<std::int64_t> ceilDivide(std::int64_t a, std::int64_t b);

} // namespace kvw
