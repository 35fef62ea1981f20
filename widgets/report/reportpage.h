// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/pagepreview.h"
#include "report/reportsource.h"
#include "shell/page.h"

#include <QTimer>

class QAction;
class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;

namespace kvw::gui {

class FieldForm;
class PlanDocument;

/// What a reviewer will get: the pages of the report as they will print, and the way to the PDF.
///
/// The pages follow the document: they are laid out anew in another thread, and only while the page is in sight; older
/// ones stay until then.
class ReportPage : public Page
{
    Q_OBJECT

public:
    explicit ReportPage(PlanDocument& document, QWidget* parent = nullptr);

    QStringList fieldPrefixes() const override;
    bool showField(const QString& path) override;
    /// "stale" when the prediction in the report is of an earlier state of the plan.
    QString badge() const override;
    /// "Export PDF…", for menu and toolbar.
    QAction* exportAction() const;
    PagePreview* preview() const;
    /// Writes the PDF, in another thread; tells the outcome by message() and exported().
    void exportTo(const QString& path);
    bool isBusy() const override;

signals:
    /// An export ended. `error` is empty when the file was written.
    void exported(const QString& path, const QString& error);
    /// The preview shows the document as it is now.
    void laidOut();

protected:
    void showEvent(QShowEvent* event) override;

private:
    QWidget* makeSide(PlanDocument& document);
    QWidget* makePages();
    void markChanged();
    void rebuild();
    void showSections(const QStringList& ids, const QStringList& titles);
    ReportSource source() const;
    Paper paper() const;
    void exportDialog();

    PlanDocument& m_document;
    QListWidget* m_sections;
    QComboBox* m_paper;
    FieldForm* m_fields = nullptr;
    QLineEdit* m_search;
    QLabel* m_hint;
    PagePreview* m_preview;
    QAction* m_export;
    QTimer m_delay; ///< several changes at once make one layout
    int m_job = 0; ///< number of the newest layout; older ones are dropped when they arrive
    int m_laidOut = 0; // the job whose pages are shown
    bool m_changed = true;
};

} // namespace kvw::gui
