// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/amount.h"
#include "units/quantity.h"
#include "units/result.h"

#include <string>
#include <string_view>

namespace kvw {

/// "6.51 GiB", "512.00 KiB", "300 B": binary units, two decimals, exact below 1 KiB. The only way from Bytes to text.
std::string format(Bytes bytes);
/// "7,311,458,304": groups of three, C locale.
/// Text of files for a terminal or a document: control characters and direction marks are spelled: \u{202e}. Line
/// feeds and tabs stay.
std::string printable(std::string_view text);

std::string grouped(std::int64_t value);
/// An integer as its digits, a double with up to 17 significant digits, shortest that reads back the same.
std::string formatNumber(const Number& number);
/// The quantity as a reader wants it: bytes by format(Bytes), integers grouped, doubles with `decimals`; "no value
/// (why)".
std::string formatQuantity(const Quantity& quantity, int decimals = 2);
/// Decimal, for rates only: "3.21 GB/s".
std::string formatRate(double bytesPerSecond);

/// Reads "4294967296", "4,294,967,296", "6.51GiB", "512 MiB", "80GB", "1e9 B": binary and decimal units are what they
/// say; a bare number is bytes. Fractions of a byte are cut. A comma parts groups of three, nothing else. Errors:
/// number.syntax for text that is not a size, negative ones included; number.range beyond 2^63 − 1.
Result<Bytes> parseBytes(std::string_view text);
/// Reads "131072", "-5", "32k" (= 32,768), "1M" (= 1,048,576), "1_000_000"; k and M are powers of 1024, as context
/// lengths are written. Errors: number.syntax for text that is not a whole number, number.range beyond 2^63 − 1.
Result<std::int64_t> parseCount(std::string_view text);
/// Reads a finite decimal number in the C locale; "92%" is 0.92. Error: number.syntax.
Result<double> parseReal(std::string_view text);

} // namespace kvw
