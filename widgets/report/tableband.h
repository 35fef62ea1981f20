// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"

#include <memory>
#include <vector>

namespace kvw::gui {

/// One band of a table: its columns and how wide they are.
class TableBand
{
public:
    TableBand(const Table& table, std::vector<std::size_t> columns, double width, const ReportFonts& fonts);
    void add(Flow& flow, bool keepLast) const;

private:
    struct Column
    {
        std::size_t at = 0; ///< in the table
        double left = 0;
        double width = 0;
        double unit = 0; ///< slot of units, with the gap before it
    };

    void chooseWidths(double width);
    double naturalWidth(const Column& column) const;
    double titleWidth(const QString& text, int lines) const;
    double leastWidth(const Column& column) const;
    QString title(const Column& column) const;
    /// A heading over several columns: name, and what follows its colon.
    struct Span
    {
        std::size_t first = 0;
        std::size_t end = 0; ///< one past the last column
        QString name;
        QString from; ///< empty when there is no colon
    };

    bool hasSpans() const;
    std::vector<Span> spans() const;
    bool isPart(std::size_t row) const { return row < m_table.parts.size() && m_table.parts[row]; }
    bool isTotal(std::size_t row) const { return m_table.lastRowIsTotal && row + 1 == m_table.rows.size(); }
    /// Rows with parts below them stand out from those.
    bool isStrong(std::size_t row, std::size_t column) const
    {
        const bool stands = column == 0 || m_table.columns[column].number;
        return isTotal(row) || (stands && !m_table.parts.empty() && !isPart(row));
    }
    QStringList cellLines(const Column& column, std::size_t row) const;
    void widenForSpans(std::vector<double>& natural) const;
    FlowBox heading() const;
    double addSpans(PageOps& ops) const;
    void addSeparators(PageOps& ops, double top, double bottom) const;
    void addRow(Flow& flow, std::size_t row, const std::shared_ptr<const FlowBox>& head, bool keep) const;
    void addCell(PageOps& ops, const Column& column, const QStringList& lines, const QString& whole, bool strong,
        double indent) const;

    const Table& m_table;
    std::vector<Column> m_columns;
    double m_width;
    double m_gap = points(9);
    const ReportFonts& m_fonts;
};

} // namespace kvw::gui
