// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QColor>
#include <QPalette>

#include <array>

namespace kvw::gui {

/// The workbench's own colours, in two sets: one for light windows, one for dark. Controls use palette roles only;
/// these are for data, marks and verdicts. Ask again after QEvent::PaletteChange.
struct Tokens
{
    QColor text;
    QColor dimText;
    QColor line;
    QColor hairLine;
    QColor rule; ///< the rules that part the token columns, lines over totals
    QColor highlight;
    QColor derived; ///< links and numbers that open
    QColor assumed;
    QColor measured;
    QColor staleText;
    QColor staleGround;
    QColor agrees;
    QColor differs;
    QColor warning;
    QColor noVerdict;
    QColor retainedHead; ///< ground of the "presently retained" column
    QColor retainedCell;

    // Block states.
    QColor blockFree;
    QColor blockActive;
    QColor blockShared;
    QColor blockPrivate;
    QColor blockCached;
    QColor blockCachedLine;
    QColor blockHeld;
    QColor blockMoved;

    std::array<QColor, 8> tenants; ///< in order of first appearance
    std::array<QColor, 6> sequential; ///< low to high

    QColor idealNeed;
    QColor difference; ///< a named step between ideal and engine need
    QColor engineNeed;
};

/// The set for the palette: dark when the window colour's lightness is below one half.
const Tokens& tokensFor(const QPalette& palette);
bool isDark(const QPalette& palette);

/// The application's palettes: Fusion with the workbench's grounds and lines.
QPalette lightPalette();
QPalette darkPalette();

} // namespace kvw::gui
