// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "estimate/estimate.h"

#include <QString>
#include <QVector>
#include <QWidget>

namespace kvw::gui {

/// The way from ideal need to engine need as a waterfall on one axis from 0: the ideal need solid, each named
/// difference hatched and floating, the engine need pale with an outline, the pool as a thick line. Names on the left,
/// exact-to-the- byte amounts on the right. A step thinner than 2 px is drawn as 2 px with a triangle beside it. Only
/// draws: all figures are the estimate's.
class BridgeView : public QWidget
{
    Q_OBJECT

public:
    explicit BridgeView(QWidget* parent = nullptr);

    /// Null shows nothing but `why`.
    void setEstimate(const Estimate* estimate, const QString& why);
    /// Names of the steps that are 0 and so have no row.
    QStringList zeroSteps() const;
    /// Bytes by row, as drawn: for tests and accessibility.
    QVector<std::pair<QString, qint64>> rows() const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The user selected a step; the figure's path in the estimate.
    void figureSelected(const QString& figure);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    enum Kind { Ideal, Step, Engine };
    struct Row
    {
        QString name;
        QString figure;
        Kind kind = Step;
        qint64 from = 0; ///< bytes
        qint64 to = 0;
    };
    struct Frame;

    Frame frame() const;
    void paintRow(QPainter& painter, const Frame& frame, int row) const;
    void paintAxis(QPainter& painter, const Frame& frame) const;
    void select(int row);

    QVector<Row> m_rows;
    QStringList m_zero;
    qint64 m_pool = 0; ///< bytes on all ranks; 0: none
    QString m_why;
    int m_current = -1;
};

} // namespace kvw::gui
