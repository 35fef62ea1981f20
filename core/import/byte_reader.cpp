// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/byte_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace kvw {

namespace {

Error fileError(const char* code, const std::string& path, const std::string& what)
{
    return {code, what, {path, {}}};
}

} // namespace

Result<ByteReader> ByteReader::open(const std::string& path)
{
    // Without O_NONBLOCK a pipe would be waited for.
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
        return fileError("io.open", path, fmt::format("cannot be opened: {}", std::strerror(errno)));
    struct stat status
    {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        ::close(descriptor);
        return fileError("io.read", path, "it is not a regular file");
    }
    return ByteReader(descriptor, static_cast<std::uint64_t>(status.st_size), path);
}

ByteReader::ByteReader(std::string_view bytes, std::string name)
    : m_file(std::move(name))
    , m_size(bytes.size())
    , m_limit(bytes.size())
    , m_piece(bytes)
{}

ByteReader::ByteReader(int descriptor, std::uint64_t size, std::string path)
    : m_descriptor(descriptor)
    , m_file(std::move(path))
    , m_size(size)
    , m_limit(size)
    , m_buffer(pieceBytes)
{}

ByteReader::ByteReader(ByteReader&& other) noexcept
    : m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_file(std::move(other.m_file))
    , m_size(other.m_size)
    , m_limit(other.m_limit)
    , m_start(other.m_start)
    , m_at(other.m_at)
    , m_piece(other.m_piece) // the buffer keeps its place when it is moved
    , m_buffer(std::move(other.m_buffer))
    , m_swapped(other.m_swapped)
    , m_error(std::move(other.m_error))
    , m_hash(other.m_hash)
{}

ByteReader::~ByteReader()
{
    if (m_descriptor >= 0)
        ::close(m_descriptor);
}

void ByteReader::setLimit(std::uint64_t end)
{
    m_limit = end;
    if (m_start + m_piece.size() > end)
        m_piece = m_piece.substr(0, static_cast<std::size_t>(end - m_start));
}

void ByteReader::fail(Error error)
{
    if (m_error)
        return;
    if (error.where.file.empty())
        error.where = {m_file, fmt::format("byte {}", offset())};
    m_error = std::move(error);
    m_piece = m_piece.substr(0, m_at); // nothing more is handed out
}

Error ByteReader::errorAt(
    std::uint64_t offset, std::string code, std::string message, std::string found, std::string expected) const
{
    return {std::move(code), std::move(message), {m_file, fmt::format("byte {}", offset)}, std::move(found),
        std::move(expected)};
}

bool ByteReader::refill()
{
    if (m_error || m_descriptor < 0)
        return false;
    m_hash.update(m_piece.substr(0, m_at));
    m_start += m_at;
    // What is left of the piece, a few bytes at most, moves to the front.
    const std::size_t kept = m_piece.size() - m_at;
    std::copy(m_piece.data() + m_at, m_piece.data() + m_piece.size(), m_buffer.data());
    m_at = 0;
    m_piece = {m_buffer.data(), kept};
    const std::uint64_t next = m_start + kept;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(m_buffer.size() - kept, m_limit - next));
    if (wanted == 0)
        return false;
    ssize_t got = 0;
    do {
        got = ::pread(m_descriptor, m_buffer.data() + kept, wanted, static_cast<off_t>(next));
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        fail(fileError("io.read", m_file, fmt::format("cannot be read: {}", std::strerror(errno))));
    else if (got == 0) // it was longer when it was opened
        fail(errorAt(next, "file.truncated", "the file ends here", {}, fmt::format("{} bytes", m_size)));
    if (got <= 0)
        return false;
    m_piece = {m_buffer.data(), kept + static_cast<std::size_t>(got)};
    return true;
}

std::string_view ByteReader::window()
{
    if (m_at == m_piece.size())
        refill();
    return m_piece.substr(m_at);
}

/// Whether so many bytes are left; fails where they are not.
bool ByteReader::holds(std::uint64_t count)
{
    if (!m_error && count > left())
        fail(errorAt(offset(), "file.truncated", "the file ends inside a value", fmt::format("{} bytes left", left()),
            fmt::format("{} bytes", count)));
    return !m_error;
}

void ByteReader::read(void* to, std::size_t count)
{
    auto* out = static_cast<char*>(to);
    std::fill(out, out + count, '\0');
    if (!holds(count))
        return;
    while (count > 0) {
        const std::string_view there = window();
        if (there.empty()) // a failure: the limit is far enough
            return;
        const std::size_t taken = std::min(count, there.size());
        std::copy(there.data(), there.data() + taken, out);
        consume(taken);
        out += taken;
        count -= taken;
    }
}

void ByteReader::skip(std::uint64_t count)
{
    if (!holds(count))
        return;
    while (count > 0) {
        const std::string_view there = window();
        if (there.empty())
            return;
        const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(count, there.size()));
        consume(taken);
        count -= taken;
    }
}

std::string ByteReader::text(std::size_t count)
{
    if (m_error || count > left()) {
        skip(count); // says what is wrong
        return {};
    }
    std::string out(count, '\0');
    read(out.data(), count);
    return out;
}

std::string ByteReader::sha256()
{
    m_hash.update(m_piece.substr(0, m_at));
    return Sha256::hex(m_hash.digest());
}

} // namespace kvw
