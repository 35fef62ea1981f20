// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// Another reading of a device's memory, with what it rests on.
struct GpuMemory
{
    std::int64_t bytes = 0;
    std::string basis;
};

/// One accelerator of the built-in library. What nobody read stays missing: the marketing figure never stands for
/// memory in bytes.
struct LibraryGpu
{
    std::string name; ///< "H100 SXM 80GB"
    std::string architecture; ///< "sm_90", "gfx942"
    std::int64_t marketedGigabytes = 0; ///< as sold; decimal, and no byte count
    std::optional<std::int64_t> memoryBytes; ///< of one device, as a driver or a repository reports it
    std::string memoryBasis; ///< who read it, and how
    std::string memoryBasisKind; ///< "driver reading", "repository value", "none"
    std::vector<GpuMemory> otherMemory; ///< readings that differ
    std::optional<std::int64_t> bandwidthBytesPerSecond; ///< of memory, as the data sheet has it
    std::optional<std::int64_t> linkBytesPerSecond; ///< to other devices, one direction
    std::string link; ///< "NVLink 4 / NVSwitch"
    std::optional<std::int64_t> perNode; ///< devices of one node
    std::optional<std::int64_t> rackDevices; ///< devices of one rack, where they are sold so
    std::string node;
    std::optional<std::int64_t> watts;
    std::vector<std::string> sources;
    std::string verified; ///< ISO date
    std::vector<std::string> notes;
};

/// Reads {"format": "kvgpus", "schemaVersion": 1, "gpus": [...]}. Error codes: library.format, library.unknown_field,
/// library.missing_field, library.id, json.*.
Result<std::vector<LibraryGpu>> readGpuLibrary(const JsonDocument& document);
/// The built-in accelerators, in the file's order.
const std::vector<LibraryGpu>& builtInGpus();
/// The one of that name in any case, or null.
const LibraryGpu* gpuNamed(std::string_view name);

} // namespace kvw
