// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/byte_reader.h"

namespace kvw {

/// Pulls JSON from a ByteReader token by token and keeps none of it: for tables of tensors, which have hundreds of
/// thousands of lines and a form that is known. Everything else is read by parseJson(). Failures are the reader's, see
/// there; what is returned after one is empty.
class JsonStream
{
public:
    /// Objects and arrays inside one another that skipValue() passes over.
    static constexpr int mostDepth = 64;

    explicit JsonStream(ByteReader& reader)
        : m_reader(reader)
    {}
    ~JsonStream() { sync(); }
    JsonStream(const JsonStream&) = delete;
    JsonStream& operator=(const JsonStream&) = delete;

    bool ok() const { return m_reader.ok(); }
    /// Byte of the file that is next.
    std::uint64_t offset() const { return m_reader.offset() + static_cast<std::uint64_t>(m_at - m_begin); }
    /// Error at byte `at` of the file.
    void fail(
        std::uint64_t at, std::string code, std::string message, std::string found = {}, std::string expected = {});

    /// The next byte that is no white space, which stays; 0 at the end or after a failure.
    char peek();
    /// Takes `c` if it is next.
    bool take(char c);
    /// Takes `c`, or fails: json.syntax.
    void expect(char c);
    /// The next member of an object or element of an array: true when there is one. `first` is true at first and is
    /// changed; `close` is the bracket that ends it, which is taken.
    bool next(char close, bool& first);
    /// A string of at most `cap` bytes; it stays until the next call. Errors: json.syntax, json.size.
    const std::string& string(std::size_t cap);
    /// A whole number from 0 to 2⁶³ − 1. Errors: json.syntax, json.range.
    std::int64_t number();
    /// A number or literal as it is written, up to 64 bytes. Errors: json.syntax.
    std::string scalar();
    /// Passes over a value of any kind. Errors: json.syntax, json.depth.
    void skipValue();
    /// Fails if anything but white space follows: json.syntax.
    void expectEnd();

private:
    void sync();
    bool more();
    char nextByte(); ///< taken; 0 at the end
    void syntax(std::string expected);
    void escape();
    unsigned hexDigits();
    void appendCodePoint(unsigned code);
    void skipString();

    ByteReader& m_reader;
    const char* m_begin = nullptr;
    const char* m_at = nullptr;
    const char* m_end = nullptr;
    std::string m_text;
};

/// Whether the text is valid UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool isUtf8(std::string_view text);

} // namespace kvw
