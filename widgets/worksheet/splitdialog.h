// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QDialog>

class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace kvw::gui {

/// Asks how many layers of a group, or which, go into a second group; half of them to begin with. Shown with show(): it
/// blocks nothing, follows the plan, and goes when its group is gone.
class SplitDialog : public QDialog
{
    Q_OBJECT

public:
    SplitDialog(PlanDocument& document, const QString& group, QWidget* parent);

    void accept() override;

signals:
    /// It was split: the id of the second group.
    void groupReady(const QString& second);
    void refused(const QString& why);

private:
    Result<std::string> split(Plan& plan) const;
    void countChanged(int count);
    void refresh();

    PlanDocument& m_document;
    QString m_group;
    QSpinBox* m_count;
    QLineEdit* m_which; ///< hidden where the group does not say which layers it has
    QLabel* m_outcome;
    QPushButton* m_split;
};

} // namespace kvw::gui
