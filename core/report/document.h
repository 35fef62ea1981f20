// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kvw {

// The report as content without a medium: Markdown, terminal, PDF and window all render the same pieces, so that every
// number is the same everywhere. All texts are UTF-8; numbers are already formatted.

struct Paragraph
{
    std::string text;
    bool emphasis = false; ///< a sentence that must not be overlooked
};

struct Bullets
{
    std::vector<std::string> items;
};

/// Names and values, one to a line.
struct Facts
{
    std::vector<std::pair<std::string, std::string>> rows;
};

struct Table
{
    struct Column
    {
        std::string title;
        bool number = false; ///< right-aligned
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
    bool lastRowIsTotal = false;
    std::string caption; ///< what it shows, what its totals exclude
};

/// A derivation in print: formula in words and numbers, the exact result, the inputs with their sources.
struct Formula
{
    std::string label; ///< "F1"
    std::string title;
    std::string words;
    std::string numbers;
    std::string result; ///< exact, with unit and the rounded form
    std::vector<std::pair<std::string, std::string>> inputs; ///< "name = value", source
    std::vector<std::string> excludes;
};

/// A figure's data; a medium that cannot draw shows some of its points.
struct Figure
{
    std::string id;
    std::string title;
    std::string xTitle;
    std::string yTitle;
    struct Series
    {
        std::string name;
        std::vector<std::pair<double, double>> points;
    };
    std::vector<Series> series;
};

using ReportBlock = std::variant<Paragraph, Bullets, Facts, Table, Formula, Figure>;

struct Section
{
    std::string id; ///< stable: "worksheet", "evidence" …
    std::string title;
    std::vector<ReportBlock> blocks;
    std::string conclusion {}; ///< what a reader may and may not conclude; empty: none
};

struct Document
{
    std::string title;
    std::string subtitle;
    std::vector<Section> sections;
    std::string footer;
};

/// GitHub-flavoured Markdown.
std::string toMarkdown(const Document& document);
/// Plain text with aligned columns, for a terminal.
std::string toText(const Section& section);

} // namespace kvw
