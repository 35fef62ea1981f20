// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "shell/page.h"

class QLabel;
class QLineEdit;

namespace kvw::gui {

class ElidedLabel;
class FieldForm;
class PlanDocument;
class PlotView;
class RequestModel;
class TableView;
class WorkloadPreview;

/// What arrives: lengths, sharing, tenants, times; and a preview of exactly what a prediction would run.
class WorkloadPage : public Page
{
    Q_OBJECT

public:
    explicit WorkloadPage(PlanDocument& document, QWidget* parent = nullptr);

    bool isBusy() const override;
    QStringList fieldPrefixes() const override;
    bool showField(const QString& path) override;

protected:
    void showEvent(QShowEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* makePreview();
    QWidget* makeFields();
    void planChanged();
    void refresh();

    PlanDocument& m_document;
    WorkloadPreview* m_preview;
    FieldForm* m_form;
    PlotView* m_prompts;
    PlotView* m_outputs;
    PlotView* m_arrivals;
    ElidedLabel* m_promptsAbout;
    ElidedLabel* m_outputsAbout;
    ElidedLabel* m_arrivalsAbout;
    QLabel* m_sharing;
    RequestModel* m_requests;
    TableView* m_table;
    ElidedLabel* m_tableAbout;
    QLineEdit* m_digest;
    bool m_stale = true; // the plan changed while the page was hidden
};

} // namespace kvw::gui
