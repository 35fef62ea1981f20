// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "evidence/explain.h"
#include "explain/explanationsource.h"
#include "live/evidencemodel.h"

#include <QWidget>

#include <memory>

class QLabel;
class QTableView;

namespace kvw::gui {

class PlanDocument;
struct LiveResult;
struct PreviewResult;

/// The evidence of a run: what its rows are of, how many agree, the table; before a run, what it will be compared with.
/// A figure that is selected can be explained.
class EvidencePane : public QWidget, public ExplanationSource
{
    Q_OBJECT

public:
    /// What there is to show; the first of run, reference and preview that has rows is shown.
    struct Shown
    {
        std::shared_ptr<const LiveResult> run {};
        const RunReference* reference = nullptr; ///< a run that only the plan file knows
        std::shared_ptr<const PreviewResult> preview {};
        bool running = false;
        QString ending {}; ///< how the run ended, if before its end
    };

    explicit EvidencePane(const PlanDocument& document, QWidget* parent = nullptr);

    void setShown(const Shown& shown);
    std::optional<Explanation> explanationOf(const QString& figure) const override;

signals:
    /// The user selected a figure; its path.
    void figureSelected(const QString& figure);
    /// For the status bar.
    void selectionText(const QString& text);

private:
    using Kind = EvidenceModel::Kind;
    /// What a run is called, of what plan and size it is, and its rows.
    struct Table
    {
        EvidenceContext context;
        std::vector<EvidenceRow> rows;
        std::shared_ptr<const LiveResult> run {};
        std::shared_ptr<const PreviewResult> preview {};
    };

    std::optional<Table> tableOf(const QString& run) const;
    Table ofRun(const std::shared_ptr<const LiveResult>& run) const;
    std::optional<Table> ofPreview() const;
    Table ofReference(const RunReference& reference) const;
    QString aboutText(const Shown& shown, const Table& table, Kind kind) const;
    void showCounts(const std::vector<EvidenceRow>& rows, Kind kind);
    void fitColumns();

    const PlanDocument& m_document;
    std::shared_ptr<const PreviewResult> m_preview;
    QLabel* m_about;
    QLabel* m_counts;
    EvidenceModel* m_model;
    QTableView* m_table;
    bool m_chosen = false; ///< somebody selected a row: Explain shows it
    bool m_restoring = false; // the selection is put back after a reset
};

} // namespace kvw::gui
