// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QMainWindow>

class QDockWidget;
class QLabel;
class QListWidget;
class QStackedWidget;

namespace kvw::gui {

class ExplainPanel;
class MessageBar;
class Page;
class ProblemsPanel;

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
    /// Pages by id, in rail order.
    QStringList pageIds() const;
    Page* page(const QString& id) const;
    void showPage(const QString& id);
    MessageBar* messageBar() const;
    ExplainPanel* explain() const;

protected:
    void closeEvent(QCloseEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void addPage(Page* page, const QString& icon);
    void addLiveProbe();
    void makeActions();
    void makeDocks();
    void makeStatusBar();
    void currentPageChanged(int row);
    void goToField(const QString& path);
    void refreshTitle();
    void refreshBadges();
    void refreshRecent();
    bool confirmDiscard();
    bool save();
    bool saveAs();
    void openDialog();

    PlanDocument m_document;
    QListWidget* m_rail;
    QStackedWidget* m_pages;
    MessageBar* m_message;
    ExplainPanel* m_explain = nullptr;
    ProblemsPanel* m_problems = nullptr;
    QDockWidget* m_explainDock = nullptr;
    QDockWidget* m_problemsDock = nullptr;
    QMenu* m_recent = nullptr;
    QLabel* m_selectionStatus = nullptr;
    QLabel* m_rulesStatus = nullptr;
    QLabel* m_savedStatus = nullptr;
};

} // namespace kvw::gui
