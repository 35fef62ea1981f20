// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"
#include "units/result.h"

#include <string>
#include <vector>

namespace kvw {

/// One argument of a launch line, and the field of the plan that it is made from.
struct LaunchArgument
{
    std::string flag; ///< "--max-model-len"
    std::string value;
    std::string field; ///< "limits.maxModelLen"

    bool operator==(const LaunchArgument&) const = default;
};

/// How the plan's engine would be started by hand: what the plan states and the engine has an argument for. Fields
/// that are not stated are left to the engine's own defaults.
struct LaunchLine
{
    std::string program; ///< "vllm serve"
    std::string model;
    std::vector<LaunchArgument> arguments {};
    std::vector<std::string> remarks {}; ///< what the plan states and the line cannot say, as sentences

    /// One line for a POSIX shell, quoted where it must be.
    std::string text() const;
};

/// The line for the plan's engine. Errors: engine.launch when it has none: no engine is chosen, or no model is named.
Result<LaunchLine> launchLine(const Plan& plan);

/// A word as a POSIX shell reads it back: in single quotes unless it is made of letters, digits and @%+=:,./-_ alone.
std::string shellWord(const std::string& text);

} // namespace kvw
