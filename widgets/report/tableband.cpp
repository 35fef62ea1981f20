// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/tableband.h"

#include "models/numbertext.h"
#include "report/layoutstyle.h"

#include <QRegularExpression>

#include <algorithm>
#include <numeric>

namespace kvw::gui {

namespace {

/// "54.00 GiB" in two; the unit is empty for anything else.
std::pair<QString, QString> numberAndUnit(const QString& text)
{
    static const QRegularExpression pattern(
        QStringLiteral("^([+−~-]?\\s?[\\d.,]+) (B|KiB|MiB|GiB|TiB|PiB|EiB|[kMGT]?B/s|%)$"));
    const QRegularExpressionMatch match = pattern.match(text);
    return match.hasMatch() ? std::pair {match.captured(1), match.captured(2)} : std::pair {text, QString()};
}

QString cellText(const std::string& text)
{
    return shownText(fromStd(text));
}

/// Widths that add up to `room`: each has its least, and of the rest the more, the more it would want. What wants a
/// paragraph takes no more than its part. REQUIRES that the least widths fit and the natural ones do not.
std::vector<double> fairWidths(const std::vector<double>& natural, const std::vector<double>& least, double room)
{
    constexpr double paragraph = points(240);
    double wanted = 0;
    double given = 0;
    for (std::size_t i = 0; i < natural.size(); ++i) {
        given += least[i];
        wanted += std::max(0.0, std::min(natural[i], paragraph) - least[i]);
    }
    const double share = wanted > 0 ? (room - given) / wanted : 0;
    std::vector<double> out;
    for (std::size_t i = 0; i < natural.size(); ++i)
        out.push_back(least[i] + share * std::max(0.0, std::min(natural[i], paragraph) - least[i]));
    return out;
}

/// A table of so few rows, and no higher than this, is not parted.
constexpr std::size_t rowsTogether = 9;
constexpr double heightTogether = points(190);

constexpr double partIndent = points(9);

} // namespace

TableBand::TableBand(const Table& table, std::vector<std::size_t> columns, double width, const ReportFonts& fonts)
    : m_table(table)
    , m_width(width)
    , m_fonts(fonts)
{
    for (const std::size_t at : columns) {
        Column column;
        column.at = at;
        if (table.columns[at].number) {
            for (const auto& row : table.rows) {
                const QString unit = at < row.size() ? numberAndUnit(cellText(row[at])).second : QString();
                if (!unit.isEmpty())
                    column.unit = std::max(column.unit, fonts.width(QLatin1Char(' ') + unit, TextStyle::Small));
            }
        }
        m_columns.push_back(column);
    }
    chooseWidths(width);
}

QString TableBand::title(const Column& column) const
{
    const Table::Column& facts = m_table.columns[column.at];
    const QString out = fromStd(facts.under.empty() ? facts.title : facts.under);
    return out == QLatin1String("Measured") ? QStringLiteral("●\u00a0") + out : out;
}

bool TableBand::hasSpans() const
{
    return std::any_of(m_columns.begin(), m_columns.end(),
        [&](const Column& column) { return !m_table.columns[column.at].span.empty(); });
}

double TableBand::naturalWidth(const Column& column) const
{
    double out = longestWord(title(column), TextStyle::CellStrong, m_fonts);
    for (std::size_t r = 0; r < m_table.rows.size(); ++r) {
        const auto& row = m_table.rows[r];
        if (column.at >= row.size())
            continue;
        const auto [number, unit] = numberAndUnit(cellText(row[column.at]));
        const double text = m_fonts.width(number, isStrong(r, column.at) ? TextStyle::CellStrong : TextStyle::Cell)
            + (column.at == 0 && isPart(r) ? partIndent : 0);
        out = std::max(out, text + (unit.isEmpty() && number.size() > 1 ? 0 : column.unit));
    }
    if (!m_table.columns[column.at].merged.empty())
        out = std::max(out, points(70));
    return std::max(out, titleWidth(title(column), 2));
}

std::vector<TableBand::Span> TableBand::spans() const
{
    std::vector<Span> out;
    for (std::size_t i = 0; i < m_columns.size();) {
        const std::string& span = m_table.columns[m_columns[i].at].span;
        std::size_t end = i + 1;
        while (end < m_columns.size() && m_table.columns[m_columns[end].at].span == span)
            ++end;
        if (!span.empty()) {
            const QString text = fromStd(span);
            const auto colon = text.indexOf(QStringLiteral(": "));
            out.push_back({i, end, colon < 0 ? text : text.left(colon), colon < 0 ? QString() : text.mid(colon + 2)});
        }
        i = end;
    }
    return out;
}

/// A heading over several columns has its name in one line, and what follows the colon too, where there is room.
void TableBand::widenForSpans(std::vector<double>& natural) const
{
    for (const Span& span : spans()) {
        double wanted = m_fonts.width(span.name, TextStyle::CellStrong);
        if (!span.from.isEmpty())
            wanted = std::max(wanted, m_fonts.width(shownText(span.from), TextStyle::Small));
        const auto count = static_cast<double>(span.end - span.first);
        const double has = std::accumulate(natural.begin() + static_cast<std::ptrdiff_t>(span.first),
                               natural.begin() + static_cast<std::ptrdiff_t>(span.end), 0.0)
            + (count - 1) * m_gap;
        for (std::size_t column = span.first; column < span.end && wanted > has; ++column)
            natural[column] += (wanted - has + points(1)) / count;
    }
}

/// The least width in which a heading takes at most `lines` lines.
double TableBand::titleWidth(const QString& text, int lines) const
{
    const QStringList words = text.split(QLatin1Char(' '));
    const double space = m_fonts.width(QStringLiteral(" "), TextStyle::CellStrong);
    double width = longestWord(text, TextStyle::CellStrong, m_fonts);
    const double whole = m_fonts.width(text, TextStyle::CellStrong);
    for (; width < whole; width += points(4)) {
        int used = 1;
        double at = 0;
        for (const QString& word : words) {
            const double wide = m_fonts.width(word, TextStyle::CellStrong);
            if (at > 0 && at + space + wide > width) {
                ++used;
                at = wide;
            } else {
                at += (at > 0 ? space : 0) + wide;
            }
        }
        if (used <= lines)
            break;
    }
    return std::min(width + points(0.5), whole + points(0.5));
}

double TableBand::leastWidth(const Column& column) const
{
    if (m_table.columns[column.at].number)
        return naturalWidth(column);
    if (!m_table.columns[column.at].merged.empty())
        return points(70);
    double out = titleWidth(title(column), 3);
    for (const auto& row : m_table.rows) {
        if (column.at < row.size())
            out = std::max(out, longestWord(cellText(row[column.at]), TextStyle::CellStrong, m_fonts));
    }
    return std::min(out, points(150));
}

void TableBand::chooseWidths(double width)
{
    std::vector<double> natural;
    std::vector<double> least;
    for (const Column& column : m_columns) {
        natural.push_back(naturalWidth(column));
        least.push_back(std::min(leastWidth(column), natural.back()));
    }
    std::vector<double> spanned = natural;
    widenForSpans(spanned);
    if (std::accumulate(spanned.begin(), spanned.end(), 0.0) + static_cast<double>(m_columns.size() - 1) * m_gap
        <= width)
        natural = spanned;
    const double sumNatural = std::accumulate(natural.begin(), natural.end(), 0.0);
    double sumLeast = std::accumulate(least.begin(), least.end(), 0.0);
    const auto gaps = static_cast<double>(m_columns.size() - 1);
    if (sumLeast + gaps * m_gap > width)
        m_gap = std::max(points(4), (width - sumLeast) / std::max(1.0, gaps));
    const double room = width - gaps * m_gap;
    // What a row is of stands in one line, if it is short and there is room.
    const double first = std::min(natural.front(), points(96)) - least.front();
    const double taken = std::clamp(room - sumLeast, 0.0, std::max(0.0, first));
    least.front() += taken;
    sumLeast += taken;
    std::vector<double> widths(natural.size());
    if (sumNatural <= room) {
        const double extra = (room - sumNatural) / static_cast<double>(m_columns.size());
        std::transform(natural.begin(), natural.end(), widths.begin(), [&](double one) { return one + extra; });
    } else if (sumLeast > room) {
        std::transform(least.begin(), least.end(), widths.begin(), [&](double one) { return one * room / sumLeast; });
    } else {
        widths = fairWidths(natural, least, room);
    }
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        m_columns[i].width = widths[i];
        m_columns[i].left = i == 0 ? 0 : m_columns[i - 1].left + m_columns[i - 1].width + m_gap;
    }
}

void TableBand::addSeparators(PageOps& ops, double top, double bottom) const
{
    for (std::size_t i = 1; i < m_columns.size(); ++i) {
        const std::string& span = m_table.columns[m_columns[i].at].span;
        const std::string& before = m_table.columns[m_columns[i - 1].at].span;
        if (span == before)
            continue;
        const double x = m_columns[i].left - m_gap / 2;
        ops.emplace_back(LineOp {{x, top, x, bottom}, points(0.75), paperTokens().line});
    }
}

/// The headings over several columns: name, and what follows its colon below it.
double TableBand::addSpans(PageOps& ops) const
{
    double below = 0;
    for (const Span& span : spans()) {
        const double left = m_columns[span.first].left;
        const Column& last = m_columns[span.end - 1];
        const double width = last.left + last.width - left;
        double y = addLines(ops, left, 0, wrapText(span.name, TextStyle::CellStrong, width, m_fonts),
            TextStyle::CellStrong, paperTokens().text, m_fonts);
        if (!span.from.isEmpty()) {
            const bool marked = isAssumed(span.from) || span.from == QLatin1String("not stated");
            const TextStyle style = isAssumed(span.from) ? TextStyle::SmallItalic : TextStyle::Small;
            y = addLines(ops, left, y, wrapText(shownText(span.from), style, width, m_fonts), style,
                marked ? paperTokens().assumed : paperTokens().dimText, m_fonts);
        }
        below = std::max(below, y);
    }
    return below + rowPadding;
}

FlowBox TableBand::heading() const
{
    FlowBox out;
    double top = 0;
    if (hasSpans()) {
        top = addSpans(out.ops);
        out.ops.emplace_back(LineOp {{0, top, m_width, top}, hairWidth, paperTokens().line});
    }
    std::vector<QStringList> titles;
    qsizetype lines = 1;
    for (const Column& column : m_columns) {
        titles.push_back(wrapText(title(column), TextStyle::CellStrong, column.width, m_fonts));
        lines = std::max(lines, titles.back().size());
    }
    const double line = m_fonts.lineHeight(TextStyle::CellStrong);
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        double y = top + rowPadding + static_cast<double>(lines - titles[i].size()) * line;
        for (const QString& text : titles[i]) {
            const double shift = m_table.columns[m_columns[i].at].number
                ? m_columns[i].width - m_fonts.width(text, TextStyle::CellStrong)
                : 0;
            const double baseline = y + baselineIn(TextStyle::CellStrong, m_fonts);
            const bool measured = text.startsWith(QChar(0x25CF));
            const QString mark = measured ? text.left(2) : QString();
            addText(out.ops, {m_columns[i].left + shift, baseline}, mark, TextStyle::CellStrong, paperTokens().measured,
                m_fonts);
            addText(out.ops, {m_columns[i].left + shift + m_fonts.width(mark, TextStyle::CellStrong), baseline},
                text.mid(mark.size()), TextStyle::CellStrong, paperTokens().text, m_fonts);
            y += line;
        }
    }
    out.height = top + 2 * rowPadding + static_cast<double>(lines) * line;
    addSeparators(out.ops, 0, out.height);
    out.ops.emplace_back(LineOp {{0, out.height, m_width, out.height}, ruleWidth, paperTokens().text});
    out.keepWithNext = true;
    out.before = points(10);
    return out;
}

void TableBand::addCell(PageOps& ops, const Column& column, const QStringList& lines, const QString& whole, bool strong,
    double indent) const
{
    const TextStyle style = isAssumed(whole) ? TextStyle::CellItalic : strong ? TextStyle::CellStrong : TextStyle::Cell;
    const double line = m_fonts.lineHeight(style);
    double y = rowPadding;
    const QColor color = strong && !isAssumed(whole) ? paperTokens().text : cellColor(whole);
    if (!m_table.columns[column.at].number) {
        addLines(ops, column.left + indent, y, lines, style, color, m_fonts);
        return;
    }
    for (const QString& text : lines) {
        const auto [number, unit] = numberAndUnit(text);
        const bool slot = !unit.isEmpty() || text == QStringLiteral("–");
        const double end = column.left + column.width - (slot ? column.unit : 0);
        const double baseline = y + baselineIn(style, m_fonts);
        addText(ops, {end - m_fonts.width(number, style), baseline}, number, style, color, m_fonts);
        if (!unit.isEmpty())
            addText(ops, {end, baseline}, QLatin1Char(' ') + unit, TextStyle::Small, paperTokens().dimText, m_fonts);
        y += line;
    }
}

/// The lines of a cell. A merged cell's text goes on from row to row, one line in each, all that is left in the last.
QStringList TableBand::cellLines(const Column& column, std::size_t row) const
{
    const std::string& merged = m_table.columns[column.at].merged;
    if (!merged.empty()) {
        const QStringList all = wrapText(fromStd(merged), TextStyle::Cell, column.width, m_fonts);
        const auto at = static_cast<qsizetype>(row);
        return row + 1 == m_table.rows.size() ? all.mid(at) : all.mid(at, 1);
    }
    const QString text = column.at < m_table.rows[row].size() ? cellText(m_table.rows[row][column.at]) : QString();
    if (!numberAndUnit(text).second.isEmpty())
        return {text};
    const double indent = column.at == 0 && isPart(row) ? partIndent : 0;
    return wrapText(
        text, isStrong(row, column.at) ? TextStyle::CellStrong : TextStyle::Cell, column.width - indent, m_fonts);
}

void TableBand::addRow(Flow& flow, std::size_t row, const std::shared_ptr<const FlowBox>& head, bool keep) const
{
    const bool total = isTotal(row);
    const TextStyle style = TextStyle::Cell;
    std::vector<QStringList> cells;
    qsizetype lines = 1;
    for (const Column& column : m_columns) {
        cells.push_back(cellLines(column, row));
        lines = std::max(lines, cells.back().size());
    }
    for (qsizetype from = 0; from < lines; from += mostLines) {
        const qsizetype count = std::min<qsizetype>(mostLines, lines - from);
        const bool last = from + count >= lines;
        FlowBox box;
        box.head = head;
        box.height = 2 * rowPadding + static_cast<double>(count) * m_fonts.lineHeight(style);
        if (total && from == 0)
            box.ops.emplace_back(LineOp {{0, 0, m_width, 0}, ruleWidth, paperTokens().text});
        for (std::size_t i = 0; i < m_columns.size(); ++i) {
            const QString whole
                = m_columns[i].at < m_table.rows[row].size() ? fromStd(m_table.rows[row][m_columns[i].at]) : QString();
            const bool merged = !m_table.columns[m_columns[i].at].merged.empty();
            addCell(box.ops, m_columns[i], cells[i].mid(from, count), whole, isStrong(row, m_columns[i].at) && !merged,
                m_columns[i].at == 0 && isPart(row) ? partIndent : 0);
        }
        addSeparators(box.ops, 0, box.height);
        const bool end = row + 1 == m_table.rows.size();
        if (last)
            box.ops.emplace_back(LineOp {{0, box.height, m_width, box.height}, total ? ruleWidth : hairWidth,
                total     ? paperTokens().text
                    : end ? paperTokens().line
                          : paperTokens().hairLine});
        box.keepWithNext = keep && last;
        flow.add(std::move(box));
    }
}

void TableBand::add(Flow& flow, bool keepLast) const
{
    const auto head = std::make_shared<const FlowBox>(heading());
    bool small = m_table.rows.size() <= rowsTogether;
    if (small) {
        Flow rows;
        for (std::size_t row = 0; row < m_table.rows.size(); ++row)
            addRow(rows, row, head, false);
        small = rows.height() <= heightTogether;
    }
    flow.add(*head);
    for (std::size_t row = 0; row < m_table.rows.size(); ++row) {
        const bool end = row + 1 == m_table.rows.size();
        // No single row on a page, and no group parted from its parts.
        const bool alone = row == 0 || row + 2 == m_table.rows.size() || isPart(row + 1);
        addRow(flow, row, head, ((small || alone) && !end) || (end && keepLast));
    }
}

} // namespace kvw::gui
