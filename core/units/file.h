// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace kvw {

/// The system calls of an atomic save, replaceable so that tests can make each of them fail.
struct FileOperations
{
    long (*write)(int descriptor, const void* data, std::size_t size);
    int (*sync)(int descriptor);
    int (*rename)(const char* from, const char* to);
};
const FileOperations& systemFileOperations();

/// Writes `content` beside `path`, makes it durable and renames it over `path`. On any failure the old file is
/// untouched, the new one is removed and the error says what failed: io.create, io.write, io.sync, io.rename. A process
/// that sets file-size limits must ignore SIGXFSZ for EFBIG to arrive here.
Result<void> writeFileAtomically(
    const std::string& path, std::string_view content, const FileOperations& operations = systemFileOperations());

/// The whole file. Errors: io.open, io.read, io.size when it is larger than `limit`.
Result<std::string> readFile(const std::string& path, std::size_t limit);

} // namespace kvw
