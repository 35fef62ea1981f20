// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QDialog>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace kvw::gui {

class PlanDocument;

/// What holds for all plans: theme, where live runs are kept and how many, paper and author of reports. Not modal; a
/// choice is in force at once.
class SettingsDialog : public QDialog
{
    Q_OBJECT

public:
    explicit SettingsDialog(PlanDocument& document, QWidget* parent = nullptr);
    /// Shows the one dialog of `window`, making it first.
    static void open(PlanDocument& document, QWidget* window);

    /// Removes all old runs but those that are kept; how many are gone.
    int removeOldRuns();

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeLook();
    QWidget* makeRuns();
    QWidget* makeReport();
    void chooseFolder();
    void setFolder(const QString& folder);
    void refreshRuns();

    PlanDocument& m_document;
    QComboBox* m_theme;
    QLineEdit* m_folder;
    QSpinBox* m_kept;
    QLabel* m_used;
    QPushButton* m_remove;
    QComboBox* m_paper;
    QLineEdit* m_author;
};

} // namespace kvw::gui
