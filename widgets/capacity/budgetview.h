// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "estimate/rank_budget.h"

#include <QWidget>

namespace kvw::gui {

/// Each rank's memory as one bar: what is not state in grey, then the pool, outlined, with what the planned sequences
/// take and what is left. Marks: retained, configured, reserved. Only what the plan states.
class BudgetView : public QWidget
{
    Q_OBJECT

public:
    explicit BudgetView(QWidget* parent = nullptr);

    void setBudget(Budget budget);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// The figure that stands at `point`, by its path in the estimate; empty when there is none.
    QString figureAt(const QPointF& point) const;

signals:
    /// The user clicked a part or a mark; the figure's path in the estimate.
    void figureSelected(const QString& figure);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Bar
    {
        QRectF rect;
        const BudgetPart* part = nullptr;
    };
    /// Where a mark's text was drawn last.
    struct Label
    {
        QRectF rect;
        QString figure;
    };
    /// One bar stands for all ranks where they are alike and there is no room for each.
    bool merged() const;
    int shownRanks() const;
    double most() const;
    QVector<Bar> bars(int row) const;
    QRectF area() const;
    QRectF rowRect(int row) const;
    void paintRank(QPainter& painter, int row);
    void paintMarks(QPainter& painter, int row);
    void paintAxis(QPainter& painter);

    Budget m_budget;
    QVector<Label> m_labels;
};

} // namespace kvw::gui
