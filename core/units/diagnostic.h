// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/result.h"

#include <string>
#include <vector>

namespace kvw {

enum class Severity {
    Note,
    Warning,
    Error,
};

/// "note", "warning", "error".
const char* severityName(Severity severity);

/// Something a planner should know about a plan or a file. It never stops the program; an Error does.
struct Diagnostic
{
    Severity severity = Severity::Note;
    std::string id; ///< stable name, for example "identity.tokenizer_revision"
    std::string message; ///< one sentence
    std::string path; ///< plan field it leads to, empty when none
    Location where {}; ///< place in a file, when it came from one
};

using Diagnostics = std::vector<Diagnostic>;

/// Something that was taken as true without being stated. Each is listed wherever a figure rests on it.
struct Assumption
{
    std::string id; ///< stable name, for example "import.kv_heads_default"
    std::string text; ///< what was assumed and why, one sentence
    std::string path; ///< plan field that would replace the assumption, empty when none

    bool operator==(const Assumption&) const = default;
};

using Assumptions = std::vector<Assumption>;

} // namespace kvw
