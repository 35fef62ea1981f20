// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/reportfonts.h"
#include "style/tokens.h"

namespace kvw::gui {

/// The colours of a page: paper is light, whatever the window.
inline const Tokens& paperTokens()
{
    static const Tokens light = tokensFor(lightPalette());
    return light;
}

constexpr double rowPadding = points(2.6);
constexpr double ruleWidth = points(1); ///< under heads, over and under totals
constexpr double hairWidth = points(0.5); ///< between rows

/// Most lines of a row in one box: a row is split only when it would not fit a sheet.
constexpr int mostLines = 40;

/// Marked as an assumption: "◇ bf16".
bool isAssumed(const QString& text);
/// The colour in which a value prints: by its mark, its verdict, or what it lacks.
QColor cellColor(const QString& text);

} // namespace kvw::gui
