// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/frame.h"

#include <fmt/format.h>

namespace kvw::worker {

namespace {

constexpr std::size_t lengthBytes = 4;
constexpr std::size_t sequenceBytes = 8;
constexpr std::size_t compactAt = std::size_t {1} << 16;

std::string placeOf(std::uint64_t sequence)
{
    return fmt::format("frame {}", sequence);
}

} // namespace

void putNumber(std::vector<std::byte>& out, std::uint64_t number, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i)
        out.push_back(static_cast<std::byte>(number >> (8 * i)));
}

std::uint64_t getNumber(std::span<const std::byte> bytes, std::size_t count)
{
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < count; ++i)
        out |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    return out;
}

void putText(std::vector<std::byte>& out, std::string_view text)
{
    const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

std::string_view textOf(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void FrameReader::add(std::span<const std::byte> bytes)
{
    if (m_error)
        return;
    // What was returned goes once it is most of the buffer, so that each byte is moved a few times at most.
    if (m_begin >= compactAt && m_begin >= m_bytes.size() / 2) {
        m_bytes.erase(m_bytes.begin(), m_bytes.begin() + static_cast<std::ptrdiff_t>(m_begin));
        m_begin = 0;
    }
    m_bytes.insert(m_bytes.end(), bytes.begin(), bytes.end());
}

Result<std::optional<Frame>> FrameReader::next()
{
    if (m_error)
        return *m_error;
    const std::span<const std::byte> rest = std::span<const std::byte>(m_bytes).subspan(m_begin);
    if (rest.size() < frameHeaderBytes)
        return std::optional<Frame>();
    const Result<std::size_t> length = checkHeader(rest.first(frameHeaderBytes));
    if (!length)
        return *(m_error = length.error());
    if (rest.size() < frameHeaderBytes + *length)
        return std::optional<Frame>();
    const std::span<const std::byte> payload = rest.subspan(frameHeaderBytes, *length);
    if (m_sequence == 0) {
        if (const Result<void> hello = checkHello(payload); !hello)
            return *(m_error = hello.error());
    }
    Frame frame;
    frame.type = std::to_integer<std::uint8_t>(rest[lengthBytes]);
    frame.sequence = ++m_sequence;
    frame.payload.assign(payload.begin(), payload.end());
    m_begin += frameHeaderBytes + *length;
    if (m_begin == m_bytes.size()) {
        m_bytes.clear();
        m_begin = 0;
    }
    return std::optional(std::move(frame));
}

std::size_t FrameReader::pending() const
{
    return m_bytes.size() - m_begin;
}

Result<std::size_t> FrameReader::checkHeader(std::span<const std::byte> header) const
{
    const std::uint64_t length = getNumber(header, lengthBytes);
    const auto type = std::to_integer<std::uint8_t>(header[lengthBytes]);
    const std::uint64_t sequence = getNumber(header.subspan(lengthBytes + 1), sequenceBytes);
    const std::string place = placeOf(m_sequence + 1);
    if (m_sequence == 0 && (type != helloType || sequence != 1 || length > mostHelloBytes))
        return Error {"frame.hello", "the stream does not begin with a hello of the worker protocol", {{}, place}};
    if (length > mostPayloadBytes)
        return Error {"frame.length", "the payload is too long", {{}, place}, fmt::format("{} bytes", length),
            fmt::format("at most {} bytes", mostPayloadBytes)};
    if (sequence != m_sequence + 1)
        return Error {"frame.sequence", "a frame is missing or comes twice", {{}, place},
            fmt::format("sequence {}", sequence), fmt::format("sequence {}", m_sequence + 1)};
    return static_cast<std::size_t>(length);
}

Result<void> FrameReader::checkHello(std::span<const std::byte> payload) const
{
    if (payload.size() <= helloMagic.size() || !textOf(payload).starts_with(helloMagic))
        return Error {"frame.hello", "the stream does not begin with a hello of the worker protocol", {{}, placeOf(1)}};
    const auto version = std::to_integer<int>(payload[helloMagic.size()]);
    if (version != frameVersion)
        return Error {"frame.version", "the frames have a version that this program does not know", {{}, placeOf(1)},
            fmt::format("version {}", version), fmt::format("version {}", frameVersion)};
    return {};
}

Result<void> FrameWriter::write(std::uint8_t type, std::span<const std::byte> payload, std::vector<std::byte>& out)
{
    const std::size_t most = m_sequence == 0 ? mostHelloBytes : mostPayloadBytes;
    if (payload.size() > most)
        return Error {"frame.length", "the payload is too long", {{}, placeOf(m_sequence + 1)},
            fmt::format("{} bytes", payload.size()), fmt::format("at most {} bytes", most)};
    putNumber(out, payload.size(), lengthBytes);
    putNumber(out, type, 1);
    putNumber(out, ++m_sequence, sequenceBytes);
    out.insert(out.end(), payload.begin(), payload.end());
    return {};
}

} // namespace kvw::worker
