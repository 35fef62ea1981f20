// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "shell/page.h"

class QLabel;
class QTreeView;

namespace kvw::gui {

class GroupedHeader;
class PlanDocument;
class PlotView;
class WorksheetModel;

/// What attention holds, group by group, and what the engine will reserve for it.
class WorksheetPage : public Page
{
    Q_OBJECT

public:
    explicit WorksheetPage(PlanDocument& document, QWidget* parent = nullptr);

    QStringList fieldPrefixes() const override;
    bool showField(const QString& path) override;

private:
    void refresh();
    void refreshHeader();
    void refreshIdentity();
    void refreshBridge();
    void refreshSequence();
    void selectionChanged();

    PlanDocument& m_document;
    QWidget* m_identity;
    QTreeView* m_view;
    GroupedHeader* m_header;
    WorksheetModel* m_model;
    QLabel* m_excludes;
    QLabel* m_bridgeTitle;
    PlotView* m_bridge;
    QLabel* m_bridgeNote;
    PlotView* m_sequence;
};

} // namespace kvw::gui
