// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"
#include "models/celltablemodel.h"

#include <QTableView>

namespace kvw::gui {

/// What the colours mean, with blocks and bytes that add up to the pools. A click on a line filters, another shows all.
class LegendView : public QTableView
{
    Q_OBJECT

public:
    explicit LegendView(MapState& map, QWidget* parent = nullptr);

    QSize sizeHint() const override;

signals:
    void titleChanged(const QString& title);

private:
    void refresh();
    QVector<Cell> line(int row) const;
    QVector<Cell> underline(
        const MapVisual* look, const QString& name, const QString& count, const QString& note) const;
    QVariant swatch(const MapVisual& look) const;

    MapState& m_map;
    CellTableModel* m_model;
};

} // namespace kvw::gui
