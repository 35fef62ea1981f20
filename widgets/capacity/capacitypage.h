// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "capacity/capacitymap.h"
#include "explain/explanationsource.h"
#include "shell/page.h"

#include <vector>

class QLabel;
class QPushButton;

namespace kvw::gui {

class BudgetView;
class CellTableModel;
class PlanDocument;
class PlotView;
class TableView;

/// How many sequences of which length fit, and what sets the limit. Every figure is core's, for each length by the
/// engine's own rules.
class CapacityPage : public Page, public ExplanationSource
{
    Q_OBJECT

public:
    explicit CapacityPage(PlanDocument& document, QWidget* parent = nullptr);

    QStringList fieldPrefixes() const override;
    std::optional<Explanation> explanationOf(const QString& figure) const override;
    CapacityMap& map();
    /// Makes the chosen length and sequences the plan's, as one undo step.
    void useAsPlan();

protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeMap();
    QWidget* makeTable();
    QWidget* makeLower();
    void planChanged();
    void refresh();
    void refreshMap();
    void refreshTable();
    void refreshReasons();
    void refreshBytes();
    void refreshSelection();

    PlanDocument& m_document;
    QPushButton* m_use;
    CapacityMap* m_map;
    QLabel* m_mapNote;
    QLabel* m_chosen;
    CellTableModel* m_model;
    TableView* m_table;
    QLabel* m_reasons;
    BudgetView* m_budget;
    QLabel* m_budgetNote;
    PlotView* m_bytes;
    std::vector<LengthCapacity> m_lengths; ///< rows of the table
    bool m_dirty = true;
};

} // namespace kvw::gui
