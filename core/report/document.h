// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
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
    std::string caption {}; ///< what they are; empty: none
};

struct Table
{
    struct Column
    {
        std::string title;
        bool number = false; ///< right-aligned
        std::string span {}; ///< heading over this and the next columns of the same span
        std::string under {}; ///< shorter title below the heading; empty: the title
        int band = 0; ///< a page that is too narrow shows band by band, each with the first column
        std::string merged {}; ///< what all cells of the column say: a page writes it once
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;
    bool lastRowIsTotal = false;
    std::vector<bool> parts {}; ///< by row: a part of the row above it that is none; empty: no row is
    std::string caption; ///< what it shows, what its totals exclude
};

/// A derivation in print: formula in words and numbers, the exact result, the inputs with their sources.
struct Formula
{
    std::string label; ///< "F1"
    std::string title;
    /// Steps with an entry of their own name it, inputs the key of their source: "pool (F12) ÷ block [a]".
    std::string words;
    std::string numbers;
    std::string result; ///< exact, with unit and the rounded form
    std::vector<std::pair<std::string, std::string>> inputs; ///< "name = value", source or the entry that derives it
    std::vector<std::string> excludes;
    std::string rule {}; ///< the authority behind the step, empty where it is plain arithmetic
    bool assumed = false; ///< rests on an assumption
};

/// A figure's data; a medium that cannot draw shows some of it as a table.
struct Figure
{
    enum class Kind : std::uint8_t {
        Areas, ///< stacked series over x
        Bridge, ///< bars that start where the one before ended, then their sum
        Budget, ///< parts of one bar, side by side
        BlockMap, ///< blocks by number, by state
    };
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
    Kind kind = Kind::Areas;
    /// Bytes from `from` to `to`.
    struct Bar
    {
        enum class Role : std::uint8_t {
            Ideal,
            Difference,
            Engine,
            NotState, ///< weights, activation …
            State,
            Unused,
        };
        std::string name;
        std::int64_t from = 0;
        std::int64_t to = 0;
        std::string exact; ///< as it is printed beside the bar
        Role role = Role::Ideal;
    };
    std::vector<Bar> bars {};
    std::optional<std::int64_t> limit {}; ///< drawn as a line across the bars or areas
    std::string limitName {};
    /// Equal blocks in a row, by number.
    struct Run
    {
        std::string state; ///< "shared", "private tail", "cached", "held", "free"
        std::int64_t blocks = 0;
    };
    struct Pool
    {
        std::string title;
        std::vector<Run> runs;
    };
    std::vector<Pool> pools {};
    std::string caption {};
};

using ReportBlock = std::variant<Paragraph, Bullets, Facts, Table, Formula, Figure>;

struct Section
{
    std::string id; ///< stable: "worksheet", "evidence" …
    std::string title;
    std::vector<ReportBlock> blocks;
    std::string conclusion {}; ///< what a reader may and may not conclude; empty: none
    bool onCover = false; ///< a medium with pages shows it on the first one
};

/// What the first page says beside its sections.
struct Cover
{
    struct Headline
    {
        std::string title;
        std::string value; ///< "54.05", "9 of 10"; "–" when there is none
        std::string unit; ///< "GiB", "sequences"
        std::string note; ///< where it is from, or why there is none
    };
    std::string kicker; ///< "Cache plan for review"
    std::string classification {}; ///< as the plan states it; empty: none
    std::string line; ///< model, engine, tenants
    std::vector<Headline> strip; ///< five
};

struct Document
{
    std::string title;
    std::string subtitle;
    std::vector<Section> sections;
    std::string footer;
    Cover cover {};
};

/// GitHub-flavoured Markdown.
std::string toMarkdown(const Document& document);
/// Plain text with aligned columns, for a terminal.
std::string toText(const Section& section);

} // namespace kvw
