// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json_place.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

namespace kvw {

namespace {

bool isSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// Steps over values of a JSON text without making anything of them. No recursion: nesting costs a counter.
class Scanner
{
public:
    explicit Scanner(std::string_view text)
        : m_text(text)
    {}

    std::size_t at() const { return m_at; }

    bool take(char c)
    {
        skipSpace();
        if (m_at >= m_text.size() || m_text[m_at] != c)
            return false;
        ++m_at;
        return true;
    }

    void skipSpace()
    {
        while (m_at < m_text.size() && isSpace(m_text[m_at]))
            ++m_at;
    }

    /// A string with its quotes. Nothing when there is none, or it does not end.
    std::optional<TextPlace> string()
    {
        skipSpace();
        const std::size_t first = m_at;
        if (!take('"'))
            return std::nullopt;
        while (m_at < m_text.size() && m_text[m_at] != '"')
            m_at += m_text[m_at] == '\\' ? 2 : 1;
        if (m_at >= m_text.size())
            return std::nullopt;
        ++m_at;
        return TextPlace {first, m_at - first};
    }

    /// Any value, as far as it goes.
    TextPlace value()
    {
        skipSpace();
        const std::size_t first = m_at;
        std::size_t depth = 0;
        while (m_at < m_text.size()) {
            const char c = m_text[m_at];
            if (c == '"') {
                if (!string())
                    m_at = m_text.size();
            } else if (c == '{' || c == '[') {
                ++depth;
                ++m_at;
            } else if (c == '}' || c == ']') {
                if (depth == 0)
                    break;
                --depth;
                ++m_at;
            } else if (depth == 0 && (c == ',' || c == ':' || isSpace(c))) {
                break;
            } else {
                ++m_at;
                continue;
            }
            if (depth == 0)
                break;
        }
        return {first, std::min(m_at, m_text.size()) - first};
    }

private:
    std::string_view m_text;
    std::size_t m_at = 0;
};

/// "a~1b" is "a/b", "a~0b" is "a~b".
std::vector<std::string> tokensOf(std::string_view pointer)
{
    std::vector<std::string> out;
    for (std::size_t i = 0; i < pointer.size(); ++i) {
        if (pointer[i] == '/') {
            out.emplace_back();
        } else if (pointer[i] == '~' && i + 1 < pointer.size()) {
            ++i;
            out.back() += pointer[i] == '1' ? '/' : '~';
        } else {
            out.back() += pointer[i];
        }
    }
    return out;
}

/// What a key says, where it has no escapes but the simple ones: names of fields have none.
std::string keyOf(std::string_view quoted)
{
    std::string out;
    for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
        if (quoted[i] == '\\' && i + 2 < quoted.size())
            ++i;
        out += quoted[i];
    }
    return out;
}

/// Goes into the object or array that the scanner stands before, to its member. False when it has none.
bool enter(Scanner& scanner, std::string_view text, const std::string& token)
{
    if (scanner.take('{')) {
        while (const std::optional<TextPlace> key = scanner.string()) {
            if (!scanner.take(':'))
                return false;
            if (keyOf(text.substr(key->offset, key->length)) == token)
                return true;
            scanner.value();
            if (!scanner.take(','))
                return false;
        }
        return false;
    }
    std::size_t index = 0;
    const auto [end, status] = std::from_chars(token.data(), token.data() + token.size(), index);
    if (status != std::errc {} || end != token.data() + token.size() || !scanner.take('['))
        return false;
    for (; index > 0; --index) {
        if (scanner.value().length == 0 || !scanner.take(','))
            return false;
    }
    return true;
}

std::optional<TextPlace> placeOfPointer(std::string_view text, std::string_view pointer)
{
    Scanner scanner(text);
    scanner.skipSpace();
    TextPlace innermost {scanner.at(), 1}; // of the root the first sign
    for (const std::string& token : tokensOf(pointer)) {
        if (!enter(scanner, text, token))
            return innermost.offset < text.size() ? std::optional(innermost) : std::nullopt;
        scanner.skipSpace();
        innermost = {scanner.at(), 1};
    }
    const TextPlace value = scanner.value();
    return value.length > 0 ? std::optional(value) : std::nullopt;
}

bool continues(char c)
{
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; // a character of several bytes
}

/// "line 3, column 7", columns in characters.
std::optional<TextPlace> placeOfLine(std::string_view text, std::string_view at)
{
    constexpr std::string_view line = "line ";
    constexpr std::string_view comma = ", column ";
    const std::size_t middle = at.find(comma);
    std::size_t row = 0;
    std::size_t column = 1;
    if (!at.starts_with(line) || middle == std::string_view::npos
        || std::from_chars(at.data() + line.size(), at.data() + middle, row).ec != std::errc {}
        || std::from_chars(at.data() + middle + comma.size(), at.data() + at.size(), column).ec != std::errc {})
        return std::nullopt;
    std::size_t offset = 0;
    for (; row > 1; --row) {
        offset = text.find('\n', offset);
        if (offset == std::string_view::npos)
            return std::nullopt;
        ++offset;
    }
    for (; column > 1 && offset < text.size() && text[offset] != '\n'; --column) {
        ++offset;
        while (offset < text.size() && continues(text[offset]))
            ++offset;
    }
    if (text.empty())
        return std::nullopt;
    offset = std::min(offset, text.size() - 1);
    const bool between = isSpace(text[offset]); // a word that ends too early is told where it ends
    while (offset > 0 && isSpace(text[offset]))
        --offset;
    std::size_t end = offset + 1;
    while (end < text.size() && !between && !isSpace(text[end]) && text[end] != ',')
        ++end;
    while (between && offset > 0 && std::string_view(" \t\r\n,:{[").find(text[offset - 1]) == std::string_view::npos)
        --offset;
    return TextPlace {offset, end - offset};
}

} // namespace

std::optional<TextPlace> jsonPlace(std::string_view text, std::string_view at)
{
    if (at.starts_with("line "))
        return placeOfLine(text, at);
    return at.starts_with('/') ? placeOfPointer(text, at) : std::nullopt;
}

} // namespace kvw
