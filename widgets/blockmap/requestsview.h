// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapview.h"
#include "blockmap/requestpainter.h"
#include "blockmap/requestrows.h"

namespace kvw::gui {

/// The logical view: a row for each request, its block table along a token axis, in the colours of the pool view. The
/// bar is the group that retains everything, thin lines under it are groups with a window.
class RequestsView : public MapView
{
    Q_OBJECT

public:
    explicit RequestsView(MapState& map, QWidget* parent = nullptr);

    const RequestRows& rows() const;
    Spot spotAt(const QPoint& point) const override;
    /// Where a request's row is, in the viewport's coordinates; empty when it has none.
    QRect rowRect(std::uint32_t request) const;
    QSize sizeHint() const override;

signals:
    void titleChanged(const QString& title);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void choose(const Spot& spot) override;
    QString describe(const Spot& spot) const override;

private:
    struct Place
    {
        int row = 0; ///< index into the rows
        int top = 0; ///< in the content, without the axis
    };

    void refresh();
    void relayout();
    /// Where tokens lie in the viewport as it is now.
    TokenAxis axis() const;
    int axisHeight() const;
    int labelWidth() const;
    std::optional<BlockRef> blockOf(const RequestRow& row, std::size_t group, double token) const;
    void paintAxis(QPainter& painter);
    void paintSections(QPainter& painter);
    void paintFocus(QPainter& painter);
    void moveRow(int by, bool sameBlock);
    void moveBlock(int by);

    RequestRows m_rows;
    QVector<Place> m_places;
    QVector<int> m_sectionTops;
    int m_rowHeight = 20;
    int m_height = 0;
};

} // namespace kvw::gui
