// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/flow.h"

#include "report/layoutstyle.h"

#include <QRegularExpression>

#include <algorithm>

namespace kvw::gui {

PageGeometry::PageGeometry(Paper paper)
    : width(paper == Paper::A4 ? millimetres(210) : 8.5 * unitsPerInch)
    , height(paper == Paper::A4 ? millimetres(297) : 11 * unitsPerInch)
    , left(millimetres(18.8))
    , right(width - millimetres(18.8))
    , top(millimetres(20))
    , bottom(height - millimetres(19))
{}

void Flow::add(FlowBox box)
{
    m_boxes.push_back(std::move(box));
}

void Flow::keepLastWithNext()
{
    if (!m_boxes.empty())
        m_boxes.back().keepWithNext = true;
}

double Flow::height() const
{
    double out = 0;
    for (const FlowBox& box : m_boxes)
        out += box.height + (&box == m_boxes.data() ? 0 : box.before);
    return out;
}

std::vector<ReportSheet> Flow::place(const PageGeometry& page) const
{
    return place(page, page.top, page.bottom);
}

std::vector<ReportSheet> Flow::place(const PageGeometry& page, double firstTop, double firstBottom) const
{
    std::vector<ReportSheet> out(1);
    double y = firstTop;
    constexpr double slack = 1; // sums of lengths are not exact
    double bottom = firstBottom + slack;
    bool first = true; // on its sheet
    QString section;
    for (std::size_t i = 0; i < m_boxes.size();) {
        // A chain of boxes that want to stay together, as far as a sheet can hold one.
        std::size_t end = i + 1;
        double need = m_boxes[i].height;
        while (end < m_boxes.size() && m_boxes[end - 1].keepWithNext) {
            need += m_boxes[end].before + m_boxes[end].height;
            ++end;
        }
        const double space = first ? 0 : m_boxes[i].before;
        const bool fits = y + space + need <= bottom;
        const bool couldFit = need <= page.bottom - page.top;
        if (!first && !fits && (couldFit || y + space + m_boxes[i].height > bottom)) {
            out.emplace_back();
            y = page.top;
            bottom = page.bottom + slack;
            first = true;
            continue;
        }
        const std::size_t upTo = fits || first ? (couldFit ? end : i + 1) : i + 1;
        for (; i < upTo; ++i) {
            const FlowBox& box = m_boxes[i];
            y += first ? 0 : box.before;
            if (!box.section.isEmpty())
                section = box.section;
            if (first && box.head) {
                appendMoved(out.back().ops, box.head->ops, {page.left, y});
                y += box.head->height;
            }
            if (first || out.back().section.isEmpty())
                out.back().section = section;
            appendMoved(out.back().ops, box.ops, {page.left, y});
            y += box.height;
            first = false;
        }
    }
    return out;
}

namespace {

/// Parts of one word that is longer than a line: broken after a sign that parts names, anywhere where there is none.
QStringList brokenWord(const QString& word, TextStyle style, double width, const ReportFonts& fonts)
{
    static const QString signsOfNames = QStringLiteral("/_.:-,;=×");
    QStringList out;
    qsizetype from = 0;
    while (from < word.size()) {
        qsizetype to = from + 1;
        while (to < word.size() && fonts.width(word.mid(from, to + 1 - from), style) <= width)
            ++to;
        qsizetype end = to;
        if (to < word.size()) {
            while (end > from + 1 && !signsOfNames.contains(word.at(end - 1)))
                --end;
            if (end == from + 1)
                end = to;
        }
        out.push_back(word.mid(from, end - from));
        from = end;
    }
    return out;
}

bool isDigest(const QString& word)
{
    static const QRegularExpression digest(QStringLiteral("^[0-9a-f]{12,64}[.,;…]*$"));
    static const QRegularExpression letter(QStringLiteral("[a-f]"));
    return word.contains(digest) && word.contains(letter);
}

} // namespace

QStringList wrapText(const QString& text, TextStyle style, double width, const ReportFonts& fonts)
{
    static const QRegularExpression spaces(QStringLiteral("\\s+"));
    if (fonts.width(text, style) <= width && !text.contains(QLatin1Char('\n')))
        return {text};
    QStringList out;
    QString line;
    const double space = fonts.width(QStringLiteral(" "), style);
    double used = 0;
    for (const QString& word : text.split(spaces, Qt::SkipEmptyParts)) {
        const double wide = fonts.width(word, style);
        if (!line.isEmpty() && used + space + wide <= width) {
            line += QLatin1Char(' ') + word;
            used += space + wide;
            continue;
        }
        if (!line.isEmpty())
            out.push_back(line);
        line = word;
        used = wide;
        if (wide > width) {
            QStringList parts = brokenWord(word, style, width, fonts);
            line = parts.takeLast();
            used = fonts.width(line, style);
            out += parts;
        }
    }
    out.push_back(line);
    return out;
}

double longestWord(const QString& text, TextStyle style, const ReportFonts& fonts)
{
    double out = 0;
    for (const QString& word : text.split(QLatin1Char(' ')))
        out = std::max(out, fonts.width(word, style));
    return out;
}

void addText(
    PageOps& ops, QPointF baseline, const QString& text, TextStyle style, const QColor& color, const ReportFonts& fonts)
{
    if (!text.isEmpty())
        ops.emplace_back(TextOp {baseline, text, style, color, fonts.width(text, style)});
}

QString shownText(const QString& text)
{
    const bool unknown = text == QLatin1String("not stated") || text.startsWith(QLatin1String("not stated;"));
    return unknown ? QStringLiteral("⚠ ") + text : text;
}

void addRichText(
    PageOps& ops, QPointF baseline, const QString& text, TextStyle style, const QColor& color, const ReportFonts& fonts)
{
    enum class Kind { Plain, Digest, Assumed };
    const auto kindOf = [](const QString& word) {
        if (word.contains(QChar(0x25C7)) && word.contains(QChar(0x00A0)))
            return Kind::Assumed;
        return isDigest(word) ? Kind::Digest : Kind::Plain;
    };
    const bool cell = style == TextStyle::Cell || style == TextStyle::CellItalic;
    if (!cell && style != TextStyle::Small && style != TextStyle::Body) {
        addText(ops, baseline, text, style, color, fonts);
        return;
    }
    const double space = fonts.width(QStringLiteral(" "), style);
    double x = baseline.x();
    QString run;
    const auto add = [&](const QString& part, TextStyle with, const QColor& ink) {
        addText(ops, {x, baseline.y()}, part, with, ink, fonts);
        x += fonts.width(part, with) + space;
    };
    const auto flush = [&] {
        if (!run.isEmpty())
            add(run, style, color);
        run.clear();
    };
    for (const QString& word : text.split(QLatin1Char(' '))) {
        const Kind kind = kindOf(word);
        if (kind == Kind::Plain) {
            run += (run.isEmpty() ? QString() : QStringLiteral(" ")) + word;
            continue;
        }
        flush();
        if (kind == Kind::Digest)
            add(word, TextStyle::Mono, color);
        else
            add(word, cell ? TextStyle::CellItalic : TextStyle::SmallItalic, paperTokens().assumed);
    }
    flush();
}

double baselineIn(TextStyle style, const ReportFonts& fonts)
{
    const double ascent = fonts.ascent(style);
    return (fonts.lineHeight(style) - ascent - fonts.descent(style)) / 2 + ascent;
}

double addLines(PageOps& ops, double left, double top, const QStringList& lines, TextStyle style, const QColor& color,
    const ReportFonts& fonts)
{
    for (const QString& line : lines) {
        addRichText(ops, {left, top + baselineIn(style, fonts)}, line, style, color, fonts);
        top += fonts.lineHeight(style);
    }
    return top;
}

} // namespace kvw::gui
