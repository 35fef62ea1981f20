// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/reportfonts.h"

#include <QFontDatabase>
#include <QFontInfo>
#include <QRawFont>

namespace kvw::gui {

namespace {

struct StyleFacts
{
    double size;
    double line;
    bool strong;
    bool italic;
    bool mono;
};

constexpr std::array<StyleFacts, textStyleCount> styleFacts {{
    {25, 31, true, false, false},
    {11.5, 16, false, false, false},
    {15, 20, true, false, false},
    {17, 22, true, false, false},
    {11, 15, true, false, false},
    {9, 13, false, false, false},
    {9, 13, true, false, false},
    {8, 12, false, false, false},
    {8, 12, true, false, false},
    {8, 12, false, true, false},
    {7.5, 10.5, false, false, false},
    {7.5, 10.5, true, false, false},
    {7.5, 10.5, false, true, false},
    {7.5, 10.5, false, false, true},
}};

/// Signs that the report prints beside letters and digits.
constexpr char16_t signsNeeded[] = u"×÷−⌈⌉⌊⌋◇●⚠✓✗~–…·≈’";

bool hasSigns(const QFont& font)
{
    const QRawFont raw = QRawFont::fromFont(font);
    if (!raw.isValid())
        return false;
    for (const char16_t* sign = signsNeeded; *sign; ++sign) {
        if (!raw.supportsCharacter(QChar(*sign)))
            return false;
    }
    return true;
}

bool digitsAlign(const QFont& font)
{
    const QFontMetricsF metrics(font);
    for (char digit = '1'; digit <= '9'; ++digit) {
        if (qAbs(metrics.horizontalAdvance(QLatin1Char(digit)) - metrics.horizontalAdvance(QLatin1Char('0'))) > 0.5)
            return false;
    }
    return true;
}

QFont fontOf(const QString& family, const StyleFacts& facts)
{
    QFont out(family);
    out.setPixelSize(qRound(points(facts.size)));
    out.setWeight(facts.strong ? QFont::Bold : QFont::Normal);
    out.setItalic(facts.italic);
    out.setHintingPreference(QFont::PreferNoHinting);
    // No ligatures, so that a search finds every word; the spacing itself is below what can be seen.
    out.setLetterSpacing(QFont::AbsoluteSpacing, 0.05);
    return out;
}

/// The first family that is installed, scalable and complete.
QString firstGood(std::initializer_list<const char*> families)
{
    for (const char* name : families) {
        const QString family = QString::fromLatin1(name);
        const QFont font = fontOf(family, styleFacts[static_cast<std::size_t>(TextStyle::Body)]);
        if (QFontInfo(font).family() == family && QFontDatabase::isSmoothlyScalable(family) && hasSigns(font)
            && digitsAlign(font))
            return family;
    }
    return {};
}

} // namespace

ReportFonts::ReportFonts(const QString& family, const QString& mono)
    : m_family(family)
    , m_mono(mono)
{
    m_metrics.reserve(textStyleCount);
    for (std::size_t i = 0; i < textStyleCount; ++i) {
        m_fonts[i] = fontOf(styleFacts[i].mono ? mono : family, styleFacts[i]);
        m_large[i] = m_fonts[i];
        m_large[i].setPixelSize(m_fonts[i].pixelSize() * metricsScale);
        m_metrics.emplace_back(m_large[i]);
        m_lines[i] = points(styleFacts[i].line);
    }
}

Result<ReportFonts> ReportFonts::find()
{
    // A fixed order, so that the same machine prints the same pages.
    const QString family = firstGood({"DejaVu Sans", "Noto Sans", "Liberation Sans", "FreeSans"});
    const QString mono = firstGood({"DejaVu Sans Mono", "Noto Sans Mono", "FreeMono"});
    if (family.isEmpty() || mono.isEmpty()) {
        return Error {"report.font",
            "no scalable font with all signs of the report was found; the package fonts-dejavu-core has one", {}, {},
            "DejaVu Sans and DejaVu Sans Mono"};
    }
    return ReportFonts(family, mono);
}

} // namespace kvw::gui
