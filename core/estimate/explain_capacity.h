// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "estimate/capacity.h"
#include "units/explanation.h"

#include <optional>
#include <string_view>

namespace kvw {

/// What a figure of the capacity is, with its formula. Paths: "8192.engineSequences", ".idealSequences", ".lost",
/// ".blocksEach", ".heldBlocks", ".usableBlocks" for a length of 8,192 tokens; "8192.share.12": what 12 such sequences
/// take of the pool; "move.PATH=VALUE": sequences that fit at the configured maximum when that field is changed so.
/// Nothing for other paths, and where the plan has no such figure.
std::optional<Explanation> explainCapacity(const Plan& plan, std::string_view path);

} // namespace kvw
