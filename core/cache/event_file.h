// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/event_log.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// The chunks of an event file. Four letters each, so that a file is recognised by its first bytes.
enum class ChunkKind : std::uint32_t {
    Header = 0x4857564b, // "KVWH"
    Digests = 0x4457564b, // "KVWD"
    Events = 0x4557564b, // "KVWE"
    Keyframe = 0x4b57564b, // "KVWK"
    End = 0x5a57564b, // "KVWZ"
};

/// Appends whole chunks to a file. A chunk that cannot be written is taken back, so that the file still ends with a
/// whole one.
class EventFileWriter
{
public:
    /// Errors: io.open.
    static Result<EventFileWriter> create(const std::string& path);
    EventFileWriter(EventFileWriter&& other) noexcept;
    EventFileWriter& operator=(EventFileWriter&&) = delete;
    ~EventFileWriter();

    /// Errors: io.write.
    Result<void> write(ChunkKind kind, std::span<const std::byte> payload);

private:
    EventFileWriter(int descriptor, std::string path);
    bool put(std::span<const std::byte> bytes);

    int m_descriptor = -1;
    std::string m_path;
    std::int64_t m_size = 0; ///< up to the end of the last whole chunk
};

struct Chunk
{
    ChunkKind kind = ChunkKind::End;
    std::int64_t offset = 0; ///< of its first byte in the file
    std::vector<std::byte> payload {};
};

/// Reads chunks in order.
class EventFileReader
{
public:
    /// Kind, check and length before each payload.
    static constexpr std::int64_t frameBytes = 16;

    /// Errors: io.open.
    static Result<EventFileReader> open(const std::string& path);
    EventFileReader(EventFileReader&& other) noexcept;
    EventFileReader& operator=(EventFileReader&&) = delete;
    ~EventFileReader();

    /// The next whole chunk; nothing at the end of the file and where the last chunk is cut short. Errors: io.read;
    /// events.format for an unknown kind, a length that the kind cannot have and a wrong check. Allocates no more than
    /// the file is long.
    Result<std::optional<Chunk>> next();
    /// Bytes not read yet, a chunk that is cut short included.
    std::int64_t remaining() const;
    std::int64_t offset() const;
    Error error(std::string code, std::string message, std::int64_t offset) const;

private:
    EventFileReader(int descriptor, std::string path, std::int64_t size);
    Result<void> get(std::span<std::byte> out);

    int m_descriptor = -1;
    std::string m_path;
    std::int64_t m_size = 0;
    std::int64_t m_offset = 0;
};

/// The header chunk's JSON.
std::string headerToJson(const EventLogHeader& header);
/// Errors: json.…, events.format, events.version, with JSON pointer.
Result<EventLogHeader> headerFromJson(std::string_view text, const std::string& file);

/// A keyframe's payload: u64 events before it, u32 step, u32 pools; for each pool u64 number of blocks that are not
/// free, then for each of those 28 bytes: u32 block, u8 state, u8 indexed, u8 group, u8 0, u16 tenant, u16 0, u32
/// references, u32 request, u32 position, u32 tokens.
std::vector<std::byte> keyframePayload(std::uint64_t events, const BlockMap& state);
/// The end chunk's payload: u64 events, u64 digests.
std::vector<std::byte> endPayload(std::uint64_t events, std::uint64_t digests);

} // namespace kvw
