// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/field_table.h"
#include "units/quantity.h"

#include <string>
#include <string_view>

namespace kvw {

/// Plan fields as inputs of derivations, each with where it came from.
///
/// Holds a reference to the plan. Not for keeping: make one per computation.
class PlanInputs
{
public:
    explicit PlanInputs(const Plan& plan);

    /// Where the field's value came from: its recorded source, else the user.
    std::shared_ptr<const Source> source(const std::string& path) const;

    bool isStated(const std::string& path) const;
    /// The field as an input called `name` (its title when empty). A field that is not stated gives a quantity without
    /// value whose error names it. REQUIRES that the path exists and holds a number.
    Quantity number(const std::string& path, std::string name = {}) const;
    /// The same with a fallback; the fallback's source says what it is and is kept in assumptions().
    Quantity numberOr(
        const std::string& path, std::int64_t fallback, Source::Kind kind, std::string why, std::string name = {});

    /// What was taken because a field was not stated, in the order of use, each once.
    const Assumptions& assumptions() const;
    void assume(Assumption assumption);

private:
    const Plan& m_plan;
    Assumptions m_assumptions;
};

} // namespace kvw
