// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "shell/page.h"

class QLabel;
class QTableWidget;

namespace kvw::gui {

class FieldForm;
class PlanDocument;
class PlotView;

/// On what hardware and by which engine's rules, and what is left for state.
class DeploymentPage : public Page
{
    Q_OBJECT

public:
    explicit DeploymentPage(PlanDocument& document, QWidget* parent = nullptr);

    QStringList fieldPrefixes() const override;
    bool showField(const QString& path) override;

private:
    void refresh();

    PlanDocument& m_document;
    QVector<FieldForm*> m_forms;
    PlotView* m_budget;
    QTableWidget* m_figures;
    QLabel* m_note;
};

} // namespace kvw::gui
