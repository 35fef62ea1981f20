// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kvw::worker {

// The frames that workbench and worker exchange over a pipe, the same in both directions, all numbers little-endian:
// u32 length of the payload, u8 type, u64 sequence, payload. The sequence is 1 for the first frame and one more for
// each that follows. The first frame is a hello (type 1), whose payload begins with "KVWP" and u8 version of this
// format, and is short: so anything else that is sent down the pipe is recognised by its first bytes.

constexpr std::size_t frameHeaderBytes = 13;
constexpr std::size_t mostPayloadBytes = std::size_t {16} << 20;
constexpr std::size_t mostHelloBytes = 4096;
constexpr std::uint8_t helloType = 1;
constexpr std::uint8_t frameVersion = 1;
constexpr std::string_view helloMagic = "KVWP";

struct Frame
{
    std::uint8_t type = 0;
    std::uint64_t sequence = 0;
    std::vector<std::byte> payload {};
};

/// Cuts a stream of bytes into frames, however the bytes arrive. It keeps no more than it was given.
class FrameReader
{
public:
    /// More of the stream.
    void add(std::span<const std::byte> bytes);
    /// The next whole frame; nothing when there are too few bytes for one. Errors: frame.hello (the stream does not
    /// begin with one), frame.version, frame.length, frame.sequence; each as early as the bytes allow, and again at
    /// every later call.
    Result<std::optional<Frame>> next();
    /// Bytes given and not yet returned in a frame: more than 0 at the end of a stream that was cut short.
    std::size_t pending() const;

private:
    Result<std::size_t> checkHeader(std::span<const std::byte> header) const;
    Result<void> checkHello(std::span<const std::byte> payload) const;

    std::vector<std::byte> m_bytes {};
    std::size_t m_begin = 0; // of what was not returned
    std::uint64_t m_sequence = 0; // of the last frame
    std::optional<Error> m_error {};
};

/// Makes the frames of one direction.
class FrameWriter
{
public:
    /// Appends a frame to `out`. Errors: frame.length (nothing is appended, the sequence stays).
    Result<void> write(std::uint8_t type, std::span<const std::byte> payload, std::vector<std::byte>& out);

private:
    std::uint64_t m_sequence = 0; // of the last frame
};

/// Appends `count` bytes of a number, the lowest first.
void putNumber(std::vector<std::byte>& out, std::uint64_t number, std::size_t count);
/// Reads a number of `count` bytes. REQUIRES bytes.size() ≥ count.
std::uint64_t getNumber(std::span<const std::byte> bytes, std::size_t count);
void putText(std::vector<std::byte>& out, std::string_view text);
std::string_view textOf(std::span<const std::byte> bytes);

} // namespace kvw::worker
