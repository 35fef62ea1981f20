// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "workload/admission.h"

#include <array>

namespace kvw {

std::span<const std::string_view> whenExhaustedNames()
{
    static constexpr std::array<std::string_view, 4> names {"", "wait", "reject", "preempt_recompute"};
    return names;
}

std::span<const std::string_view> reservationNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "on_demand", "full_output"};
    return names;
}

} // namespace kvw
