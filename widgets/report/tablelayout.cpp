// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/tablelayout.h"

#include "models/numbertext.h"
#include "report/layoutstyle.h"
#include "report/tableband.h"

#include <algorithm>

namespace kvw::gui {

FlowBox captionBox(const QString& text, double width, const ReportFonts& fonts)
{
    FlowBox out;
    out.before = points(4);
    out.height = addLines(
        out.ops, 0, 0, wrapText(text, TextStyle::Small, width, fonts), TextStyle::Small, paperTokens().dimText, fonts);
    return out;
}

void addTable(Flow& flow, const Table& table, const QString& number, double width, const ReportFonts& fonts)
{
    int bands = 0;
    for (const Table::Column& column : table.columns)
        bands = std::max(bands, column.band);
    for (int band = 0; band <= bands; ++band) {
        std::vector<std::size_t> columns;
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            if (i == 0 || table.columns[i].band == band)
                columns.push_back(i);
        }
        if (columns.size() > 1 || bands == 0)
            TableBand(table, columns, width, fonts).add(flow, band == bands && !number.isEmpty());
    }
    if (!number.isEmpty())
        flow.add(captionBox(number + QStringLiteral(". ") + fromStd(table.caption), width, fonts));
}

void addFacts(
    Flow& flow, const Facts& facts, const QString& number, double width, const ReportFonts& fonts, double padding)
{
    constexpr std::size_t together = 12; ///< rows that are not parted; of more, at least `ends` stay on either side
    constexpr std::size_t ends = 4;
    double widest = width * 0.27;
    for (const auto& [name, value] : facts.rows)
        widest = std::max(widest, fonts.width(fromStd(name), TextStyle::Cell) + points(12));
    const double valueAt = std::min(widest, width * 0.42);
    for (std::size_t row = 0; row < facts.rows.size(); ++row) {
        const auto& [name, value] = facts.rows[row];
        const QStringList names = wrapText(fromStd(name), TextStyle::Cell, valueAt - points(9), fonts);
        const QString whole = fromStd(value);
        const TextStyle style = isAssumed(whole) ? TextStyle::CellItalic : TextStyle::Cell;
        const QStringList values = wrapText(shownText(whole), style, width - valueAt, fonts);
        const auto lines = std::max(names.size(), values.size());
        for (qsizetype from = 0; from < lines; from += mostLines) {
            const qsizetype count = std::min<qsizetype>(mostLines, lines - from);
            FlowBox box;
            addLines(box.ops, 0, padding, names.mid(from, count), TextStyle::Cell, paperTokens().dimText, fonts);
            addLines(box.ops, valueAt, padding, values.mid(from, count), style, cellColor(whole), fonts);
            box.height = 2 * padding + static_cast<double>(count) * fonts.lineHeight(TextStyle::Cell);
            if (from + count >= lines)
                box.ops.emplace_back(LineOp {{0, box.height, width, box.height}, hairWidth, paperTokens().hairLine});
            box.before = row == 0 && from == 0 ? points(4) : 0;
            const std::size_t below = facts.rows.size() - 1 - row;
            const bool inside = facts.rows.size() <= together || row + 1 < ends || below < ends;
            box.keepWithNext = from + count >= lines && (below == 0 ? !number.isEmpty() : inside);
            flow.add(std::move(box));
        }
    }
    if (!number.isEmpty())
        flow.add(captionBox(number + QStringLiteral(". ") + fromStd(facts.caption), width, fonts));
}

} // namespace kvw::gui
