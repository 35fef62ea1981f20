// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QMainWindow>
#include <QVector>

class QDockWidget;
class QLabel;
class QStackedWidget;

namespace kvw::gui {

class CommandField;
class ElidedLabel;
class ExplainPanel;
class ImportNotice;
class MessageBar;
class Page;
class PredictionRunner;
class ProblemsPanel;
class Rail;
struct Command;

/// The workbench: rail of pages, docks, menus, status bar, and the one document.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    explicit MainWindow(QWidget* parent = nullptr);
    ~MainWindow() override;

    PlanDocument& document();
    /// Opens a plan or model file; a failure is told in the message bar and changes nothing.
    bool openPath(const QString& path);
    bool saveTo(const QString& path);
    /// Opens one of the plans that come with the program ("reference"), as a plan that was never saved.
    void openExample(const QString& name);
    /// Pages by id, in rail order.
    QStringList pageIds() const;
    Page* page(const QString& id) const;
    void showPage(const QString& id);
    /// The same, and the page's main view gets the focus.
    void enterPage(const QString& id);
    MessageBar* messageBar() const;
    ExplainPanel* explain() const;
    CommandField* commandField() const;
    /// Leads to where a field of the plan is edited.
    void goToField(const QString& path);
    /// Shows a figure of the estimate in Explain, and on the page that has it.
    void goToFigure(const QString& path);

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    // mainwindow.cpp
    void addPage(Page* page, const QString& icon);
    void addLiveProbe();
    void connectStart();
    void makeActions();
    void makeDocks();
    void makeStatusBar();
    void currentPageChanged(int row);
    void refreshTitle();
    void refreshSource();
    void refreshBadges();
    bool commitPending();
    void orderTabs();

    // mainwindow_files.cpp
    void refreshRecent();
    bool confirmDiscard();
    bool confirmOverwrite();
    QString whatIsLost() const;
    bool isRunningLive() const;
    bool save();
    bool saveAs();
    void openDialog();
    void openFolderDialog();
    void openAsked(const QString& path);
    void newPlan();
    void openModel(Plan plan);
    void saveModel();

    // mainwindow_layout.cpp: what is remembered per page and size of the window
    Page* currentPage() const;
    QString layoutKey() const;
    void saveLayout();
    void restoreLayout();
    void applyDefaultDocks();
    void adaptToSize();
    void showSide();
    void refreshDockTitles();
    void openAtFittingSize();

    // mainwindow_commands.cpp
    void makeViewMenu();
    void makeCommandField();
    QVector<Command> commands();
    void addModelCommands(QVector<Command>& out);
    void toggleExplain();
    void showHelp();

    PlanDocument m_document;
    PredictionRunner* m_predictions;
    Rail* m_rail;
    QStackedWidget* m_pages;
    MessageBar* m_message;
    ImportNotice* m_imported = nullptr;
    ExplainPanel* m_explain = nullptr;
    ProblemsPanel* m_problems = nullptr;
    QDockWidget* m_explainDock = nullptr;
    QDockWidget* m_problemsDock = nullptr;
    QDockWidget* m_sideDock = nullptr; ///< the current page's own
    QStackedWidget* m_sides = nullptr;
    CommandField* m_commandField = nullptr;
    QMenu* m_recent = nullptr;
    QMenu* m_runMenu = nullptr;
    QAction* m_stop = nullptr; ///< cancels the prediction and the live run
    ElidedLabel* m_selectionStatus = nullptr;
    QLabel* m_sourceStatus = nullptr;
    QLabel* m_savedStatus = nullptr;
    QString m_layoutKey; ///< of the layout that is in force
    QWidget* m_beforeExplain = nullptr; ///< where F4 goes back to
};

} // namespace kvw::gui
