// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "workload/request.h"

#include <cstdint>
#include <span>
#include <vector>

namespace kvw {

/// Tokens that the prompts `a` and `b` have in common from their start on, as their token runs say it. Streams that are
/// alike by chance count as different.
std::int64_t commonPromptTokens(std::span<const TokenRun> a, std::span<const TokenRun> b);

/// Prompt tokens of the workload that another request of the same domain brings too, behind the same tokens: all prompt
/// tokens less those of the tree of different prefixes. It is the most that any cache could save: every prefix is kept
/// for ever, shared to the token, and of each the first request computes it. `domains` names a domain for each tenant
/// of the workload; empty: all tenants are one domain.
std::int64_t shareablePromptTokens(const Workload& workload, std::span<const std::uint32_t> domains);

/// All prompt tokens of the workload.
std::int64_t promptTokensOf(const Workload& workload);

/// How often values fall into ranges of one width.
struct Histogram
{
    std::int64_t least = 0; ///< smallest value that was seen
    std::int64_t most = 0; ///< largest
    std::int64_t first = 0; ///< where the first bin starts
    std::int64_t width = 1; ///< of each bin; bin i holds [first + i × width, first + (i + 1) × width)
    std::vector<std::int64_t> counts {};
};

/// The values in at most `bins` ranges whose width is 1, 2 or 5 times a power of ten. No values: no bins. REQUIRES
/// values ≥ 0 and bins ≥ 1.
Histogram histogramOf(std::span<const std::int64_t> values, std::int64_t bins);

} // namespace kvw
