// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QTableView>

namespace kvw::gui {

class TrustModel;

/// The trust matrix: a click or Space changes the cell. Own is dark, a group tinted with lines of the group's colour,
/// never a dash; a red corner where the policy is stated but not enforced.
class TrustView : public QTableView
{
    Q_OBJECT

public:
    explicit TrustView(TrustModel& model, QWidget* parent = nullptr);

protected:
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void fit();

    TrustModel& m_model;
};

} // namespace kvw::gui
