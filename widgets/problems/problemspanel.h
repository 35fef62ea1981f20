// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"

#include <QWidget>

class QCheckBox;
class QListWidget;

namespace kvw::gui {

/// The document's diagnostics, errors first. A click, or Enter, leads to the field.
class ProblemsPanel : public QWidget
{
    Q_OBJECT

public:
    explicit ProblemsPanel(PlanDocument& document, QWidget* parent = nullptr);

    /// The page's own fields, as prefixes of plan paths; the switch "here" shows only those.
    void setPagePrefixes(const QStringList& prefixes);
    /// "2 errors, 3 warnings": for the dock's title.
    QString summary() const;
    /// Selects the next (+1) or previous (−1) problem and goes to its field.
    void step(int direction);

signals:
    void goToField(const QString& path);
    void summaryChanged();

private:
    void refresh();
    void activate();

    PlanDocument& m_document;
    QStringList m_prefixes;
    QCheckBox* m_here;
    QListWidget* m_list;
    QString m_summary;
};

/// Diagnostics below any of the prefixes, by severity: how many errors and warnings.
std::pair<int, int> countProblems(const Diagnostics& diagnostics, const QStringList& prefixes);

} // namespace kvw::gui
