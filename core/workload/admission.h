// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kvw {

/// What happens to a request that cannot get the state it needs. 0 is "not stated".
enum class WhenExhausted : std::uint8_t {
    NotStated,
    Wait, ///< stays where it is, for a bounded time
    Reject, ///< ends at once
    PreemptRecompute, ///< the latest running request gives its blocks up and starts again later
};
std::span<const std::string_view> whenExhaustedNames(); ///< "", "wait", "reject", "preempt_recompute"

/// How much of a request's state must be available before it is admitted. 0 is "not stated".
enum class Reservation : std::uint8_t {
    NotStated,
    OnDemand, ///< blocks for the prompt; output takes blocks as it grows
    FullOutput, ///< blocks for prompt and whole output are set aside at admission
};
std::span<const std::string_view> reservationNames(); ///< "", "on_demand", "full_output"

} // namespace kvw
