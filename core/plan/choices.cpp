// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/choices.h"

#include <array>

namespace kvw {

std::span<const std::string_view> modelBasisNames()
{
    static constexpr std::array<std::string_view, 4> names {"", "config_file", "library", "hypothetical"};
    return names;
}

std::span<const std::string_view> switchNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "off", "on"};
    return names;
}

std::span<const std::string_view> allocationNames()
{
    static constexpr std::array<std::string_view, 4> names {
        "", "paged_pool", "static_contiguous", "growing_contiguous"};
    return names;
}

std::span<const std::string_view> retainedFromNames()
{
    static constexpr std::array<std::string_view, 5> names {"", "entered", "prediction", "live_run", "engine_metrics"};
    return names;
}

std::span<const std::string_view> identitySourceNames()
{
    static constexpr std::array<std::string_view, 6> names {
        "", "mutual_tls", "verified_token", "gateway_header", "client_field", "none"};
    return names;
}

std::span<const std::string_view> saltSourceNames()
{
    static constexpr std::array<std::string_view, 5> names {"", "gateway_hmac", "gateway_random", "client", "none"};
    return names;
}

std::span<const std::string_view> eligibilityNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "tenant", "group"};
    return names;
}

std::span<const std::string_view> retentionNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "engine_lru", "time_to_live"};
    return names;
}

std::span<const std::string_view> loggingBoundaryNames()
{
    static constexpr std::array<std::string_view, 6> names {
        "", "nothing", "counters", "keyed_hashes", "plain_hashes", "token_ids"};
    return names;
}

} // namespace kvw
