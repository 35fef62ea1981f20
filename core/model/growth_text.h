// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "model/growth.h"
#include "units/result.h"

#include <string_view>

namespace kvw {

/// The law that growthText() writes so: "v", "min(⌊(v + 3) ÷ 4⌋, 128)", "((v − 1) mod 8192) + 1", "1 (fixed)". Takes
/// plain signs too (-, /, floor(), ceil()), in any case and with any spaces. What the form does not use has the law's
/// defaults. Error: growth.syntax.
Result<GrowthLaw> parseGrowth(std::string_view text);

} // namespace kvw
