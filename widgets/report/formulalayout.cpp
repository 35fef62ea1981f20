// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/formulalayout.h"

#include "models/numbertext.h"
#include "report/layoutstyle.h"

#include <algorithm>

namespace kvw::gui {

namespace {

struct FormulaColumns
{
    double figure;
    double formula;
    double result;
    double width;
};

struct StyledLine
{
    QString text;
    TextStyle style;
    QColor color;
};

/// The lines of a formula: words, which name sources and other formulas, and numbers.
std::vector<StyledLine> formulaLines(const Formula& formula, double width, const ReportFonts& fonts)
{
    std::vector<StyledLine> out;
    const auto add = [&](const QString& text, TextStyle style, const QColor& color) {
        if (text.isEmpty())
            return;
        for (const QString& line : wrapText(text, style, width, fonts))
            out.push_back({line, style, color});
    };
    add(fromStd(formula.words), TextStyle::Small, paperTokens().text);
    if (formula.numbers != formula.words && !formula.numbers.empty())
        add(QStringLiteral("= ") + fromStd(formula.numbers), TextStyle::Mono, paperTokens().text);
    return out;
}

/// Exact result, and its rounded form below; returns the y below them.
double addResult(PageOps& ops, const QString& text, const FormulaColumns& at, const ReportFonts& fonts)
{
    double y = rowPadding;
    const auto add = [&](const QString& line, TextStyle style, const QColor& color) {
        addText(ops, {at.width - fonts.width(line, style), y + baselineIn(style, fonts)}, line, style, color, fonts);
        y += fonts.lineHeight(style);
    };
    const auto equals = text.indexOf(QStringLiteral(" = "));
    const QString exact = text.left(equals < 0 ? text.size() : equals);
    // The unit in small print where both fit one line.
    const auto space = exact.indexOf(QLatin1Char(' '));
    const QString number = exact.left(space);
    const QString unit = space < 0 ? QString() : exact.mid(space);
    const double wide = fonts.width(number, TextStyle::Cell) + fonts.width(unit, TextStyle::Small);
    if (space >= 0 && wide <= at.width - at.result) {
        const double baseline = y + baselineIn(TextStyle::Cell, fonts);
        addText(ops, {at.width - wide, baseline}, number, TextStyle::Cell, paperTokens().text, fonts);
        addText(ops, {at.width - fonts.width(unit, TextStyle::Small), baseline}, unit, TextStyle::Small,
            paperTokens().dimText, fonts);
        y += fonts.lineHeight(TextStyle::Cell);
    } else {
        for (const QString& line : wrapText(exact, TextStyle::Cell, at.width - at.result, fonts))
            add(line, TextStyle::Cell, paperTokens().text);
    }
    if (equals >= 0)
        add(text.mid(equals + 1), TextStyle::Small, paperTokens().dimText);
    return y;
}

void addFormulaRow(Flow& flow, const Formula& formula, const std::shared_ptr<const FlowBox>& head,
    const FormulaColumns& at, const ReportFonts& fonts)
{
    constexpr std::size_t mostInBox = 40;
    const double gap = points(9);
    const std::vector<StyledLine> lines = formulaLines(formula, at.result - at.formula - gap, fonts);
    for (std::size_t from = 0; from == 0 || from < lines.size(); from += mostInBox) {
        FlowBox box;
        box.head = head;
        double height = 0;
        if (from == 0) {
            addText(box.ops, {0, rowPadding + baselineIn(TextStyle::Cell, fonts)}, fromStd(formula.label),
                TextStyle::Cell, paperTokens().dimText, fonts);
            const QStringList title
                = wrapText(fromStd(formula.title), TextStyle::Cell, at.formula - at.figure - gap, fonts);
            height = addLines(
                box.ops, at.figure, rowPadding, title.mid(0, mostLines), TextStyle::Cell, paperTokens().text, fonts);
            height = std::max(height, addResult(box.ops, fromStd(formula.result), at, fonts));
        }
        double y = rowPadding + points(0.6);
        const std::size_t to = std::min(lines.size(), from + mostInBox);
        for (std::size_t i = from; i < to; ++i)
            y = addLines(box.ops, at.formula, y, {lines[i].text}, lines[i].style, lines[i].color, fonts);
        box.height = std::max(height, y) + rowPadding;
        if (to == lines.size())
            box.ops.emplace_back(LineOp {{0, box.height, at.width, box.height}, hairWidth, paperTokens().hairLine});
        flow.add(std::move(box));
    }
}

} // namespace

void addFormulas(Flow& flow, const std::vector<const Formula*>& formulas, double width, const ReportFonts& fonts)
{
    const FormulaColumns at {points(24), points(128), width - points(106), width};
    FlowBox heading;
    const double baseline = rowPadding + baselineIn(TextStyle::CellStrong, fonts);
    const auto title = [&](double x, const QString& text) {
        addText(heading.ops, {x, baseline}, text, TextStyle::CellStrong, paperTokens().text, fonts);
    };
    title(0, QStringLiteral("No."));
    title(at.figure, QStringLiteral("Figure"));
    title(at.formula, QStringLiteral("Formula and numbers"));
    const QString result = QStringLiteral("Result");
    title(width - fonts.width(result, TextStyle::CellStrong), result);
    heading.height = 2 * rowPadding + fonts.lineHeight(TextStyle::CellStrong);
    heading.ops.emplace_back(LineOp {{0, heading.height, width, heading.height}, ruleWidth, paperTokens().text});
    heading.keepWithNext = true;
    heading.before = points(6);
    const auto head = std::make_shared<const FlowBox>(heading);
    flow.add(heading);
    for (const Formula* formula : formulas)
        addFormulaRow(flow, *formula, head, at, fonts);
}

} // namespace kvw::gui
