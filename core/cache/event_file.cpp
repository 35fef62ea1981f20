// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace kvw {

static_assert(
    std::endian::native == std::endian::little, "event files are little-endian, and written as memory holds them");

namespace {

constexpr std::int64_t frameBytes = EventFileReader::frameBytes;
constexpr std::int64_t mostHeaderBytes = std::int64_t {16} << 20;

struct Frame
{
    std::uint32_t kind = 0;
    std::uint32_t check = 0;
    std::uint64_t length = 0;
};
static_assert(sizeof(Frame) == frameBytes);

std::uint32_t checkOf(std::uint32_t kind, std::span<const std::byte> payload)
{
    const std::uint64_t seed = (std::uint64_t {kind} << 32) ^ payload.size();
    return static_cast<std::uint32_t>(XXH3_64bits_withSeed(payload.data(), payload.size(), seed));
}

Error systemError(const char* code, const std::string& path, const char* what, int number)
{
    return {code, fmt::format("{}: {}", what, std::strerror(number)), {path, {}}};
}

/// Why a chunk cannot be so long, or null. Keeps a wrong length from being believed.
const char* wrongLength(std::uint32_t kind, std::uint64_t length)
{
    switch (ChunkKind {kind}) {
    case ChunkKind::Header:
        return length > static_cast<std::uint64_t>(mostHeaderBytes) ? "the header is longer than 16 MiB" : nullptr;
    case ChunkKind::Digests:
        return length % sizeof(BlockKey) != 0 ? "the digests are not whole" : nullptr;
    case ChunkKind::Events:
        return length % sizeof(Event) != 0 ? "the events are not whole" : nullptr;
    case ChunkKind::Keyframe:
        return length < 16 ? "the keyframe is too short" : nullptr;
    case ChunkKind::End:
        return length != 16 ? "the end chunk does not have 16 bytes" : nullptr;
    }
    return "there is no such kind of chunk";
}

/// Numbers as they lie in a file.
class ByteWriter
{
public:
    explicit ByteWriter(std::vector<std::byte>& out)
        : m_out(out)
    {}
    template <typename T>
    void put(T value)
    {
        std::array<std::byte, sizeof(T)> bytes;
        std::memcpy(bytes.data(), &value, sizeof(T));
        m_out.insert(m_out.end(), bytes.begin(), bytes.end());
    }

private:
    std::vector<std::byte>& m_out;
};

} // namespace

Result<EventFileWriter> EventFileWriter::create(const std::string& path)
{
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        return systemError("io.open", path, "the file cannot be made", errno);
    return EventFileWriter(descriptor, path);
}

EventFileWriter::EventFileWriter(int descriptor, std::string path)
    : m_descriptor(descriptor)
    , m_path(std::move(path))
{}

EventFileWriter::EventFileWriter(EventFileWriter&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_path(std::move(other.m_path))
    , m_size(other.m_size)
{}

EventFileWriter::~EventFileWriter()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

Result<void> EventFileWriter::write(ChunkKind kind, std::span<const std::byte> payload)
{
    Frame frame;
    frame.kind = static_cast<std::uint32_t>(kind);
    frame.check = checkOf(frame.kind, payload);
    frame.length = payload.size();
    if (put(std::as_bytes(std::span(&frame, 1))) && put(payload)) {
        m_size += frameBytes + static_cast<std::int64_t>(payload.size());
        return {};
    }
    const int number = errno;
    // Should taking back fail too, a reader still stops at the chunk that is cut short.
    if (::ftruncate(m_descriptor, m_size) == 0)
        (void)::lseek(m_descriptor, m_size, SEEK_SET);
    return systemError("io.write", m_path, "the event log cannot be written", number);
}

bool EventFileWriter::put(std::span<const std::byte> bytes)
{
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written == 0)
            errno = ENOSPC;
        if (written <= 0)
            return false;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

Result<EventFileReader> EventFileReader::open(const std::string& path)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return systemError("io.open", path, "the file cannot be opened", errno);
    EventFileReader reader(descriptor, path, 0);
    struct stat status
    {};
    if (::fstat(descriptor, &status) != 0)
        return systemError("io.open", path, "the file's size cannot be read", errno);
    // Every size in the file is checked against the file's own size, which only a regular file has.
    if (!S_ISREG(status.st_mode))
        return Error {"io.open", "it is not a regular file", {path, {}}};
    reader.m_size = status.st_size;
    return reader;
}

EventFileReader::EventFileReader(int descriptor, std::string path, std::int64_t size)
    : m_descriptor(descriptor)
    , m_path(std::move(path))
    , m_size(size)
{}

EventFileReader::EventFileReader(EventFileReader&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_path(std::move(other.m_path))
    , m_size(other.m_size)
    , m_offset(other.m_offset)
{}

EventFileReader::~EventFileReader()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

Result<std::optional<Chunk>> EventFileReader::next()
{
    if (remaining() < frameBytes)
        return std::optional<Chunk>();
    Chunk chunk;
    chunk.offset = m_offset;
    Frame frame;
    if (Result<void> got = get(std::as_writable_bytes(std::span(&frame, 1))); !got)
        return got.error();
    if (const char* wrong = wrongLength(frame.kind, frame.length))
        return error("events.format", wrong, chunk.offset);
    if (frame.length > static_cast<std::uint64_t>(remaining())) {
        m_offset = chunk.offset;
        return std::optional<Chunk>();
    }
    chunk.kind = ChunkKind {frame.kind};
    chunk.payload.resize(static_cast<std::size_t>(frame.length));
    if (Result<void> got = get(chunk.payload); !got)
        return got.error();
    if (frame.check != checkOf(frame.kind, chunk.payload))
        return error("events.format", "the chunk is damaged: its check does not match", chunk.offset);
    return std::optional<Chunk>(std::move(chunk));
}

std::int64_t EventFileReader::remaining() const
{
    return m_size - m_offset;
}

std::int64_t EventFileReader::offset() const
{
    return m_offset;
}

Error EventFileReader::error(std::string code, std::string message, std::int64_t offset) const
{
    return {std::move(code), std::move(message), {m_path, fmt::format("byte {}", offset)}};
}

Result<void> EventFileReader::get(std::span<std::byte> out)
{
    while (!out.empty()) {
        const ssize_t got = ::read(m_descriptor, out.data(), out.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return systemError("io.read", m_path, "the file cannot be read", errno);
        if (got == 0)
            return error("io.read", "the file became shorter while it was read", m_offset);
        m_offset += got;
        out = out.subspan(static_cast<std::size_t>(got));
    }
    return {};
}

std::vector<std::byte> keyframePayload(std::uint64_t events, const BlockMap& state)
{
    std::vector<std::byte> bytes;
    ByteWriter out(bytes);
    out.put(events);
    out.put(state.step());
    out.put(static_cast<std::uint32_t>(state.blocks().size()));
    for (const std::vector<BlockSnapshot>& pool : state.blocks()) {
        const auto used = std::count_if(
            pool.begin(), pool.end(), [](const BlockSnapshot& block) { return block.state != BlockState::Free; });
        out.put(static_cast<std::uint64_t>(used));
        for (std::size_t i = 0; i < pool.size(); ++i) {
            const BlockSnapshot& block = pool[i];
            if (block.state == BlockState::Free)
                continue;
            out.put(static_cast<std::uint32_t>(i));
            out.put(static_cast<std::uint8_t>(block.state));
            out.put(static_cast<std::uint8_t>(block.indexed));
            out.put(std::uint16_t {block.group});
            out.put(std::uint32_t {block.tenant});
            out.put(block.references);
            out.put(block.request);
            out.put(block.position);
            out.put(block.tokens);
        }
    }
    return bytes;
}

std::vector<std::byte> endPayload(std::uint64_t events, std::uint64_t digests)
{
    std::vector<std::byte> bytes;
    ByteWriter out(bytes);
    out.put(events);
    out.put(digests);
    return bytes;
}

} // namespace kvw
