// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/safetensors.h"

#include <optional>
#include <string>
#include <vector>

namespace kvw {

/// The index of a sharded checkpoint: which tensor is in which file. Names of tensors are kept as keys only.
struct CheckpointIndex
{
    struct Entry
    {
        TensorNameKey name {};
        std::uint32_t file = 0; ///< in `files`
        bool seen = false;
    };

    std::string file;
    std::string sha256;
    std::vector<std::string> files {}; ///< without folder, sorted
    std::vector<Entry> entries {}; ///< sorted by name
    std::optional<std::int64_t> totalBytes {}; ///< metadata.total_size

    /// The entry of a tensor; null when it has none.
    Entry* find(const TensorNameKey& name);
    /// The tensor's name at a byte of the index file, for errors; empty when it cannot be read again.
    std::string nameAt(std::uint64_t offset) const;
};

/// Reads it. Errors, with the byte: checkpoint.index, json.*, file.truncated, io.open, io.read.
Result<CheckpointIndex> readCheckpointIndex(const std::string& path);
Result<CheckpointIndex> readCheckpointIndex(ByteReader& reader);

} // namespace kvw
