// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QColor>
#include <QString>
#include <QVector>
#include <QWidget>

#include <memory>

namespace kvw::gui {

/// One line or area of a plot.
struct PlotSeries
{
    QString name;
    QVector<double> x;
    QVector<double> y;
    QColor color;
    Qt::PenStyle style = Qt::SolidLine;
    bool filled = false; ///< area down to the series before it, or to 0
    Qt::BrushStyle pattern = Qt::SolidPattern;
    bool step = false; ///< steps instead of slopes
    QColor patternColor {}; ///< filled: lines of the pattern over an area of `color`; invalid: the pattern alone
};

/// A horizontal or vertical limit: dashed, with its name on it.
struct PlotLimit
{
    QString name;
    double value = 0;
    bool vertical = false;
    bool solid = false; ///< a reading, not a limit
};

/// One bar of a bar chart, made of parts one on another (or side by side from left to right).
struct PlotBar
{
    QString name;
    struct Part
    {
        QString name;
        double from = 0;
        double to = 0;
        QColor color;
        Qt::BrushStyle pattern = Qt::SolidPattern;
        QString label {}; ///< written into the part where it is wide enough
    };
    QVector<Part> parts;
};

/// The workbench's one way to plot: QCustomPlot with its axes, grids and colours as the rules say, light and dark.
/// Nothing else includes QCustomPlot. Axes start at 0.
class PlotView : public QWidget
{
    Q_OBJECT

public:
    explicit PlotView(QWidget* parent = nullptr);
    ~PlotView() override;

    void setAxisTitles(const QString& x, const QString& y);
    /// Stacked from the first on when filled.
    void setSeries(const QVector<PlotSeries>& series, const QVector<PlotLimit>& limits = {});
    /// Horizontal bars, the first on top.
    void setBars(const QVector<PlotBar>& bars, const QVector<PlotLimit>& limits = {});
    void clear();
    /// What stands in the place of axes while there is nothing to plot: one sentence.
    void setEmptyText(const QString& text);
    /// What is plotted as text, for accessibility and tests: names of series or bars.
    QStringList names() const;
    /// Paints the plot as vectors into `rect` of `painter` (a PDF): light colours.
    void renderTo(QPainter& painter, const QRect& rect);

    QSize sizeHint() const override;

protected:
    void changeEvent(QEvent* event) override;

private:
    void placeNames();

    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace kvw::gui
