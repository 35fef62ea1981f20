// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/document.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

/// Columns on a terminal: code points, as none of ours is wide.
std::size_t width(const std::string& text)
{
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t columns, bool right)
{
    const std::string space(columns > width(text) ? columns - width(text) : 0, ' ');
    return right ? space + text : text + space;
}

struct Plain
{
    std::string out {};

    void operator()(const Paragraph& paragraph) { out += (paragraph.emphasis ? "! " : "") + paragraph.text + "\n"; }

    void operator()(const Bullets& bullets)
    {
        for (const std::string& item : bullets.items)
            out += "  - " + item + "\n";
    }

    void operator()(const Facts& facts)
    {
        std::size_t widest = 0;
        for (const auto& [name, value] : facts.rows)
            widest = std::max(widest, width(name));
        for (const auto& [name, value] : facts.rows)
            out += "  " + padded(name, widest + 2, false) + value + "\n";
        if (!facts.caption.empty())
            out += "  " + facts.caption + "\n";
    }

    void operator()(const Table& table)
    {
        std::vector<std::size_t> widths;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            widths.push_back(width(table.columns[c].title));
            for (const std::vector<std::string>& row : table.rows)
                widths[c] = std::max(widths[c], c < row.size() ? width(row[c]) : 0);
        }
        const auto line = [&](const auto& cell) {
            std::string text = " ";
            for (std::size_t c = 0; c < table.columns.size(); ++c)
                text += " " + padded(cell(c), widths[c] + 1, table.columns[c].number);
            text.erase(text.find_last_not_of(' ') + 1);
            out += text + "\n";
        };
        line([&](std::size_t c) { return table.columns[c].title; });
        std::size_t total = 0;
        for (const std::size_t w : widths)
            total += w + 2;
        const std::string rule = "  " + std::string(total, '-') + "\n";
        out += rule;
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            if (table.lastRowIsTotal && i + 1 == table.rows.size())
                out += rule;
            line([&](std::size_t c) { return c < table.rows[i].size() ? table.rows[i][c] : std::string(); });
        }
        if (!table.caption.empty())
            out += "  " + table.caption + "\n";
    }

    void operator()(const Formula& formula)
    {
        out += fmt::format("{} {}\n  {}\n  = {}\n  = {}\n", formula.label, formula.title, formula.words,
            formula.numbers, formula.result);
        for (const auto& [input, source] : formula.inputs)
            out += fmt::format("    {}: {}\n", input, source);
        if (!formula.rule.empty())
            out += fmt::format("    by: {}\n", formula.rule);
        if (!formula.excludes.empty())
            out += fmt::format("    excludes {}\n", fmt::join(formula.excludes, ", "));
    }

    void operator()(const Figure&)
    {
        // A terminal shows no figures; their data is in the JSON.
    }
};

} // namespace

std::string toText(const Section& section)
{
    Plain plain;
    plain.out = section.title + "\n";
    for (const ReportBlock& block : section.blocks)
        std::visit(plain, block);
    if (!section.conclusion.empty())
        plain.out += "  " + section.conclusion + "\n";
    return printable(plain.out);
}

} // namespace kvw
