// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "shell/page.h"

class QLabel;
class QPlainTextEdit;

namespace kvw::gui {

class BudgetBar;
class ElidedLabel;
class FieldForm;
class FigureModel;
class PlanDocument;
class TableView;

/// On what hardware and by which engine's rules, and what is left for state.
class DeploymentPage : public Page
{
    Q_OBJECT

public:
    explicit DeploymentPage(PlanDocument& document, QWidget* parent = nullptr);

    QStringList fieldPrefixes() const override;
    bool showField(const QString& path) override;
    bool showFigure(const QString& path) override;

protected:
    void changeEvent(QEvent* event) override;

private:
    QWidget* formPane(const QString& title, QWidget* about, const QStringList& paths);
    TableView* figureTable(FigureModel* model, const QString& name);
    QWidget* makeForms();
    QWidget* makeFigures();
    QWidget* makeLaunch();
    void makeGpuPicker();
    void refresh();
    void refreshLaunch();
    void refreshBudget();

    PlanDocument& m_document;
    QVector<FieldForm*> m_forms;
    ElidedLabel* m_rules;
    ElidedLabel* m_device; ///< what the library knows of it
    FigureModel* m_figures;
    FigureModel* m_parts;
    TableView* m_figureTable;
    TableView* m_partTable;
    BudgetBar* m_bar;
    QLabel* m_note;
    QPlainTextEdit* m_launch;
    ElidedLabel* m_launchAbout;
};

} // namespace kvw::gui
