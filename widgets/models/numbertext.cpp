// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/numbertext.h"

#include "units/format.h"

#include <QHash>
#include <QLocale>

#include <cmath>

namespace kvw::gui {

namespace {

NumberText makeBytesText(std::int64_t bytes)
{
    // format(Bytes) decides the unit and the digits; only the separators are the locale's.
    const QString text = QString::fromStdString(format(Bytes(bytes)));
    NumberText out;
    out.number = text.section(QLatin1Char(' '), 0, 0).replace(QLatin1Char('.'), QLocale().decimalPoint());
    out.unit = text.section(QLatin1Char(' '), 1);
    out.exact = countText(bytes) + QStringLiteral(" B");
    out.plain = QString::number(bytes);
    out.sort = static_cast<double>(bytes);
    return out;
}

} // namespace

NumberText bytesText(std::int64_t bytes)
{
    // After an edit nearly every figure of a view is what it was: its text is made once and shared.
    constexpr qsizetype most = 4096;
    thread_local QHash<std::int64_t, NumberText> known;
    thread_local QLocale locale;
    if (known.size() >= most || locale != QLocale()) {
        known.clear();
        locale = QLocale();
    }
    const auto found = known.constFind(bytes);
    return found != known.constEnd() ? *found : *known.insert(bytes, makeBytesText(bytes));
}

NumberText numberText(const Quantity& quantity)
{
    if (!quantity.ok())
        return {QStringLiteral("–"), {}, QString::fromStdString(quantity.error()), {}, 0};
    if (!quantity.isInteger()) {
        const QString text = QLocale().toString(quantity.real(), 'f', 2);
        const QString exact = QString::fromStdString(formatNumber(quantity.number()));
        if (!isByteUnit(quantity.unit()))
            return {text, {}, exact, exact, quantity.real()};
        // Parts of a byte are seen below a KiB; above, the unit is that of whole bytes.
        constexpr double kib = 1024;
        const bool small = std::abs(quantity.real()) < kib;
        const NumberText whole = bytesText(std::llround(quantity.real()));
        return {small ? text : whole.number, small ? QStringLiteral("B") : whole.unit, exact + QStringLiteral(" B"),
            exact, quantity.real()};
    }
    if (isByteUnit(quantity.unit()))
        return bytesText(quantity.integer());
    NumberText out;
    out.number = countText(quantity.integer());
    out.exact = out.number
        + (quantity.unit() == Unit::None ? QString() : QLatin1Char(' ') + fromStd(unitName(quantity.unit())));
    out.plain = QString::number(quantity.integer());
    out.sort = quantity.real();
    return out;
}

QString countText(std::int64_t count)
{
    return QLocale().toString(static_cast<qlonglong>(count));
}

QString counted(std::int64_t count, const QString& one, const QString& many)
{
    return countText(count) + QLatin1Char(' ') + (count == 1 ? one : many);
}

QString percentText(std::int64_t part, std::int64_t whole)
{
    if (whole == 0)
        return QStringLiteral("–");
    return QLocale().toString(100.0 * static_cast<double>(part) / static_cast<double>(whole), 'f', 1)
        + QStringLiteral(" %");
}

QString fromStd(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

} // namespace kvw::gui
