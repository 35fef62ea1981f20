// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "workload/request.h"

#include <cstdint>
#include <string>
#include <vector>

namespace kvw {

/// What the generator is told. Lengths are drawn evenly between least and most.
struct GeneratorSettings
{
    std::string name {};
    std::uint64_t seed = 1;
    std::int64_t requests = 1;
    std::vector<std::string> tenants {}; ///< ids; requests go to them in turn
    std::int64_t commonPrefixTokens = 0; ///< every prompt starts with them
    std::int64_t sharedPrefixes = 0; ///< different prefixes after the common one; the tenants use the same ones
    std::int64_t sharedPrefixTokens = 0;
    std::int64_t promptTokensMin = 1; ///< private part of a prompt
    std::int64_t promptTokensMax = 1;
    std::int64_t outputTokensMin = 1;
    std::int64_t outputTokensMax = 1;
    std::int64_t burstRequests = 1; ///< requests that arrive in one step
    std::int64_t burstGapSteps = 1; ///< from one burst to the next
};

/// The workload for the settings: the same settings always give the same requests, on every machine.
/// REQUIRES at least one tenant and one request, least ≤ most, lengths ≥ 1 where a part is not optional.
Workload generate(const GeneratorSettings& settings);

} // namespace kvw
