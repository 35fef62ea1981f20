// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"
#include "blockmap/requestrows.h"

#include <QAbstractScrollArea>

namespace kvw::gui {

/// The logical view: a row for each request, its block table along a token axis, in the colours of the pool view. The
/// bar is the group that retains everything, thin lines under it are groups with a window.
class RequestsView : public QAbstractScrollArea
{
    Q_OBJECT

public:
    explicit RequestsView(MapState& map, QWidget* parent = nullptr);

    const RequestRows& rows() const;
    /// What is at a point of the viewport: a request, and a block where one lies there.
    struct Spot
    {
        std::optional<std::uint32_t> request;
        std::optional<BlockRef> block;
    };
    Spot spotAt(const QPoint& point) const;
    /// Where a request's row is, in the viewport's coordinates; empty when it has none.
    QRect rowRect(std::uint32_t request) const;
    QSize sizeHint() const override;

signals:
    void titleChanged(const QString& title);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Place
    {
        int row = 0; ///< index into the rows
        int top = 0; ///< in the content, without the axis
    };

    void refresh();
    void relayout();
    double xOf(std::int64_t token) const;
    int axisHeight() const;
    int labelWidth() const;
    void paintAxis(QPainter& painter);
    void paintSections(QPainter& painter);
    void paintRow(QPainter& painter, const RequestRow& row, const QRect& rect);
    void paintTable(QPainter& painter, const RequestRow& row, std::size_t group, const QRect& rect);
    void paintFormer(QPainter& painter, const RequestRow& row, const QRect& rect);
    void paintRun(QPainter& painter, const QRectF& rect, std::uint8_t visual);
    void paintFocus(QPainter& painter);
    void moveRow(int by, bool sameBlock);
    void moveBlock(int by);

    MapState& m_map;
    RequestRows m_rows;
    QVector<Place> m_places;
    QVector<int> m_sectionTops;
    int m_rowHeight = 20;
    int m_height = 0;
};

} // namespace kvw::gui
