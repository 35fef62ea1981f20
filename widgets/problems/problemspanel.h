// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QStringList>
#include <QWidget>

class QToolButton;

namespace kvw::gui {

class ProblemList;

/// How many diagnostics there are, by severity.
struct ProblemCount
{
    int errors = 0;
    int warnings = 0;
    int notes = 0;

    /// "2 errors, 1 warning, 1 note"; what is 0 is left out, and nothing at all is "none".
    QString text() const;
    int total() const { return errors + warnings + notes; }
};

/// The document's diagnostics, errors first. A click, or Enter, leads to the field.
class ProblemsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit ProblemsPanel(PlanDocument& document, QWidget* parent = nullptr);

    /// The page's own fields, as prefixes of plan paths; the switch "here" shows only those.
    void setPagePrefixes(const QStringList& prefixes);
    /// "Problems here: 2 errors, 3 warnings": the dock's title.
    QString title() const;
    /// The same in as few letters as a tab has room for: "Problems 3 of 9".
    QString shortTitle() const;
    /// Selects the next (+1) or previous (−1) problem and goes to its field.
    void step(int direction);

signals:
    void goToField(const QString& path);
    void summaryChanged();

private:
    void refresh();

    PlanDocument& m_document;
    QStringList m_prefixes;
    QToolButton* m_here;
    QToolButton* m_all;
    ProblemList* m_list;
    ProblemCount m_count;
    int m_total = 0; ///< of the whole plan
};

/// Diagnostics below any of the prefixes. No prefixes: all of them.
ProblemCount countProblems(const Diagnostics& diagnostics, const QStringList& prefixes);

} // namespace kvw::gui
