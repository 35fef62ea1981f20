// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "plan/group_presets.h"

#include <QDialog>
#include <QVector>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace kvw::gui {

/// Asks for a preset and its numbers, and shows what the group would keep. A number starts with what the group's
/// tensors say; a usual value is marked as assumed. Shown with show(): it blocks nothing, follows the plan, and goes
/// when its group is gone.
class RetypeDialog : public QDialog
{
    Q_OBJECT

public:
    RetypeDialog(PlanDocument& document, const QString& group, QWidget* parent);

    void accept() override;

signals:
    /// It was retyped: the group's id.
    void groupReady(const QString& group);
    void refused(const QString& why);

private:
    struct Row
    {
        QLineEdit* editor = nullptr;
        QLabel* note = nullptr; ///< where the number comes from
    };

    const GroupPreset& preset() const;
    Result<Retyping> retyping() const;
    void presetChanged();
    void refresh();

    PlanDocument& m_document;
    QString m_group;
    QComboBox* m_presets;
    QLabel* m_keeps;
    QFormLayout* m_form;
    QVector<Row> m_rows;
    QComboBox* m_reads = nullptr; ///< of a preset that reads another group
    QLabel* m_outcome;
    QPushButton* m_retype;
};

} // namespace kvw::gui
