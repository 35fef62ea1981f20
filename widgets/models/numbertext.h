// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "units/quantity.h"

#include <QString>

namespace kvw::gui {

/// A figure for views: the number in the user's locale and its unit apart, and the exact form.
struct NumberText
{
    QString number; ///< "6.51", "2,666"
    QString unit; ///< "GiB", "B", ""
    QString exact; ///< "6,990,069,760 B"
    QString plain; ///< "6990069760": C locale, no unit
    double sort = 0;
};

NumberText numberText(const Quantity& quantity);
NumberText bytesText(std::int64_t bytes);
/// Groups of three in the user's locale.
QString countText(std::int64_t count);
/// "30.3 %" with the user's decimal point; "–" of nothing.
QString percentText(std::int64_t part, std::int64_t whole);
QString fromStd(std::string_view text);
/// "1 warning", "2 warnings": the words are given, since there is no translation file for English.
QString counted(std::int64_t count, const QString& one, const QString& many);

} // namespace kvw::gui
