// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "shell/page.h"

#include <QTimer>

class QLabel;
class QScrollArea;
class QSplitter;

namespace kvw::gui {

class BridgeView;
class ElidedLabel;
class FieldForm;
class IdentityPanel;
class PlanDocument;
class PlotView;
class RowActions;
class StartPanel;
class WorksheetModel;
class WorksheetView;

/// What attention holds, group by group, and what the engine will reserve for it.
class WorksheetPage : public Page
{
    Q_OBJECT

public:
    explicit WorksheetPage(PlanDocument& document, QWidget* parent = nullptr);

    QStringList fieldPrefixes() const override;
    bool showField(const QString& path) override;
    bool showFigure(const QString& path) override;
    QWidget* side() const override;
    QString sideTitle() const override;

    /// What can be done with the rows of the table.
    RowActions* rowActions() const;

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void makeSide();
    void makeActions();
    QWidget* makeLower();
    void refresh();
    void refreshHeader();
    void refreshBridge();
    void refreshSequence();
    void selectionChanged();
    void tellSelection();
    void showRowFields();
    void refreshStart();
    void shareHeight();

    PlanDocument& m_document;
    StartPanel* m_start; ///< in the place of everything while the worksheet is empty
    IdentityPanel* m_identity;
    WorksheetModel* m_model;
    WorksheetView* m_view;
    RowActions* m_rows = nullptr;
    QLabel* m_excludes;
    ElidedLabel* m_bridgeAbout;
    BridgeView* m_bridge;
    QLabel* m_bridgeNote;
    ElidedLabel* m_sequenceAbout;
    PlotView* m_sequence;
    QSplitter* m_split;
    QScrollArea* m_side;
    QLabel* m_rowTitle;
    QWidget* m_rowPlace;
    FieldForm* m_rowForm = nullptr;
    FieldForm* m_planForm = nullptr;
    QString m_rowElement;
    QString m_keptElement; ///< the current row while the table is made anew
    int m_keptColumn = 0;
    bool m_splitByUser = false;
    QTimer m_sequenceTimer; // the curve waits until edits pause
};

} // namespace kvw::gui
