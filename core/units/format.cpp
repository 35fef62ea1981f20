// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace kvw {

namespace {

/// Wide enough for 30 digits and for a 63-bit number times a suffix.
__extension__ using Wide = unsigned __int128;

struct Suffix
{
    std::string_view name;
    std::int64_t factor;
};

constexpr std::array<Suffix, 15> byteSuffixes {{
    {"", 1},
    {"b", 1},
    {"kib", std::int64_t {1} << 10},
    {"mib", std::int64_t {1} << 20},
    {"gib", std::int64_t {1} << 30},
    {"tib", std::int64_t {1} << 40},
    {"pib", std::int64_t {1} << 50},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
    {"pb", 1'000'000'000'000'000},
    {"byte", 1},
    {"bytes", 1},
    {"ki", 1 << 10},
}};

constexpr std::array<Suffix, 8> countSuffixes {{
    {"", 1},
    {"k", std::int64_t {1} << 10},
    {"ki", std::int64_t {1} << 10},
    {"m", std::int64_t {1} << 20},
    {"mi", std::int64_t {1} << 20},
    {"g", std::int64_t {1} << 30},
    {"gi", std::int64_t {1} << 30},
    {"tokens", 1},
}};

Error badNumber(std::string_view text, std::string expected)
{
    return Error {"number.syntax", "not a number of the kind that is needed", {}, fmt::format("\"{}\"", text),
        std::move(expected)};
}

/// Digits with an optional fraction and exponent, times a suffix, cut to an integer. Exact: no double is involved.
template <std::size_t Count>
Result<std::int64_t> parseScaled(
    std::string_view text, const std::array<Suffix, Count>& suffixes, bool fractions, const char* expected)
{
    std::string digits;
    int fractionDigits = -1;
    std::size_t i = 0;
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    while (i < text.size() && text[i] == ' ')
        ++i;
    for (; i < text.size() && (isDigit(text[i]) || text[i] == '.' || text[i] == '_' || text[i] == ','); ++i) {
        if (text[i] == '.') {
            if (fractionDigits >= 0)
                return badNumber(text, expected);
            fractionDigits = 0;
        } else if (isDigit(text[i])) {
            digits += text[i];
            if (fractionDigits >= 0)
                ++fractionDigits;
        }
    }
    if (digits.empty() || digits.size() > 30)
        return badNumber(text, expected);
    int exponent = 0;
    if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E') && isDigit(text[i + 1])) {
        for (++i; i < text.size() && isDigit(text[i]); ++i)
            exponent = std::min(exponent * 10 + (text[i] - '0'), 100);
    }
    std::string suffix;
    for (; i < text.size(); ++i) {
        if (text[i] != ' ')
            suffix += static_cast<char>(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
    }
    const auto found = std::find_if(
        suffixes.begin(), suffixes.end(), [&](const Suffix& candidate) { return candidate.name == suffix; });
    if (found == suffixes.end())
        return badNumber(text, expected);
    int shift = exponent - std::max(fractionDigits, 0);
    if (fractionDigits > 0 && !fractions && found->factor == 1 && shift < 0)
        return badNumber(text, expected);
    Wide value = 0;
    constexpr auto limit = static_cast<Wide>(INT64_MAX);
    for (const char digit : digits)
        value = value * 10 + static_cast<unsigned>(digit - '0');
    const auto tooLarge = [&] {
        return Error {
            "number.range", "the number is too large", {}, fmt::format("\"{}\"", text), "at most 9223372036854775807"};
    };
    for (; shift > 0 && value != 0; --shift) {
        value *= 10;
        if (value > limit)
            return tooLarge();
    }
    // 30 digits times 2^50 can leave 128 bits: cut the fraction in two parts around the factor.
    Wide divisor = 1;
    for (; shift < 0; ++shift)
        divisor *= 10;
    const Wide whole = value / divisor;
    if (whole > limit)
        return tooLarge();
    const auto factor = static_cast<Wide>(found->factor);
    Wide fraction = value % divisor;
    while (divisor > (static_cast<Wide>(1) << 70)) {
        divisor /= 10;
        fraction /= 10;
    }
    const Wide total = whole * factor + fraction * factor / divisor;
    if (total > limit)
        return tooLarge();
    return static_cast<std::int64_t>(total);
}

} // namespace

std::string format(Bytes bytes)
{
    constexpr std::array<const char*, 6> names {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const std::int64_t value = bytes.value;
    const double magnitude = std::fabs(static_cast<double>(value));
    if (magnitude < 1024)
        return fmt::format("{} B", value);
    double scaled = static_cast<double>(value) / 1024;
    std::size_t i = 0;
    while (std::fabs(scaled) >= 1024 && i + 1 < names.size()) {
        scaled /= 1024;
        ++i;
    }
    return fmt::format("{:.2f} {}", scaled, names[i]);
}

std::string grouped(std::int64_t value)
{
    std::string digits = fmt::format("{}", value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t i = digits.size(); i > first + 3; i -= 3)
        digits.insert(i - 3, ",");
    return digits;
}

std::string formatNumber(const Number& number)
{
    if (const auto* integer = std::get_if<std::int64_t>(&number))
        return fmt::format("{}", *integer);
    return fmt::format("{}", std::get<double>(number));
}

std::string formatQuantity(const Quantity& quantity, int decimals)
{
    if (!quantity.ok())
        return "no value (" + quantity.error() + ")";
    if (!quantity.isInteger())
        return fmt::format("{:.{}f}", quantity.real(), decimals);
    return isByteUnit(quantity.unit()) ? format(Bytes(quantity.integer())) : grouped(quantity.integer());
}

std::string formatRate(double bytesPerSecond)
{
    return fmt::format("{:.2f} GB/s", bytesPerSecond / 1e9);
}

Result<Bytes> parseBytes(std::string_view text)
{
    const Result<std::int64_t> value
        = parseScaled(text, byteSuffixes, true, "a size such as 6.51GiB, 80GB or a whole number of bytes");
    if (!value)
        return value.error();
    return Bytes(*value);
}

Result<std::int64_t> parseCount(std::string_view text)
{
    const bool negative = !text.empty() && text.front() == '-';
    const Result<std::int64_t> value = parseScaled(
        negative ? text.substr(1) : text, countSuffixes, false, "a whole number such as 131072 or 32k (= 32,768)");
    if (!value)
        return badNumber(text, value.error().expected);
    return negative ? -*value : *value;
}

Result<double> parseReal(std::string_view text)
{
    std::string_view digits = text;
    const bool percent = !digits.empty() && digits.back() == '%';
    if (percent)
        digits.remove_suffix(1);
    double value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc {} || end != digits.data() + digits.size() || !std::isfinite(value) || digits.empty())
        return badNumber(text, "a decimal number such as 0.92, or 92%");
    return percent ? value / 100 : value;
}

} // namespace kvw
