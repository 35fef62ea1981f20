// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json_stream.h"

#include <fmt/format.h>

#include <array>

namespace kvw {

namespace {

bool isSpace(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Bytes that end a run of plain characters of a string: quote, backslash, control characters.
constexpr std::array<bool, 256> stops = [] {
    std::array<bool, 256> out {};
    for (std::size_t i = 0; i < 32; ++i)
        out[i] = true;
    out['"'] = out['\\'] = true;
    return out;
}();

std::string shown(char c)
{
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte < 0x7f ? fmt::format("'{}'", c) : fmt::format("byte 0x{:02x}", byte);
}

} // namespace

void JsonStream::sync()
{
    m_reader.consume(static_cast<std::size_t>(m_at - m_begin));
    m_begin = m_at;
}

bool JsonStream::more()
{
    if (m_at != m_end)
        return true;
    sync();
    const std::string_view there = m_reader.window();
    m_begin = m_at = there.data();
    m_end = m_begin + there.size();
    return !there.empty();
}

void JsonStream::fail(std::uint64_t at, std::string code, std::string message, std::string found, std::string expected)
{
    sync();
    m_reader.fail(m_reader.errorAt(at, std::move(code), std::move(message), std::move(found), std::move(expected)));
    m_begin = m_at = m_end = nullptr;
}

void JsonStream::syntax(std::string expected)
{
    const std::string found = m_at == m_end ? "the end" : shown(*m_at);
    fail(offset(), "json.syntax", "the JSON text cannot be read", found, std::move(expected));
}

char JsonStream::peek()
{
    while (more()) {
        while (m_at != m_end && isSpace(*m_at))
            ++m_at;
        if (m_at != m_end)
            return *m_at;
    }
    return 0;
}

bool JsonStream::take(char c)
{
    if (peek() != c || m_at == m_end)
        return false;
    ++m_at;
    return true;
}

void JsonStream::expect(char c)
{
    if (ok() && !take(c))
        syntax(fmt::format("'{}'", c));
}

bool JsonStream::next(char close, bool& first)
{
    if (!ok())
        return false;
    if (take(close))
        return false;
    if (!first)
        expect(',');
    first = false;
    return ok();
}

char JsonStream::nextByte()
{
    return more() ? *m_at++ : '\0';
}

const std::string& JsonStream::string(std::size_t cap)
{
    m_text.clear();
    const std::uint64_t at = offset();
    expect('"');
    bool plain = true; // no byte beyond ASCII
    while (ok()) {
        if (!more()) {
            syntax("the end of a string");
            break;
        }
        const char* from = m_at;
        while (m_at != m_end && !stops[static_cast<unsigned char>(*m_at)]) {
            plain = plain && static_cast<unsigned char>(*m_at) < 0x80;
            ++m_at;
        }
        m_text.append(from, m_at);
        if (m_text.size() > cap) {
            fail(at, "json.size", "the string is too long", {}, fmt::format("at most {} bytes", cap));
        } else if (m_at == m_end) {
            continue;
        } else if (*m_at == '"') {
            ++m_at;
            break;
        } else if (*m_at == '\\') {
            ++m_at;
            escape();
        } else {
            syntax("no control characters in a string");
        }
    }
    if (ok() && !plain && !isUtf8(m_text))
        fail(at, "json.syntax", "the string is not valid UTF-8");
    if (!ok())
        m_text.clear();
    return m_text;
}

void JsonStream::escape()
{
    const char c = nextByte();
    switch (c) {
    case '"':
    case '\\':
    case '/':
        m_text += c;
        return;
    case 'b':
        m_text += '\b';
        return;
    case 'f':
        m_text += '\f';
        return;
    case 'n':
        m_text += '\n';
        return;
    case 'r':
        m_text += '\r';
        return;
    case 't':
        m_text += '\t';
        return;
    case 'u':
        break;
    default:
        return syntax("an escape that JSON has");
    }
    unsigned code = hexDigits();
    if (code >= 0xd800 && code < 0xdc00) { // the first half of a pair
        if (nextByte() != '\\' || nextByte() != 'u')
            return syntax("the second half of a surrogate pair");
        const unsigned low = hexDigits();
        if (low < 0xdc00 || low > 0xdfff)
            return syntax("the second half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code <= 0xdfff) {
        return syntax("the first half of a surrogate pair");
    }
    appendCodePoint(code);
}

unsigned JsonStream::hexDigits()
{
    unsigned out = 0;
    for (int i = 0; i < 4; ++i) {
        const char c = nextByte();
        const unsigned digit = c >= '0' && c <= '9' ? static_cast<unsigned>(c - '0')
            : c >= 'a' && c <= 'f'                  ? static_cast<unsigned>(c - 'a' + 10)
            : c >= 'A' && c <= 'F'                  ? static_cast<unsigned>(c - 'A' + 10)
                                                    : 16U;
        if (digit == 16) {
            syntax("four hexadecimal digits");
            return 0;
        }
        out = out * 16 + digit;
    }
    return out;
}

void JsonStream::appendCodePoint(unsigned code)
{
    const auto byte = [this](unsigned value) { m_text += static_cast<char>(value); };
    if (code < 0x80) {
        byte(code);
    } else if (code < 0x800) {
        byte(0xc0 | code >> 6);
        byte(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        byte(0xe0 | code >> 12);
        byte(0x80 | (code >> 6 & 0x3f));
        byte(0x80 | (code & 0x3f));
    } else {
        byte(0xf0 | code >> 18);
        byte(0x80 | (code >> 12 & 0x3f));
        byte(0x80 | (code >> 6 & 0x3f));
        byte(0x80 | (code & 0x3f));
    }
}

std::int64_t JsonStream::number()
{
    const char first = peek();
    const std::uint64_t at = offset();
    if (!ok())
        return 0;
    if (first < '0' || first > '9') {
        syntax("a whole number, not negative");
        return 0;
    }
    std::int64_t out = 0;
    int digits = 0;
    while (more() && *m_at >= '0' && *m_at <= '9') {
        const std::int64_t digit = *m_at++ - '0';
        if (out > (INT64_MAX - digit) / 10) {
            fail(at, "json.range", "the number is too large", {}, "below 2⁶³");
            return 0;
        }
        out = 10 * out + digit;
        ++digits;
    }
    const bool leadingZero = first == '0' && digits > 1;
    if (leadingZero || (more() && (*m_at == '.' || *m_at == 'e' || *m_at == 'E'))) {
        syntax("a whole number");
        return 0;
    }
    return out;
}

void JsonStream::skipString()
{
    expect('"');
    while (ok()) {
        if (!more())
            return syntax("the end of a string");
        while (m_at != m_end && *m_at != '"' && *m_at != '\\')
            ++m_at;
        if (m_at == m_end)
            continue;
        if (*m_at++ == '"')
            return;
        nextByte(); // whatever is escaped
    }
}

std::string JsonStream::scalar()
{
    peek();
    const std::uint64_t at = offset();
    std::string word;
    while (more() && word.size() < 64 && !isSpace(*m_at) && *m_at != ',' && *m_at != '}' && *m_at != ']')
        word += *m_at++;
    const bool isNumber = !word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'))
        && word.find_first_not_of("0123456789+-.eE") == std::string::npos;
    if (!isNumber && word != "true" && word != "false" && word != "null")
        fail(at, "json.syntax", "the JSON text cannot be read", {}, "a value");
    return word;
}

void JsonStream::skipValue()
{
    std::string open; // brackets that are open
    do {
        const char c = peek();
        if (c == '{' || c == '[') {
            if (open.size() >= mostDepth) {
                fail(offset(), "json.depth", "too many objects and arrays inside one another", {},
                    fmt::format("at most {}", mostDepth));
                return;
            }
            ++m_at;
            open += c;
            const char close = c == '{' ? '}' : ']';
            if (take(close)) {
                open.pop_back();
            } else if (c == '{') {
                skipString();
                expect(':');
                continue;
            } else {
                continue;
            }
        } else if (c == '"') {
            skipString();
        } else {
            scalar();
        }
        // A value has ended: what comes next belongs to what is open.
        while (ok() && !open.empty()) {
            const bool inObject = open.back() == '{';
            if (take(inObject ? '}' : ']')) {
                open.pop_back();
                continue;
            }
            expect(',');
            if (inObject) {
                skipString();
                expect(':');
            }
            break;
        }
    } while (ok() && !open.empty());
}

void JsonStream::expectEnd()
{
    if (ok() && peek() != 0)
        syntax("nothing after the end");
}

bool isUtf8(std::string_view text)
{
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        if (lead < 0x80) {
            ++i;
            continue;
        }
        const std::size_t length = lead >= 0xc2 && lead < 0xe0 ? 2
            : lead >= 0xe0 && lead < 0xf0                      ? 3
            : lead >= 0xf0 && lead < 0xf5                      ? 4
                                                               : 0;
        if (length == 0 || i + length > text.size())
            return false;
        const auto second = static_cast<unsigned char>(text[i + 1]);
        const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
        const bool beyond = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f);
        if (overlong || beyond)
            return false;
        for (std::size_t k = 1; k < length; ++k) {
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80)
                return false;
        }
        i += length;
    }
    return true;
}

} // namespace kvw
