// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "units/file.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <optional>
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

/// The file that `path` leads to: links are followed, so that saving does not replace a link by a file; also a link to
/// a file that is not there yet. Nothing when links lead in a circle.
std::optional<std::string> targetOf(std::string path)
{
    constexpr int mostLinks = 40;
    for (int i = 0; i < mostLinks; ++i) {
        std::array<char, PATH_MAX> text;
        const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
        if (size < 0)
            return path;
        const std::string link(text.data(), static_cast<std::size_t>(size));
        path = link.starts_with('/') ? link : path.substr(0, path.rfind('/') + 1) + link;
    }
    return std::nullopt;
}

/// Makes a new file beside `target`, readable by nobody whom `mode` and the process's mask exclude. -1 and errno on
/// failure.
int createBeside(const std::string& target, mode_t mode, std::string& name)
{
    static std::atomic<unsigned> made = 0;
    int descriptor = -1;
    for (int attempt = 0; attempt < 100; ++attempt) {
        name = fmt::format("{}.{}-{}.tmp", target, ::getpid(), made++);
        descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor >= 0 || errno != EEXIST)
            break;
    }
    return descriptor;
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
    const std::optional<std::string> target = targetOf(path);
    if (!target)
        return fileError("io.create", path, "no file can be made there", ELOOP);
    struct stat old
    {};
    const bool exists = ::stat(target->c_str(), &old) == 0;
    if (exists && !S_ISREG(old.st_mode))
        return Error {"io.create", "it is not a regular file", {path, {}}};
    std::string temporary;
    const int descriptor = createBeside(*target, exists ? old.st_mode & 0777 : 0666, temporary);
    if (descriptor < 0)
        return fileError("io.create", path, "the folder cannot be written", errno);
    Result<void> written = writeAll(descriptor, content, path, operations);
    if (exists)
        (void)::fchmod(descriptor, old.st_mode & 07777);
    ::close(descriptor);
    if (written && operations.rename(temporary.c_str(), target->c_str()) != 0)
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
