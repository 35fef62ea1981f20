// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kvw {

/// Whether one tenant may hit what another stored.
enum class Trust : std::uint8_t {
    Own, ///< the same tenant
    Group, ///< both are in one sharing domain
    Never,
};

/// trust[row][column]: whether the row's tenant may hit what the column's stored, as resolveDomains() has it. Sharing
/// is by domain, so it is mutual, and whoever shares with one of a group shares with all of it.
std::vector<std::vector<Trust>> trustMatrix(const Plan& plan);

/// Lets the tenant `row` share with `column`, or not. To share, `row` joins the group of `column`, unless it has
/// partners and `column` has none: then `column` joins it. Who is joined gets a group of its own first if it has none.
/// Not to share, `row` keeps its state for itself. A former group goes on without who left it. Records the user as the
/// source of what it sets. Returns what was done as a sentence, with the sharing that was given up. REQUIRES row ≠
/// column, both tenants of the plan.
std::string setTrust(Plan& plan, std::size_t row, std::size_t column, bool share);

} // namespace kvw
