// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

JsonText::JsonText(std::string_view text, bool quoteNonFinite)
    : m_text(text)
    , m_quote(quoteNonFinite)
{
    prepare();
}

char JsonText::current() const
{
    if (!m_made.empty())
        return m_made.front();
    // The lexer takes a NUL for the end of its input and would accept whatever follows it. 0xff is wrong everywhere.
    return m_text[m_at] == '\0' ? '\xff' : m_text[m_at];
}

void JsonText::advance()
{
    ++m_handedOut;
    m_previous = m_last;
    m_last = m_at;
    if (!m_made.empty()) {
        m_made.remove_prefix(1);
        if (m_made.empty())
            m_at += m_replaced;
    } else {
        if (m_inString) {
            if (m_escaped)
                m_escaped = false;
            else if (m_text[m_at] == '\\')
                m_escaped = true;
            else if (m_text[m_at] == '"')
                m_inString = false;
        }
        ++m_at;
    }
    prepare();
}

std::size_t JsonText::offsetOf(std::size_t position) const
{
    if (position > m_handedOut)
        return m_text.size();
    return position == m_handedOut ? m_last : m_previous;
}

void JsonText::prepare()
{
    if (!m_quote || m_inString || !m_made.empty() || atEnd())
        return;
    const std::string_view rest = m_text.substr(m_at);
    if (rest.front() == '"') {
        m_inString = true;
        replace(1, "\"s");
    } else if (rest.starts_with("NaN")) {
        replace(3, "\"nNaN\"");
    } else if (rest.starts_with("Infinity")) {
        replace(8, "\"nInfinity\"");
    } else if (rest.starts_with("-Infinity")) {
        replace(9, "\"n-Infinity\"");
    }
}

void JsonText::replace(std::size_t length, std::string_view made)
{
    m_replaced = length;
    m_made = made;
}

bool nonFiniteAt(std::string_view text, std::size_t offset)
{
    const std::string_view rest = text.substr(std::min(offset, text.size()));
    return rest.starts_with("NaN") || rest.starts_with("Infinity");
}

std::string lineAndColumn(std::string_view text, std::size_t offset)
{
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; };
    while (offset > 0 && offset < text.size() && continues(text[offset]))
        --offset; // within a character: its place is where it starts
    std::size_t line = 1;
    std::size_t column = 1;
    for (const char c : text.substr(0, offset)) {
        if (c == '\n') {
            ++line;
            column = 1;
        } else if (!continues(c)) {
            ++column;
        }
    }
    return fmt::format("line {}, column {}", line, column);
}

std::string excerpt(std::string_view text, std::size_t offset)
{
    if (offset >= text.size())
        return "the end of the text";
    constexpr std::size_t before = 12;
    constexpr std::size_t after = 8;
    const std::size_t start = offset - std::min(offset, before);
    std::string out;
    for (std::size_t i = start; i < std::min(text.size(), offset + after); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\n') {
            if (i >= offset)
                break;
            out.clear(); // begin with the line that the offset lies in
        } else {
            out += byte < 0x20 || byte > 0x7e ? fmt::format("\\x{:02x}", byte) : std::string(1, text[i]);
        }
    }
    return out.empty() ? "a line end" : fmt::format("\"{}\"", out);
}

void appendPointerToken(std::string& pointer, std::string_view key)
{
    pointer += '/';
    for (const char c : key) {
        if (c == '~')
            pointer += "~0";
        else if (c == '/')
            pointer += "~1";
        else
            pointer += c;
    }
}

} // namespace kvw
