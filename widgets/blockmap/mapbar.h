// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QWidget>

class QButtonGroup;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;

namespace kvw::gui {

class PoolView;

/// The line over the two pictures: colouring, filters, what the pointer is on, search, zoom.
class MapBar : public QWidget
{
    Q_OBJECT

public:
    MapBar(MapState& map, PoolView& pool, QWidget* parent = nullptr);

    /// The colouring with this number, as the keys 1 … 6 have it.
    void chooseColouring(Colouring colouring);

signals:
    /// What was looked for is not in the map.
    void notFound(const QString& text);

private:
    void addColours(QHBoxLayout& layout);
    void addFilters(QHBoxLayout& layout);
    void addSearch(QHBoxLayout& layout);
    void addZoom(QHBoxLayout& layout, PoolView& pool);
    void refreshFilters();
    void refreshHover();

    MapState& m_map;
    QButtonGroup* m_colours;
    QComboBox* m_tenants;
    QComboBox* m_groups;
    QLabel* m_hover;
    QLineEdit* m_search;
};

} // namespace kvw::gui
