// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "explain/explanationsource.h"
#include "shell/page.h"

#include <QStringList>
#include <QVector>

class QAbstractItemModel;
class QLabel;
class QProgressBar;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;
class QTableView;

namespace kvw::gui {

class CellTableModel;
class PlanDocument;
class PlotView;
class PredictionHeadline;
class PredictionRunner;
class TableView;

/// What the planned engine would do with the workload, event by event: outcomes, state over steps, hits and misses by
/// tenant, latencies in steps, every request. Shows the document's prediction; marked when it is of an earlier plan.
class PredictionPage : public Page, public ExplanationSource
{
    Q_OBJECT

public:
    PredictionPage(PlanDocument& document, PredictionRunner& runner, QWidget* parent = nullptr);

    QStringList fieldPrefixes() const override;
    QString badge() const override;
    QString sourceText() const override;
    std::optional<Explanation> explanationOf(const QString& figure) const override;

signals:
    /// The user wants to see this request in the block map.
    void requestActivated(quint32 request);

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* makeCharts();
    QWidget* makeRequests();
    TableView* makeTable(QAbstractItemModel* model, const QString& name);
    void fitRows(QTableView* view, int rows);
    void refresh();
    void refreshFigures();
    void refreshPlots();
    void refreshDistribution();
    void refreshRunning();

    PlanDocument& m_document;
    PredictionRunner& m_runner;
    QPushButton* m_run;
    QProgressBar* m_progress;
    QStackedWidget* m_stack;
    QLabel* m_empty;
    PredictionHeadline* m_figures;
    QLabel* m_outcomes;
    QLabel* m_stateTitle;
    PlotView* m_state;
    CellTableModel* m_tenantModel;
    PlotView* m_hits;
    CellTableModel* m_distributionModel;
    QTableView* m_distributionView;
    QLabel* m_distributionTitle;
    PlotView* m_distribution;
    CellTableModel* m_requestModel;
    QSortFilterProxyModel* m_requestOrder;
    TableView* m_requestView;
    QLabel* m_requestTitle;
    QStringList m_names; // of tenants, as they are shown
    std::string m_shownHash; // of the plan whose prediction is shown
    QStringList m_shownFigures;
    QStringList m_before; // the same of the earlier plan that was predicted before this one
};

} // namespace kvw::gui
