// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "style/theme.h"

#include "style/tokens.h"

#include <QApplication>
#include <QSettings>
#include <QStyle>

namespace kvw::gui {

namespace {

constexpr auto themeKey = "window/theme";

struct State
{
    Theme theme = Theme::System;
    bool systemIsDark = false;
};

State& state()
{
    static State one;
    return one;
}

void apply()
{
    const bool dark = state().theme == Theme::Dark || (state().theme == Theme::System && state().systemIsDark);
    QApplication::setPalette(dark ? darkPalette() : lightPalette());
}

} // namespace

Theme themeFromName(const QString& name)
{
    return name == QLatin1String("light") ? Theme::Light : name == QLatin1String("dark") ? Theme::Dark : Theme::System;
}

Theme chosenTheme()
{
    return state().theme;
}

void startTheme(Theme theme)
{
    state().systemIsDark = isDark(QApplication::palette());
    state().theme = theme;
    apply();
}

void chooseTheme(Theme theme)
{
    static const char* const names[] {"system", "light", "dark"};
    QSettings().setValue(QLatin1String(themeKey), QLatin1String(names[static_cast<int>(theme)]));
    state().theme = theme;
    apply();
}

Theme savedTheme()
{
    return themeFromName(QSettings().value(QLatin1String(themeKey)).toString());
}

} // namespace kvw::gui
