// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/gpu_library.h"
#include "plan/plan.h"

#include <string_view>
#include <vector>

namespace kvw {

/// Devices that fit what was typed, in the library's order: every word of `query`, in any case and order, is a part of
/// the name or the architecture; the one whose name it is comes first.
std::vector<const LibraryGpu*> searchGpus(std::string_view query);

/// Makes it the plan's device: its name, and its memory with the reading as the source. Bytes that no driver reported
/// are an assumption of the plan; where nobody read any, the memory is not stated: that of another device never stays.
void chooseGpu(Plan& plan, const LibraryGpu& gpu);

} // namespace kvw
