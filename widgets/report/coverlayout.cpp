// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/coverlayout.h"

#include "models/numbertext.h"
#include "report/layoutstyle.h"
#include "report/tablelayout.h"

#include <algorithm>
#include <array>

namespace kvw::gui {

namespace {

constexpr auto readFirstId = "cover";

FlowBox titleBox(const Document& document, double width, const ReportFonts& fonts)
{
    FlowBox out;
    const QString classification = fromStd(document.cover.classification);
    const double half = width / 2 - points(6);
    double y = addLines(out.ops, 0, 0,
        wrapText(fromStd(document.subtitle.empty() ? document.cover.kicker : document.subtitle), TextStyle::Body,
            classification.isEmpty() ? width : half, fonts),
        TextStyle::Body, paperTokens().dimText, fonts);
    if (!classification.isEmpty()) {
        const QString shown = fonts.elided(classification, TextStyle::BodyStrong, half);
        addText(out.ops, {width - fonts.width(shown, TextStyle::BodyStrong), baselineIn(TextStyle::BodyStrong, fonts)},
            shown, TextStyle::BodyStrong, paperTokens().text, fonts);
    }
    // A title of many lines would push everything else away.
    constexpr qsizetype mostLines = 4;
    y = addLines(out.ops, 0, y + points(2),
        wrapText(fromStd(document.title), TextStyle::CoverTitle, width, fonts).mid(0, mostLines), TextStyle::CoverTitle,
        paperTokens().text, fonts);
    y = addLines(out.ops, 0, y + points(2),
        wrapText(fromStd(document.cover.line), TextStyle::CoverLine, width, fonts).mid(0, mostLines),
        TextStyle::CoverLine, paperTokens().dimText, fonts);
    out.height = y;
    return out;
}

/// The five figures side by side.
FlowBox stripBox(const Cover& cover, double width, const ReportFonts& fonts)
{
    FlowBox out;
    out.before = points(16);
    // The later ones say more: sequences planned, verdicts.
    static constexpr std::array<double, 5> shares {0.18, 0.18, 0.18, 0.21, 0.25};
    std::vector<double> parts;
    double bottom = 0;
    double x = 0;
    for (std::size_t i = 0; i < cover.strip.size(); ++i) {
        const Cover::Headline& one = cover.strip[i];
        const double cell = width * shares[std::min(i, shares.size() - 1)];
        if (i > 0)
            parts.push_back(x);
        const double left = x + (x > 0 ? points(8) : 0);
        const double room = x + cell - points(4) - left;
        double y = addLines(out.ops, left, points(7), wrapText(fromStd(one.title), TextStyle::Small, room, fonts),
            TextStyle::Small, paperTokens().dimText, fonts);
        const double baseline = y + baselineIn(TextStyle::Headline, fonts);
        const QString value = fromStd(one.value);
        addText(out.ops, {left, baseline}, value, TextStyle::Headline, paperTokens().text, fonts);
        const double unitAt = left + fonts.width(value, TextStyle::Headline) + points(3);
        const QString unit = fromStd(one.unit);
        const bool beside = unitAt + fonts.width(unit, TextStyle::Small) <= x + cell - points(2);
        y += fonts.lineHeight(TextStyle::Headline);
        if (beside)
            addText(out.ops, {unitAt, baseline}, unit, TextStyle::Small, paperTokens().dimText, fonts);
        else
            y = addLines(out.ops, left, y, {unit}, TextStyle::Small, paperTokens().dimText, fonts);
        y = addLines(out.ops, left, y + points(1), wrapText(fromStd(one.note), TextStyle::Small, room, fonts),
            TextStyle::Small, paperTokens().dimText, fonts);
        bottom = std::max(bottom, y);
        x += cell;
    }
    out.height = bottom + points(7);
    for (const double at : parts) {
        out.ops.emplace_back(LineOp {{at, points(1), at, out.height}, points(0.6), paperTokens().line});
    }
    out.ops.emplace_back(LineOp {{0, 0, width, 0}, points(1), paperTokens().text});
    out.ops.emplace_back(LineOp {{0, out.height, width, out.height}, points(0.75), paperTokens().line});
    return out;
}

void addSection(Flow& flow, const Section& section, double width, const ReportFonts& fonts, double looseness)
{
    FlowBox heading;
    heading.before = points(15) * looseness;
    heading.height
        = addLines(heading.ops, 0, 0, {fromStd(section.title)}, TextStyle::SubSection, paperTokens().text, fonts);
    heading.keepWithNext = true;
    flow.add(std::move(heading));
    for (const ReportBlock& block : section.blocks) {
        if (const auto* facts = std::get_if<Facts>(&block)) {
            addFacts(flow, *facts, {}, width, fonts, points(2.6) * looseness);
        } else if (const auto* paragraph = std::get_if<Paragraph>(&block)) {
            FlowBox box;
            box.before = points(5);
            box.height = addLines(box.ops, 0, 0, wrapText(fromStd(paragraph->text), TextStyle::Body, width, fonts),
                TextStyle::Body, paragraph->emphasis ? paperTokens().assumed : paperTokens().text, fonts);
            flow.add(std::move(box));
        }
    }
}

/// What must be read before the numbers, in a frame.
FlowBox readFirstBox(const Section& section, double width, const ReportFonts& fonts)
{
    const double pad = points(9);
    FlowBox out;
    double y = addLines(out.ops, pad, pad, {fromStd(section.title)}, TextStyle::BodyStrong, paperTokens().text, fonts);
    y += points(1);
    for (const ReportBlock& block : section.blocks) {
        const auto* bullets = std::get_if<Bullets>(&block);
        if (!bullets)
            continue;
        for (const std::string& item : bullets->items) {
            const QString text = fromStd(item);
            const bool assumed = text.startsWith(QChar(0x25C7)) || text.startsWith(QLatin1String("Not stated"));
            addText(out.ops, {pad, y + points(1.5) + baselineIn(TextStyle::Small, fonts)}, QStringLiteral("–"),
                TextStyle::Small, paperTokens().dimText, fonts);
            y = addLines(out.ops, pad + points(9), y + points(1.5),
                wrapText(text, TextStyle::Small, width - 2 * pad - points(9), fonts), TextStyle::Small,
                assumed ? paperTokens().assumed : paperTokens().text, fonts);
        }
    }
    out.height = y + pad;
    out.ops.insert(out.ops.begin(), RectOp {{0, 0, width, out.height}, {}, paperTokens().dimText, Hatch::None, {}});
    return out;
}

} // namespace

CoverLayout layOutCover(const Document& document, const PageGeometry& page, const ReportFonts& fonts)
{
    const double width = page.columnWidth();
    FlowBox readFirst;
    for (const Section& section : document.sections) {
        if (section.onCover && section.id == readFirstId)
            readFirst = readFirstBox(section, width, fonts);
    }
    CoverLayout out;
    const double frameTop = page.bottom - readFirst.height;
    out.bottom = frameTop - points(12);
    const double room = out.bottom - page.top;
    for (const double looseness : {1.0, 0.75, 0.5, 0.3}) {
        out.flow = {};
        out.flow.add(titleBox(document, width, fonts));
        if (!document.cover.strip.empty())
            out.flow.add(stripBox(document.cover, width, fonts));
        for (const Section& section : document.sections) {
            if (section.onCover && section.id != readFirstId)
                addSection(out.flow, section, width, fonts, looseness);
        }
        out.fits = out.flow.height() <= room;
        if (out.fits)
            break;
    }
    out.top = page.top + std::clamp(room - out.flow.height(), 0.0, millimetres(24));
    appendMoved(out.frame, readFirst.ops, {page.left, frameTop});
    return out;
}

} // namespace kvw::gui
