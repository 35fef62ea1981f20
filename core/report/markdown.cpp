// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/document.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

/// Characters that would change a table cell or start markup.
std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '|' || c == '<' || c == '*' || c == '_' || c == '`')
            out += '\\';
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

/// For code blocks, which need no escapes but end at a line break.
std::string oneLine(std::string text)
{
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return text;
}

struct Markdown
{
    std::string out {};

    void operator()(const Paragraph& paragraph)
    {
        out += paragraph.emphasis ? "> " + escaped(paragraph.text) + "\n\n" : escaped(paragraph.text) + "\n\n";
    }

    void operator()(const Bullets& bullets)
    {
        for (const std::string& item : bullets.items)
            out += "- " + escaped(item) + "\n";
        out += "\n";
    }

    void operator()(const Facts& facts)
    {
        out += "| | |\n|---|---|\n";
        for (const auto& [name, value] : facts.rows)
            out += fmt::format("| {} | {} |\n", escaped(name), escaped(value));
        out += "\n";
    }

    void operator()(const Table& table)
    {
        std::string rule = "|";
        out += "|";
        for (const Table::Column& column : table.columns) {
            out += " " + escaped(column.title) + " |";
            rule += column.number ? "---:|" : "---|";
        }
        out += "\n" + rule + "\n";
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            const bool total = table.lastRowIsTotal && i + 1 == table.rows.size();
            out += "|";
            for (const std::string& cell : table.rows[i])
                out += total && !cell.empty() ? " **" + escaped(cell) + "** |" : " " + escaped(cell) + " |";
            out += "\n";
        }
        out += "\n";
        if (!table.caption.empty())
            out += "*" + escaped(table.caption) + "*\n\n";
    }

    void operator()(const Formula& formula)
    {
        out += fmt::format("**{} {}**\n\n", formula.label, escaped(formula.title));
        out += fmt::format("    {}\n    = {}\n    = {}\n\n", oneLine(formula.words), oneLine(formula.numbers),
            oneLine(formula.result));
        for (const auto& [input, source] : formula.inputs)
            out += fmt::format("- {}: {}\n", escaped(input), escaped(source));
        if (!formula.excludes.empty())
            out += fmt::format("- excludes: {}\n", escaped(fmt::format("{}", fmt::join(formula.excludes, ", "))));
        out += "\n";
    }

    void operator()(const Figure& figure)
    {
        out += fmt::format("**{}** ({} over {})\n\n| {} |", escaped(figure.title), escaped(figure.yTitle),
            escaped(figure.xTitle), escaped(figure.xTitle));
        std::string rule = "|---:|";
        std::size_t points = 0;
        for (const Figure::Series& series : figure.series) {
            out += " " + escaped(series.name) + " |";
            rule += "---:|";
            points = std::max(points, series.points.size());
        }
        out += "\n" + rule + "\n";
        // Print shows a dozen points; the data holds them all.
        const std::size_t step = std::max<std::size_t>(1, points / 12);
        for (std::size_t i = 0; i < points; i += step) {
            out += fmt::format("| {} |", figure.series.front().points[i].first);
            for (const Figure::Series& series : figure.series)
                out += i < series.points.size() ? fmt::format(" {} |", series.points[i].second) : " |";
            out += "\n";
        }
        out += "\n";
    }
};

} // namespace

std::string toMarkdown(const Document& document)
{
    Markdown markdown;
    markdown.out = "# " + escaped(document.title) + "\n\n";
    if (!document.subtitle.empty())
        markdown.out += escaped(document.subtitle) + "\n\n";
    for (const Section& section : document.sections) {
        markdown.out += "## " + escaped(section.title) + "\n\n";
        for (const ReportBlock& block : section.blocks)
            std::visit(markdown, block);
        if (!section.conclusion.empty())
            markdown.out += "*" + escaped(section.conclusion) + "*\n\n";
    }
    markdown.out += "---\n\n" + escaped(document.footer) + "\n";
    return markdown.out;
}

} // namespace kvw
