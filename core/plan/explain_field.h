// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"
#include "units/explanation.h"

#include <optional>
#include <string>

namespace kvw {

/// What a field of the plan is, its value and where that came from; nothing when there is no such field. A field that
/// holds no number has its text among the facts; one that is not stated says so and has no quantity.
std::optional<Explanation> explainField(const Plan& plan, const std::string& path);

} // namespace kvw
