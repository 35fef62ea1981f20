// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QWidget>

#include <cstdint>

namespace kvw::gui {

/// A device's memory as one bar: what others use, what the run reserves, what is left, and the limit as a line.
class MemoryBar : public QWidget
{
    Q_OBJECT

public:
    explicit MemoryBar(QWidget* parent = nullptr);

    /// In bytes; a total of 0 draws an empty bar.
    void setMemory(std::int64_t total, std::int64_t available, std::int64_t run, std::int64_t limit);

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int barHeight() const;
    void paintKey(QPainter& painter) const;

    double m_used = 0; // shares of the total
    double m_run = 0;
    double m_limit = 0; // where the run would end at most
};

} // namespace kvw::gui
