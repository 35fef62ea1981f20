// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

namespace kvw::gui {

enum class Theme {
    System,
    Light,
    Dark,
};

/// "system", "light", "dark"; anything else is System.
Theme themeFromName(const QString& name);
/// The theme in force: what startTheme() was given or the user chose since.
Theme chosenTheme();
/// Sets the application's palette. Call once, before the first widget; `system` means as the platform's own palette is.
void startTheme(Theme theme);
/// The user's choice: sets the palette at once and keeps it for the next start.
void chooseTheme(Theme theme);
/// What the user chose last.
Theme savedTheme();

} // namespace kvw::gui
