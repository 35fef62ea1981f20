// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace kvw {

/// Hands JSON text to nlohmann's lexer, byte by byte, and remembers where each byte came from. The text must outlive
/// it.
///
/// In the second reading (`quoteNonFinite`) it turns a bare NaN, Infinity or -Infinity into a string, which the grammar
/// allows wherever it allows a number. So that such a string can never be taken for one of the file's own, every string
/// gets a first character more: 's' for those of the file, 'n' for the tokens made here. The handler takes it off
/// again.
class JsonText
{
public:
    JsonText(std::string_view text, bool quoteNonFinite);

    bool atEnd() const { return m_at >= m_text.size(); }
    /// The next byte. REQUIRES !atEnd().
    char current() const;
    void advance();

    /// Offset in the text of the byte that the lexer calls number `position`. The lexer is at most one byte behind what
    /// it has read (it looks one byte past a number), or one beyond at the end of the text.
    std::size_t offsetOf(std::size_t position) const;
    std::size_t offsetOfLast() const { return m_last; }
    std::string_view text() const { return m_text; }
    bool quotesNonFinite() const { return m_quote; }

private:
    void prepare();
    void replace(std::size_t length, std::string_view made);

    std::string_view m_text;
    bool m_quote;
    bool m_inString = false; ///< only kept up when m_quote
    bool m_escaped = false;
    std::size_t m_at = 0;
    std::string_view m_made {}; ///< what is still to be handed out instead of the next m_replaced bytes
    std::size_t m_replaced = 0;
    std::size_t m_handedOut = 0;
    std::size_t m_last = 0;
    std::size_t m_previous = 0;
};

/// A JsonText as the pair of input iterators that nlohmann asks for. The default one is the end.
class JsonTextIterator
{
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    JsonTextIterator() = default;
    explicit JsonTextIterator(JsonText& text)
        : m_text(&text)
    {}
    char operator*() const { return m_text->current(); }
    JsonTextIterator& operator++()
    {
        m_text->advance();
        return *this;
    }
    JsonTextIterator operator++(int)
    {
        const JsonTextIterator before = *this;
        ++*this;
        return before;
    }
    bool operator==(const JsonTextIterator& other) const { return ended() == other.ended(); }
    bool operator!=(const JsonTextIterator& other) const { return !(*this == other); }

private:
    bool ended() const { return !m_text || m_text->atEnd(); }

    JsonText* m_text = nullptr;
};

/// True when one of the numbers that JSON does not have stands at `offset`; for -Infinity, at its second byte.
bool nonFiniteAt(std::string_view text, std::size_t offset);
/// "line 3, column 7" of a byte, both from 1; columns are characters.
std::string lineAndColumn(std::string_view text, std::size_t offset);
/// A few bytes of the text before and after `offset`, of the same line, as printable ASCII in quotes.
std::string excerpt(std::string_view text, std::size_t offset);

/// Appends "/key" to a JSON pointer, with ~ and / escaped.
void appendPointerToken(std::string& pointer, std::string_view key);

} // namespace kvw
