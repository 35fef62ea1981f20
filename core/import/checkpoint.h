// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/weight_layout.h"

#include <optional>
#include <string>

namespace kvw {

/// The weights of a checkpoint folder, from the headers of its safetensors files.
struct Checkpoint
{
    WeightLayout weights {WeightNaming::Checkpoint};
    Source source {}; ///< of the sum of all bytes
    Diagnostics diagnostics {};
    std::optional<std::int64_t> claimedBytes {}; ///< what the index says, where none of its files is here

    /// Puts bytes, parts, source and diagnostics into `model`, and compares its layers and heads with the tensors.
    void describe(ModelSpec& model) const;
};

/// Reads the safetensors of a folder: those that *.safetensors.index.json names, else model.safetensors, else a whole
/// set "x-00001-of-0000N.safetensors", else the only one. Headers alone are read, one after the other. Nothing when
/// there are none. Where an index stands and none of its files (or only pointers of Git LFS), the index's own sum is
/// taken, and said so.
///
/// Errors: those of readSafetensors(); checkpoint.missing_shard, checkpoint.missing_tensor (in the index, in no file),
/// checkpoint.duplicate_tensor (in two files), checkpoint.index.
Result<std::optional<Checkpoint>> readCheckpoint(const std::string& folder);

} // namespace kvw
