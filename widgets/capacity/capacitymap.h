// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "estimate/capacity.h"

#include <QVector>
#include <QWidget>

#include <optional>

namespace kvw::gui {

/// Length × concurrency, both on log₂ axes: cells by the share of the pool that they take, the engine's frontier and
/// the ideal one drawn over them exactly. A click chooses a cell.
class CapacityMap : public QWidget
{
    Q_OBJECT

public:
    explicit CapacityMap(QWidget* parent = nullptr);

    /// `plan`: its length and sequences, for its mark.
    struct Point
    {
        std::int64_t length = 0;
        std::int64_t sequences = 0;

        bool operator==(const Point&) const = default;
    };
    /// Lengths of the columns, ascending; four an octave from `shortest` to `longest`.
    static std::vector<std::int64_t> columnLengths(std::int64_t shortest, std::int64_t longest);
    void setCapacity(std::vector<LengthCapacity> columns, const std::optional<Point>& plan);
    std::optional<Point> selected() const;
    void select(const std::optional<Point>& point);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    /// Limits of the six steps of colour, percent of the pool.
    static constexpr std::array<int, 6> limits {10, 25, 50, 75, 90, 100};
    /// The step for a share of the pool; nothing when it is more than all of it.
    static std::optional<int> stepOf(double share);

signals:
    void selectionChanged();
    /// The user chose a number: the share of a cell, or a frontier by a click on its line. Its path.
    void figureSelected(const QString& figure);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF plotRect() const;
    double xOf(double length) const;
    double yOf(double sequences) const;
    std::int64_t rowSequences(int row) const;
    std::optional<Point> cellAt(const QPointF& point) const;
    void paintCells(QPainter& painter);
    void paintAxes(QPainter& painter);
    void paintLines(QPainter& painter);
    void paintMark(QPainter& painter, const Point& point, const QString& label);
    void paintLegend(QPainter& painter);
    void moveSelection(int columns, int rows);
    QString figureAt(const QPointF& point) const;

    std::vector<LengthCapacity> m_columns;
    std::optional<Point> m_plan;
    std::optional<Point> m_selected;
    int m_rows = 0;
};

} // namespace kvw::gui
