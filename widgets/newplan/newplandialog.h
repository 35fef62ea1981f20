// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "plan/open_plan.h"

#include <QDialog>
#include <QStringList>

#include <optional>
#include <vector>

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;

namespace kvw {
struct LibraryModel;
}

namespace kvw::gui {

class CellTableModel;
class PlanChoices;
class TableView;

/// What a new plan starts from: a model of the library, a file, the text of a config.json that is pasted, or nothing.
/// The layer groups are seen before anything is opened. What is wrong in pasted text is selected there, and can be
/// mended. `exec()` gives Accepted when there is something to open.
class NewPlanDialog : public QDialog
{
    Q_OBJECT

public:
    /// `recent`: paths, the last one first. `libraryFolder`: of the user's own libraries.
    NewPlanDialog(const QStringList& recent, const QString& libraryFolder, QWidget* parent = nullptr);
    ~NewPlanDialog() override;

    /// The file to open; empty when it is a plan that was made here.
    QString file() const;
    /// The plan to begin with; nothing when it is a file.
    std::optional<Plan> plan() const;

    /// Where the user's own libraries lie: the folder "models" in that of the user's data, as kvw has it.
    static QString defaultLibraryFolder();

protected:
    bool eventFilter(QObject* object, QEvent* event) override;

private:
    QWidget* makePreview();
    void pasteText(const QString& text);
    void readPasted(bool typing);
    void markPlace(const std::string& text, const std::string& at, bool typing);
    void searchChanged(const QString& text);
    void showChoice(int row);
    void preview(const Result<OpenedPlan>& opened, const QString& title, const QString& from);
    void chooseFile(bool folder);

    std::vector<LibraryModel> m_own;
    PlanChoices* m_choices;
    QLineEdit* m_search;
    TableView* m_list;
    QLabel* m_title;
    QLabel* m_about;
    QPlainTextEdit* m_text; ///< that was pasted
    CellTableModel* m_groups;
    TableView* m_groupView;
    QPushButton* m_open;
    QString m_file;
    std::optional<Plan> m_plan;
};

} // namespace kvw::gui
