// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "estimate/rank_budget.h"

#include <QWidget>

#include <vector>

namespace kvw::gui {

/// One rank's device memory as one bar: non-state grey with patterns, the pool outlined, in it what the planned
/// sequences take solid and what is left pale. Names stand in their parts where there is room; a part too thin to see
/// is still 2 px. Parts that are less than nothing are not drawn: the table says them. Only draws: all figures are the
/// estimate's.
class BudgetBar : public QWidget
{
    Q_OBJECT

public:
    explicit BudgetBar(QWidget* parent = nullptr);

    void setParts(const std::vector<BudgetPart>& parts, const QString& why);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The user clicked a part; the figure's path in the estimate.
    void figureSelected(const QString& figure);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    bool event(QEvent* event) override;

private:
    struct Part
    {
        QString id;
        QString title;
        qint64 bytes = 0;
    };
    QRect rectOf(int part) const;
    int partAt(const QPoint& point) const;
    QBrush brushOf(const Part& part) const;

    QVector<Part> m_parts;
    QString m_why;
    qint64 m_total = 0;
};

/// The swatch of a part of the budget, for tables beside the bar.
QBrush budgetBrush(const QString& id, const QPalette& palette);

} // namespace kvw::gui
