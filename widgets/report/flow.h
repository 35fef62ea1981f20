// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/pageops.h"

#include <QStringList>

#include <memory>
#include <optional>

namespace kvw::gui {

enum class Paper : std::uint8_t {
    A4,
    Letter,
};

/// A sheet and the column of text on it, in page units.
struct PageGeometry
{
    explicit PageGeometry(Paper paper);

    double width;
    double height;
    double left;
    double right;
    double top; ///< of the text column
    double bottom;
    double columnWidth() const { return right - left; }
};

/// A piece of a page that is never split. Operations are from its own top left, in the text column.
struct FlowBox
{
    double height = 0;
    double before = 0; ///< space above, dropped at the top of a page
    PageOps ops {};
    bool keepWithNext = false; ///< not the last one on a page
    std::shared_ptr<const FlowBox> head {}; ///< drawn above it when it comes first on a page: a table's heading
    QString section {}; ///< when a section starts here
};

/// Boxes one below the other, over as many sheets as they need.
class Flow
{
public:
    void add(FlowBox box);
    /// The last box so far stays with the one that comes next.
    void keepLastWithNext();
    double height() const;
    /// Places the boxes; the first sheet's column starts at `firstTop` and ends at `firstBottom`.
    std::vector<ReportSheet> place(const PageGeometry& page, double firstTop, double firstBottom) const;
    std::vector<ReportSheet> place(const PageGeometry& page) const;

private:
    std::vector<FlowBox> m_boxes;
};

/// `text` in lines of at most `width`: broken between words, inside one only where it is longer than the line.
QStringList wrapText(const QString& text, TextStyle style, double width, const ReportFonts& fonts);
/// The widest word of `text`.
double longestWord(const QString& text, TextStyle style, const ReportFonts& fonts);
/// `text` as it stands on a page: what is not known has its sign.
QString shownText(const QString& text);
/// Adds one line of text as it is.
void addText(PageOps& ops, QPointF baseline, const QString& text, TextStyle style, const QColor& color,
    const ReportFonts& fonts);
/// Adds one line, digests in monospace and assumed terms (◇, their words joined) in italics.
void addRichText(PageOps& ops, QPointF baseline, const QString& text, TextStyle style, const QColor& color,
    const ReportFonts& fonts);
/// Adds lines of rich text from `top` down; returns the y below the last.
double addLines(PageOps& ops, double left, double top, const QStringList& lines, TextStyle style, const QColor& color,
    const ReportFonts& fonts);
/// Where the baseline of a line lies below the line's top.
double baselineIn(TextStyle style, const ReportFonts& fonts);

} // namespace kvw::gui
