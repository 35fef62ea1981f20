// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kvw {

namespace {

Error fileError(const char* code, const std::string& path, const char* what, int number)
{
    return Error {code, fmt::format("{}: {}", what, std::strerror(number)), {path, {}}};
}

Result<void> writeAll(
    int descriptor, std::string_view content, const std::string& path, const FileOperations& operations)
{
    while (!content.empty()) {
        const long written = operations.write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fileError(
                "io.write", path, "the file could not be written; the old one is kept", written == 0 ? ENOSPC : errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (operations.sync(descriptor) != 0)
        return fileError("io.sync", path, "the file could not be made durable; the old one is kept", errno);
    return {};
}

} // namespace

const FileOperations& systemFileOperations()
{
    static const FileOperations operations {
        [](int descriptor, const void* data, std::size_t size) -> long { return ::write(descriptor, data, size); },
        [](int descriptor) { return ::fsync(descriptor); },
        [](const char* from, const char* to) { return std::rename(from, to); },
    };
    return operations;
}

Result<void> writeFileAtomically(const std::string& path, std::string_view content, const FileOperations& operations)
{
    // A link is followed, so that saving does not replace the link by a file; a file's permissions stay.
    std::string target = path;
    if (char* real = ::realpath(path.c_str(), nullptr)) {
        target = real;
        std::free(real);
    }
    struct stat old
    {};
    const bool exists = ::stat(target.c_str(), &old) == 0;
    if (exists && !S_ISREG(old.st_mode))
        return Error {"io.create", "it is not a regular file", {path, {}}};
    std::string temporary = target + ".XXXXXX";
    const int descriptor = ::mkstemp(temporary.data());
    if (descriptor < 0)
        return fileError("io.create", path, "no file can be made beside it", errno);
    Result<void> written = writeAll(descriptor, content, path, operations);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    (void)::fchmod(descriptor, exists ? (old.st_mode & 07777) : (0666 & ~mask));
    ::close(descriptor);
    if (written && operations.rename(temporary.c_str(), target.c_str()) != 0)
        written = fileError("io.rename", path, "the new file could not take its name; the old one is kept", errno);
    if (!written)
        ::unlink(temporary.c_str());
    return written;
}

Result<std::string> readFile(const std::string& path, std::size_t limit)
{
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return fileError("io.open", path, "cannot be opened", errno);
    std::string out;
    std::string buffer(std::size_t {1} << 16, '\0');
    Result<std::string> result = std::string();
    for (;;) {
        const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            result = fileError("io.read", path, "cannot be read", errno);
        if (got <= 0)
            break;
        out.append(buffer.data(), static_cast<std::size_t>(got));
        if (out.size() > limit) {
            result = Error {"io.size", "the file is too large", {path, {}}, {}, fmt::format("at most {} bytes", limit)};
            break;
        }
    }
    ::close(descriptor);
    if (result)
        return out;
    return result;
}

} // namespace kvw
