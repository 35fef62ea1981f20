// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/quantity.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kvw {

/// What a figure is and how it came about, for those that are no expression of the estimate alone: ready to be shown.
struct Explanation
{
    enum class Kind {
        Derived, ///< by a formula from inputs
        Prediction, ///< counted in a prediction, event by event
        Measured, ///< read by an instrument
        Verdict, ///< what comes out of a comparison
        Field, ///< stands in the plan: entered, read from a file, taken from a library or assumed
    };

    std::string title {}; ///< what it is, in a few words
    std::optional<Quantity> quantity {}; ///< exact value with its formula, where it has one; nothing: there is no value
    Kind kind = Kind::Derived;
    std::string of {}; ///< of which plan, run and size
    bool stale = false; ///< of an earlier plan
    /// Named sentences, in the order in which they are read: definition, what was counted, instrument, rule …
    std::vector<std::pair<std::string, std::string>> facts {};
};

} // namespace kvw
