// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/result.h"
#include "units/sha256.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kvw {

/// The start of a binary file, read forwards in pieces and hashed on the way. It holds one piece in memory, whatever
/// the file says about itself, and never reads more than a piece beyond what was asked for, or beyond setLimit().
///
/// The first failure sticks: later reads give zeros, and error() keeps what went wrong. So a header is read straight
/// through and checked where something depends on it: REQUIRES ok() before a number that was read decides about memory
/// or about how often a loop runs. Move only: it owns the file.
class ByteReader
{
public:
    /// Bytes of one piece.
    static constexpr std::size_t pieceBytes = std::size_t {64} << 10;

    /// Opens a file. Errors: io.open; io.read when it is not a regular file.
    static Result<ByteReader> open(const std::string& path);
    /// Reads from memory. `bytes` must outlive the reader; `name` is the file in errors.
    ByteReader(std::string_view bytes, std::string name);
    ByteReader(ByteReader&& other) noexcept;
    ByteReader& operator=(ByteReader&&) = delete;
    ~ByteReader();

    const std::string& file() const { return m_file; }
    /// Bytes of the whole file.
    std::uint64_t size() const { return m_size; }
    /// Bytes read so far.
    std::uint64_t offset() const { return m_start + m_at; }
    /// Bytes from here to the limit.
    std::uint64_t left() const { return m_limit - offset(); }
    /// No byte from `end` on is read: the end of a header whose length is known. REQUIRES offset() <= end <= size().
    void setLimit(std::uint64_t end);

    bool ok() const { return !m_error; }
    /// REQUIRES !ok().
    const Error& error() const { return *m_error; }
    /// Makes `error` the reader's, unless it has one; where the error names no place, the reader's own is put in.
    void fail(Error error);
    /// An error at byte `offset` of the file.
    Error errorAt(std::uint64_t offset, std::string code, std::string message, std::string found = {},
        std::string expected = {}) const;

    /// Copies `count` bytes to `to`; zeros after a failure. Failure: file.truncated.
    void read(void* to, std::size_t count);
    /// Passes over `count` bytes; they are hashed.
    void skip(std::uint64_t count);
    /// `count` bytes as a string. REQUIRES that the caller has capped `count`.
    std::string text(std::size_t count);
    /// A number as the file stores it, in the byte order of setSwapped().
    template <typename T>
    T number()
    {
        static_assert(std::is_arithmetic_v<T>);
        T value {};
        if (m_error || m_piece.size() - m_at < sizeof(T)) {
            read(&value, sizeof(T));
        } else {
            std::memcpy(&value, m_piece.data() + m_at, sizeof(T));
            m_at += sizeof(T);
        }
        return m_swapped ? swapped(value) : value;
    }
    /// Whether numbers have the other byte order than this machine. At first they are little-endian.
    void setSwapped(bool swapped) { m_swapped = swapped; }
    bool isSwapped() const { return m_swapped; }

    /// The bytes that are there without reading on; empty only at the limit or after a failure.
    std::string_view window();
    /// Passes over the first `count` bytes of window().
    void consume(std::size_t count) { m_at += count; }

    /// SHA-256 of all bytes up to offset(), lower-case hex. The reader must not be used afterwards.
    std::string sha256();

private:
    explicit ByteReader(int descriptor, std::uint64_t size, std::string path);
    bool holds(std::uint64_t count);
    template <typename T>
    static T swapped(T value)
    {
        unsigned char bytes[sizeof(T)];
        std::memcpy(bytes, &value, sizeof(T));
        for (std::size_t i = 0; i < sizeof(T) / 2; ++i)
            std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
        std::memcpy(&value, bytes, sizeof(T));
        return value;
    }
    /// Hashes what was used of the piece and gets the next one. False at the limit and on failure.
    bool refill();

    int m_descriptor = -1;
    std::string m_file;
    std::uint64_t m_size = 0;
    std::uint64_t m_limit = 0;
    std::uint64_t m_start = 0; ///< offset of m_piece in the file
    std::size_t m_at = 0; ///< bytes of m_piece that are used
    std::string_view m_piece {};
    std::vector<char> m_buffer {};
    bool m_swapped = std::endian::native == std::endian::big;
    std::optional<Error> m_error {};
    Sha256 m_hash {};
};

} // namespace kvw
