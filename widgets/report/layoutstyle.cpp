// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/layoutstyle.h"

namespace kvw::gui {

bool isAssumed(const QString& text)
{
    return text.startsWith(QStringLiteral("◇ "));
}

QColor cellColor(const QString& text)
{
    if (text.startsWith(QLatin1String("not stated")) || isAssumed(text))
        return paperTokens().assumed;
    if (text.startsWith(QLatin1Char('~')))
        return paperTokens().staleText;
    if (text.startsWith(QChar(0x2717)))
        return paperTokens().differs;
    if (text.startsWith(QChar(0x2713)))
        return paperTokens().agrees;
    if (text.startsWith(QStringLiteral("– no verdict")))
        return paperTokens().noVerdict;
    return paperTokens().text;
}

} // namespace kvw::gui
