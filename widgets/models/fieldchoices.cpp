// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/fieldchoices.h"

#include "models/numbertext.h"
#include "plan/choices.h"

#include <map>

namespace kvw::gui {

const FieldChoices* choicesOf(const Field& field)
{
    if (field.choices.empty())
        return nullptr;
    static std::map<const void*, FieldChoices> known; // a list of names is shared by the fields that take it
    const auto [at, isNew] = known.try_emplace(field.choices.data());
    if (isNew) {
        for (std::size_t value = 0; value < field.choices.size(); ++value) {
            at->second.names.push_back(fromStd(field.choices[value]));
            at->second.titles.push_back(fromStd(choiceTitle(field.choices, value)));
        }
    }
    return &at->second;
}

} // namespace kvw::gui
