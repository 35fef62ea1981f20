// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QPixmap>
#include <QTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QToolButton;

namespace kvw::gui {

/// The area of states over steps with a handle, and lanes of evictions and preemptions under it.
class TimeChart : public QWidget
{
    Q_OBJECT

public:
    explicit TimeChart(MapState& map, QWidget* parent = nullptr);

    std::uint32_t stepAt(int x) const;
    int xOf(std::uint32_t step) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QRect plotRect() const;
    void render();
    void renderLanes(QPainter& painter, const QRect& area);

    MapState& m_map;
    QPixmap m_cache;
    bool m_dirty = true;
};

/// Play, step to the next event of a kind, speed, and the chart.
class TimeStrip : public QWidget
{
    Q_OBJECT

public:
    explicit TimeStrip(MapState& map, QWidget* parent = nullptr);

    bool isPlaying() const;
    void setPlaying(bool playing);
    /// To the next (previous) step with an event of the chosen kind.
    void goToEvent(bool forward);

private:
    void tick();
    void refresh();
    EventKind kind() const;

    MapState& m_map;
    QToolButton* m_previous;
    QToolButton* m_play;
    QToolButton* m_next;
    QComboBox* m_kind;
    QComboBox* m_speed;
    QLabel* m_label;
    TimeChart* m_chart;
    QTimer m_timer;
    double m_owed = 0; ///< steps that playing still has to go
};

} // namespace kvw::gui
