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

constexpr auto byteSuffixes = std::to_array<Suffix>({
    {"", 1},
    {"b", 1},
    {"kib", std::int64_t {1} << 10},
    {"mib", std::int64_t {1} << 20},
    {"gib", std::int64_t {1} << 30},
    {"tib", std::int64_t {1} << 40},
    {"pib", std::int64_t {1} << 50},
    {"eib", std::int64_t {1} << 60},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
    {"pb", 1'000'000'000'000'000},
    {"eb", 1'000'000'000'000'000'000},
    {"byte", 1},
    {"bytes", 1},
    {"ki", std::int64_t {1} << 10},
    {"mi", std::int64_t {1} << 20},
    {"gi", std::int64_t {1} << 30},
    {"ti", std::int64_t {1} << 40},
});

constexpr auto countSuffixes = std::to_array<Suffix>({
    {"", 1},
    {"k", std::int64_t {1} << 10},
    {"ki", std::int64_t {1} << 10},
    {"m", std::int64_t {1} << 20},
    {"mi", std::int64_t {1} << 20},
    {"g", std::int64_t {1} << 30},
    {"gi", std::int64_t {1} << 30},
    {"tokens", 1},
});

Error badNumber(std::string_view text, std::string expected)
{
    return Error {"number.syntax", "not a number of the kind that is needed", {}, fmt::format("\"{}\"", text),
        std::move(expected)};
}

bool isDigit(char c)
{
    return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && text.front() == ' ')
        text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    return text;
}

/// The digits of a whole number without its separators: "1,234,567" in groups of three, "1_000_000" between any two
/// digits. A comma elsewhere is refused: it is a decimal comma to some.
std::optional<std::string> wholeDigits(std::string_view text)
{
    const bool inThrees = text.find(',') != std::string_view::npos;
    std::string out;
    std::size_t group = 0; // digits since the last separator
    bool separated = false;
    const auto isGoodGroup = [&] { return group > 0 && (!inThrees || group == 3 || (!separated && group < 3)); };
    for (const char c : text) {
        if (isDigit(c)) {
            out += c;
            ++group;
            continue;
        }
        if (!isGoodGroup() || (inThrees && c != ','))
            return std::nullopt;
        separated = true;
        group = 0;
    }
    if (!text.empty() && !isGoodGroup())
        return std::nullopt;
    return out;
}

/// A text taken apart: digits × 10^shift, and a suffix in lower case.
struct Scanned
{
    std::string digits;
    int shift = 0;
    std::string suffix;
};

std::optional<Scanned> scan(std::string_view text)
{
    text = trimmed(text);
    const std::size_t whole = std::min(text.find_first_not_of("0123456789_,"), text.size());
    const std::optional<std::string> digits = wholeDigits(text.substr(0, whole));
    if (!digits)
        return std::nullopt;
    Scanned out;
    out.digits = *digits;
    std::size_t i = whole;
    if (i < text.size() && text[i] == '.') {
        for (++i; i < text.size() && isDigit(text[i]); ++i) {
            out.digits += text[i];
            --out.shift;
        }
    }
    if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E') && isDigit(text[i + 1])) {
        int exponent = 0;
        for (++i; i < text.size() && isDigit(text[i]); ++i)
            exponent = std::min(exponent * 10 + (text[i] - '0'), 100);
        out.shift += exponent;
    }
    for (const char c : trimmed(text.substr(i)))
        out.suffix += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (out.digits.empty() || out.digits.size() > 30)
        return std::nullopt;
    return out;
}

/// Digits with an optional fraction and exponent, times a suffix. A fraction that is left is cut or, where none may be
/// left, refused. Exact: no double is involved.
template <std::size_t Count>
Result<std::int64_t> parseScaled(
    std::string_view text, const std::array<Suffix, Count>& suffixes, bool cutsFractions, const char* expected)
{
    const std::optional<Scanned> scanned = scan(text);
    if (!scanned)
        return badNumber(text, expected);
    const auto found = std::find_if(
        suffixes.begin(), suffixes.end(), [&](const Suffix& candidate) { return candidate.name == scanned->suffix; });
    if (found == suffixes.end())
        return badNumber(text, expected);
    Wide value = 0;
    constexpr auto limit = static_cast<Wide>(INT64_MAX);
    for (const char digit : scanned->digits)
        value = value * 10 + static_cast<unsigned>(digit - '0');
    const auto tooLarge = [&] {
        return Error {
            "number.range", "the number is too large", {}, fmt::format("\"{}\"", text), "at most 9223372036854775807"};
    };
    int shift = scanned->shift;
    for (; shift > 0 && value != 0; --shift) {
        value *= 10;
        if (value > limit)
            return tooLarge();
    }
    Wide divisor = 1;
    for (; shift < 0; ++shift)
        divisor *= 10;
    const Wide whole = value / divisor;
    if (whole > limit)
        return tooLarge();
    // The fraction times the factor can leave 128 bits: bit by bit of the factor, reduced at each.
    const Wide fraction = value % divisor;
    Wide part = 0;
    Wide rest = 0;
    for (int bit = 62; bit >= 0; --bit) {
        rest = 2 * rest + (((found->factor >> bit) & 1) != 0 ? fraction : 0);
        part = 2 * part + rest / divisor;
        rest %= divisor;
    }
    const Wide total = whole * static_cast<Wide>(found->factor) + part;
    if (total > limit)
        return tooLarge();
    // A part of a byte can only be meant where a unit was.
    if (rest != 0 && (!cutsFractions || found->factor == 1))
        return badNumber(text, expected);
    return static_cast<std::int64_t>(total);
}

} // namespace

std::string format(Bytes bytes)
{
    constexpr std::array<const char*, 6> names {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const std::int64_t value = bytes.value;
    const Wide magnitude = value < 0 ? static_cast<Wide>(-(value + 1)) + 1 : static_cast<Wide>(value);
    if (magnitude < 1024)
        return fmt::format("{} B", value);
    // Hundredths of the unit, rounded, halves to even; what would print as 1024.00 takes the next unit.
    const auto hundredths = [magnitude](std::size_t unit) {
        const Wide size = Wide {1} << (10 * (unit + 1));
        const Wide rest = magnitude * 100 % size;
        const Wide down = magnitude * 100 / size;
        const bool up = 2 * rest > size || (2 * rest == size && down % 2 == 1);
        return static_cast<std::uint64_t>(down + (up ? 1 : 0));
    };
    std::size_t unit = 0;
    while (unit + 1 < names.size() && hundredths(unit) >= 102'400)
        ++unit;
    const std::uint64_t shown = hundredths(unit);
    return fmt::format("{}{}.{:02} {}", value < 0 ? "-" : "", shown / 100, shown % 100, names[unit]);
}

std::string printable(std::string_view text)
{
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
        std::uint32_t code = 0;
        std::size_t length = 1;
        if (byte(i) == 0x7f || (byte(i) < 0x20 && byte(i) != '\n' && byte(i) != '\t')) {
            code = byte(i);
            out += fmt::format("\\u{{{:x}}}", code);
        } else if (byte(i) == 0xc2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0) { // C1
            length = 2;
            out += fmt::format("\\u{{{:x}}}", byte(i + 1));
        } else if (byte(i) == 0xe2 && (byte(i + 1) == 0x80 || byte(i + 1) == 0x81)) {
            code = 0x2000u + ((byte(i + 1) & 1u) << 6) + (byte(i + 2) & 0x3fu);
            const bool direction = code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e)
                || (code >= 0x2066 && code <= 0x2069);
            length = std::min<std::size_t>(3, text.size() - i);
            out += direction ? fmt::format("\\u{{{:x}}}", code) : std::string(text.substr(i, length));
        } else {
            out += text[i];
        }
        i += length;
    }
    return out;
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
    constexpr const char* expected = "a whole number such as 131072 or 32k (= 32,768)";
    std::string_view digits = trimmed(text);
    const bool negative = !digits.empty() && digits.front() == '-';
    if (negative)
        digits.remove_prefix(1);
    if (digits.empty() || digits.front() == ' ')
        return badNumber(text, expected);
    const Result<std::int64_t> value = parseScaled(digits, countSuffixes, false, expected);
    if (!value) {
        Error error = value.error();
        error.found = fmt::format("\"{}\"", text);
        return error;
    }
    return negative ? -*value : *value;
}

Result<double> parseReal(std::string_view text)
{
    std::string digits(trimmed(text));
    const bool percent = !digits.empty() && digits.back() == '%';
    if (percent) {
        digits.pop_back();
        // Not a division by 100, which would round a second time.
        digits = fmt::format("{}e-2", trimmed(digits));
    }
    double value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc {} || end != digits.data() + digits.size() || !std::isfinite(value))
        return badNumber(text, "a decimal number such as 0.92, or 92%");
    return value;
}

} // namespace kvw
