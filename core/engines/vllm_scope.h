// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"
#include "units/quantity.h"

#include <memory>
#include <string>

namespace kvw::vllm {

/// Date of the engine's code that these rules were checked against: vllm-project/vllm, main, at 017e9f44.
constexpr const char* published = "2026-08-17";
/// When they were: the day on which that code was executed on the cases.
constexpr const char* verified = "2026-11-30";

/// The engine's code as the authority of a step; `at` names the function.
std::shared_ptr<const Source> rule(const char* at, std::string note = {});

/// Generations whose figures differ.
enum class Generation {
    UpTo020, ///< token line from blocks
    From021, ///< token line from concurrency
    From025, ///< two batches in flight
};

struct Version
{
    Generation generation = Generation::From025;
    bool known = false; ///< false: the newest is taken
};

/// "0.11.0", "v0.25", "~0.9-0.10 (2025-07)": the first two numbers that look like a version.
Version versionOf(const std::string& text);

/// The one group that keeps state, or null when there is none or more than one.
const LayerGroup* onlyGroup(const Plan& plan);

/// Why the rules do not apply to a plan.
struct Refusal
{
    std::string text {}; ///< empty: they do
    std::string field = "engine.name"; ///< the plan field to change first
};

Refusal refusalOf(const Plan& plan);

} // namespace kvw::vllm
