// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// An event log of any bytes is opened or refused; in one that opens the state of every step can be had. The first byte
// of the input says whether the rest is a file, or parts that are made chunks with checks that fit: each a letter for
// the kind, two bytes for the length and the payload.

#include "cache/event_file.h"
#include "cache/small_run.h"
#include "fuzz/fuzz.h"

#include <algorithm>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace kvw;
using fuzz::require;

namespace {

/// A file in memory, with a path as long as it lives.
class MemoryFile
{
public:
    MemoryFile()
        : m_descriptor(::memfd_create("fuzz", MFD_CLOEXEC))
    {
        require(m_descriptor >= 0);
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(m_descriptor); }

    std::string path() const { return "/proc/self/fd/" + std::to_string(m_descriptor); }

    void write(std::span<const std::byte> bytes) const
    {
        require(::write(m_descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    }

    std::string content() const
    {
        std::string out(static_cast<std::size_t>(::lseek(m_descriptor, 0, SEEK_END)), '\0');
        require(::pread(m_descriptor, out.data(), out.size(), 0) == static_cast<ssize_t>(out.size()));
        return out;
    }

private:
    int m_descriptor;
};

constexpr std::string_view letters = "HDEKZ";

ChunkKind kindOf(char letter)
{
    constexpr ChunkKind kinds[]
        = {ChunkKind::Header, ChunkKind::Digests, ChunkKind::Events, ChunkKind::Keyframe, ChunkKind::End};
    const std::size_t at = letters.find(letter);
    return kinds[at == std::string_view::npos ? static_cast<unsigned char>(letter) % letters.size() : at];
}

/// The parts as chunks in a file.
void writeChunks(std::span<const std::byte> parts, const std::string& path)
{
    Result<EventFileWriter> writer = EventFileWriter::create(path);
    require(writer.ok());
    while (parts.size() >= 3) {
        const std::size_t length = std::to_integer<std::size_t>(parts[1]) | std::to_integer<std::size_t>(parts[2]) << 8;
        const std::span<const std::byte> payload = parts.subspan(3, std::min(length, parts.size() - 3));
        require(writer->write(kindOf(static_cast<char>(parts[0])), payload).ok());
        parts = parts.subspan(3 + payload.size());
    }
}

/// A file's chunks as parts.
std::string partsOf(const std::string& path)
{
    std::string out;
    Result<EventFileReader> reader = EventFileReader::open(path);
    require(reader.ok());
    for (;;) {
        const Result<std::optional<Chunk>> chunk = reader->next();
        require(chunk.ok());
        if (!*chunk)
            return out;
        const std::vector<std::byte>& payload = (*chunk)->payload;
        require(payload.size() < 65'536);
        out += static_cast<char>(static_cast<std::uint32_t>((*chunk)->kind) >> 24);
        out += static_cast<char>(payload.size() & 0xff);
        out += static_cast<char>(payload.size() >> 8);
        out.append(reinterpret_cast<const char*>(payload.data()), payload.size());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::span<const std::byte> rest = std::as_bytes(std::span(data + 1, size - 1));
    const MemoryFile file;
    if (data[0] % 2 == 0)
        writeChunks(rest, file.path());
    else
        file.write(rest);
    const Result<std::unique_ptr<EventLog>> log = EventLog::open(file.path());
    if (!log) {
        require(!log.error().code.empty() && log.error().where.file == file.path());
        return 0;
    }
    const std::vector<Event>& events = (*log)->events();
    require((*log)->finalState().ok());
    for (std::size_t i = 0; i < events.size(); i += 1 + events.size() / 4) {
        const Result<BlockMap> state = (*log)->stateAfter(events[i].step);
        require(state.ok());
        (void)countBlocks((*log)->header(), *state);
    }
    return 0;
}

std::vector<std::string> fuzz::seeds()
{
    std::vector<std::string> out;
    for (const int rounds : {0, 1, 3, 6}) {
        for (const bool finished : {false, true}) {
            const MemoryFile file;
            Result<std::unique_ptr<EventLog>> log = EventLog::create(SmallRun::header(), file.path(), 20);
            require(log.ok());
            SmallRun::play(**log, rounds);
            require((finished ? (*log)->finish() : (*log)->flush()).ok());
            out.push_back(std::string(1, 1) + file.content());
            out.push_back(std::string(1, 0) + partsOf(file.path()));
        }
    }
    return out;
}
