// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/growthcell.h"

#include "models/numbertext.h"
#include "plan/field_table.h"

#include <QRegularExpression>

namespace kvw::gui {

FieldCells::Edits growthEdits(const Plan& plan, const QString& field, const GrowthLaw& law)
{
    const auto named = [](std::span<const std::string_view> names, auto value) {
        return fromStd(names[static_cast<std::size_t>(value)]);
    };
    FieldCells::Edits wanted {{QStringLiteral("growth"), named(growthFormNames(), law.form)}};
    const auto number = [&](const char* name, std::int64_t value) {
        wanted.push_back({QString::fromLatin1(name), QString::number(value)});
    };
    if (law.form != GrowthForm::Fixed)
        wanted.push_back({QStringLiteral("variable"), named(growthVariableNames(), law.variable)});
    if (law.form == GrowthForm::Fixed) {
        number("entries", law.entries);
    } else if (law.form == GrowthForm::Chunked) {
        number("chunk", law.chunk);
    } else {
        number("offset", law.offset);
        number("stride", law.stride);
        if (law.stride != 1)
            wanted.push_back({QStringLiteral("rounding"), named(roundingNames(), law.rounding)});
        wanted.push_back({QStringLiteral("limit"), law.limit ? QString::number(*law.limit) : QString()});
    }
    const QString base = field.left(field.lastIndexOf(QLatin1Char('.')) + 1);
    FieldCells::Edits out;
    for (const auto& [name, text] : std::as_const(wanted)) {
        // The table hands out writable slots; here they are only read.
        const Result<FieldReference> now = findField(const_cast<Plan&>(plan), (base + name).toStdString());
        if (now && QString::fromStdString(fieldText(*now->field, now->slot)) != text)
            out.push_back({base + name, text});
    }
    return out;
}

bool isGrowthLaw(const QString& text)
{
    static const QRegularExpression pattern(
        QStringLiteral("[(⌊⌈]|^\\s*[vei](\\s*\\+|\\s*$)"), QRegularExpression::CaseInsensitiveOption);
    return pattern.match(text).hasMatch();
}

} // namespace kvw::gui
