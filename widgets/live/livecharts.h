// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "worker/runstory.h"

#include <QWidget>

#include <memory>

class QLabel;

namespace kvw::gui {

class PlotView;

/// A plot under its title; while there is nothing to plot, a sentence in its place says why.
class LiveChart : public QWidget
{
    Q_OBJECT

public:
    explicit LiveChart(QWidget* parent = nullptr);

protected:
    void setTitle(const QString& title);
    /// Shows the sentence instead of the plot.
    void showSentence(const QString& sentence);
    PlotView* showPlot();

private:
    QLabel* m_title;
    PlotView* m_plot;
    QLabel* m_sentence;
};

/// Blocks by state over the steps of a run, up to where the prediction ends.
class BlocksChart final : public LiveChart
{
    Q_OBJECT

public:
    explicit BlocksChart(QWidget* parent = nullptr);
    /// Either may be null: no run yet; a run of which nothing but its result is known.
    void setRun(const LiveResult* run, const RunProgress* progress);
};

/// Append and read-back rate of a run beside what this machine's memory did in the same run.
class RatesChart final : public LiveChart
{
    Q_OBJECT

public:
    explicit RatesChart(QWidget* parent = nullptr);
    void setRun(const LiveResult* run, const RunProgress* progress);
};

} // namespace kvw::gui
