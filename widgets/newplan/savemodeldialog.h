// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QDialog>

class QLabel;
class QLineEdit;
class QPushButton;

namespace kvw::gui {

/// Saves the plan's model in the user's own library, under a name that is asked. Where an entry has that name already,
/// it says so and the button says "Replace". Shown with show(): it blocks nothing, and saves the plan as it is then.
class SaveModelDialog : public QDialog
{
    Q_OBJECT

public:
    SaveModelDialog(const PlanDocument& document, const QString& libraryFolder, QWidget* parent);

    void accept() override;

signals:
    /// It was saved: the file.
    void saved(const QString& file);

private:
    void refresh();
    void tell(const QString& text, bool wrong);

    const PlanDocument& m_document;
    QString m_folder;
    QLineEdit* m_name;
    QLabel* m_about;
    QPushButton* m_save;
    bool m_replaces = false; ///< the button says so
};

} // namespace kvw::gui
