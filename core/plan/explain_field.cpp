// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/explain_field.h"

#include "plan/field_table.h"
#include "plan/inputs.h"

namespace kvw {

std::optional<Explanation> explainField(const Plan& plan, const std::string& path)
{
    // The table hands out writable slots; here they are only read.
    const Result<FieldReference> found = findField(const_cast<Plan&>(plan), path);
    if (!found)
        return std::nullopt;
    const Field& field = *found->field;
    const bool number
        = field.type == FieldType::Integer || field.type == FieldType::Count || field.type == FieldType::Real;
    Explanation out;
    out.kind = Explanation::Kind::Field;
    out.title = field.title;
    out.of = "plan " + planHash(plan).substr(0, 8);
    if (number && isStated(found->slot))
        out.quantity = PlanInputs(plan).number(path);
    else
        out.facts.emplace_back("Value", fieldDisplay(field, found->slot));
    if (!field.help.empty())
        out.facts.emplace_back("What", field.help);
    out.facts.emplace_back("Field", path);
    out.facts.emplace_back("May hold", fieldRange(field));
    return out;
}

} // namespace kvw
