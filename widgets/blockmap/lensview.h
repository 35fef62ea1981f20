// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QWidget>

namespace kvw::gui {

class PoolView;

/// The blocks around the focus at a size that shows fill, tenants and tables, whatever the pool's zoom.
class LensView : public QWidget
{
    Q_OBJECT

public:
    LensView(MapState& map, const PoolView& pool, QWidget* parent = nullptr);

    std::optional<BlockRef> blockAt(const QPoint& point) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void titleChanged(const QString& title);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    struct Window
    {
        std::uint32_t pool = 0;
        std::int64_t firstRow = 0;
        int firstColumn = 0;
        int rows = 0;
        int columns = 0;
    };
    Window window() const;
    void refresh();

    MapState& m_map;
    const PoolView& m_pool;
};

} // namespace kvw::gui
