// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/document.h"
#include "units/format.h"

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
        if (!facts.caption.empty())
            out += "*" + escaped(facts.caption) + "*\n\n";
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
        if (!formula.rule.empty())
            out += "- by: " + escaped(formula.rule) + "\n";
        if (!formula.excludes.empty())
            out += fmt::format("- excludes: {}\n", escaped(fmt::format("{}", fmt::join(formula.excludes, ", "))));
        out += "\n";
    }

    void operator()(const Figure& figure)
    {
        if (figure.kind == Figure::Kind::Areas)
            areas(figure);
        else if (figure.kind == Figure::Kind::BlockMap)
            map(figure);
        else
            bars(figure);
        if (!figure.caption.empty())
            out += "*" + escaped(figure.caption) + "*\n\n";
    }

    void bars(const Figure& figure)
    {
        out += fmt::format("**{}**\n\n| | From | To | Bytes |\n|---|---:|---:|---:|\n", escaped(figure.title));
        for (const Figure::Bar& bar : figure.bars)
            out += fmt::format("| {} | {} | {} | {} |\n", escaped(bar.name), bar.from, bar.to, escaped(bar.exact));
        out += "\n";
    }

    /// The first runs of each pool; the data holds them all.
    void map(const Figure& figure)
    {
        constexpr std::size_t shown = 8;
        out += fmt::format("**{}**\n\n| Pool | Blocks by number |\n|---|---|\n", escaped(figure.title));
        for (const Figure::Pool& pool : figure.pools) {
            std::string runs;
            for (std::size_t i = 0; i < std::min(shown, pool.runs.size()); ++i)
                runs += fmt::format("{}{} {}", i == 0 ? "" : ", ", pool.runs[i].blocks, pool.runs[i].state);
            if (pool.runs.size() > shown)
                runs += fmt::format(", … {} runs in all", pool.runs.size());
            out += fmt::format("| {} | {} |\n", escaped(pool.title), escaped(runs));
        }
        out += "\n";
    }

    void areas(const Figure& figure)
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
    if (!document.cover.classification.empty())
        markdown.out += "**" + escaped(document.cover.classification) + "**\n\n";
    if (!document.cover.line.empty())
        markdown.out += escaped(document.cover.line) + "\n\n";
    for (const Cover::Headline& one : document.cover.strip)
        markdown.out += fmt::format("- {}: {}{}{} ({})\n", escaped(one.title), escaped(one.value),
            one.unit.empty() ? "" : " ", escaped(one.unit), escaped(one.note));
    if (!document.cover.strip.empty())
        markdown.out += "\n";
    for (const Section& section : document.sections) {
        markdown.out += "## " + escaped(section.title) + "\n\n";
        for (const ReportBlock& block : section.blocks)
            std::visit(markdown, block);
        if (!section.conclusion.empty())
            markdown.out += "*" + escaped(section.conclusion) + "*\n\n";
    }
    markdown.out += "---\n\n" + escaped(document.footer) + "\n";
    return printable(markdown.out);
}

} // namespace kvw
