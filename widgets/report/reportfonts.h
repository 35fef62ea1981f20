// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "units/result.h"

#include <QFont>
#include <QFontMetricsF>
#include <QString>

#include <array>

namespace kvw::gui {

/// Length unit of report pages: 1/1200 inch, so that text is laid out as finely as it prints.
constexpr double unitsPerInch = 1200;
constexpr double points(double pt)
{
    return pt * unitsPerInch / 72;
}
constexpr double millimetres(double mm)
{
    return mm * unitsPerInch / 25.4;
}

/// The few kinds of text on a page.
enum class TextStyle : std::uint8_t {
    CoverTitle, ///< 25 pt
    CoverLine, ///< 11.5 pt
    Headline, ///< 15 pt, the number of a cover figure
    Section, ///< 17 pt
    SubSection, ///< 11 pt
    Body, ///< 9 pt
    BodyStrong,
    Cell, ///< 8 pt
    CellStrong,
    CellItalic, ///< assumed
    Small, ///< 7.5 pt: captions, units, notes
    SmallStrong,
    SmallItalic,
    Mono, ///< 7.5 pt, formulas with numbers, digests
};
constexpr std::size_t textStyleCount = 14;

/// The fonts of a report, checked once: a scalable family that has every sign the report uses, all digits of one
/// advance.
class ReportFonts
{
public:
    /// The first family of a fixed list that passes. Errors: report.font, when none does.
    static Result<ReportFonts> find();

    QString family() const { return m_family; }
    QString monoFamily() const { return m_mono; }
    const QFont& font(TextStyle style) const { return m_fonts[static_cast<std::size_t>(style)]; }
    /// The same at metricsScale times its size: drawn at one part in metricsScale, every glyph stands where it was
    /// measured.
    const QFont& largeFont(TextStyle style) const { return m_large[static_cast<std::size_t>(style)]; }
    double ascent(TextStyle style) const { return metrics(style).ascent() / metricsScale; }
    double descent(TextStyle style) const { return metrics(style).descent() / metricsScale; }
    /// Distance of baselines.
    double lineHeight(TextStyle style) const { return m_lines[static_cast<std::size_t>(style)]; }
    double width(const QString& text, TextStyle style) const
    {
        return metrics(style).horizontalAdvance(text) / metricsScale;
    }
    /// As much of `text` as fits `width`, with an ellipsis when that is not all.
    QString elided(const QString& text, TextStyle style, double width) const
    {
        return metrics(style).elidedText(text, Qt::ElideRight, width * metricsScale);
    }

    /// A platform may round advances to whole pixels; at many times the size that is too little to be seen.
    static constexpr int metricsScale = 16;

private:
    const QFontMetricsF& metrics(TextStyle style) const { return m_metrics[static_cast<std::size_t>(style)]; }
    ReportFonts(const QString& family, const QString& mono);

    QString m_family;
    QString m_mono;
    std::array<QFont, textStyleCount> m_fonts;
    std::array<QFont, textStyleCount> m_large;
    std::vector<QFontMetricsF> m_metrics;
    std::array<double, textStyleCount> m_lines {};
};

} // namespace kvw::gui
