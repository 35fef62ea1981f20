// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "shell/page.h"

namespace kvw::gui {

class ElementModel;
class ElidedLabel;
class IsolationPane;
class PlanDocument;
class ProblemList;
class TableView;
class TrustModel;
class TrustView;

/// Who may reuse whose state, and whether the policy holds.
class TenantsPage : public Page
{
    Q_OBJECT

public:
    explicit TenantsPage(PlanDocument& document, QWidget* parent = nullptr);

    QStringList fieldPrefixes() const override;
    bool showField(const QString& path) override;
    /// Every policy, for the cost of isolation.
    void predict() override;

    /// Adds a tenant that shares with nobody; one undo step.
    void addTenant();
    /// Removes the selected tenant; one undo step.
    void removeTenant();

protected:
private:
    void makeActions();
    void refresh();
    void cellSelected();

    PlanDocument& m_document;
    ElementModel* m_tenants;
    TableView* m_table;
    TrustModel* m_trust;
    TrustView* m_matrix;
    ElidedLabel* m_sentence;
    ProblemList* m_findings;
    ElidedLabel* m_findingsAbout;
    IsolationPane* m_cost;
};

} // namespace kvw::gui
