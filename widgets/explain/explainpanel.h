// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "explain/explanationsource.h"

#include <QHash>
#include <QVector>
#include <QWidget>

class QLabel;
class QPushButton;
class QTreeWidget;
class QTreeWidgetItem;

namespace kvw::gui {

class FormulaView;

/// How the selected number came about: value, what it is, formula in words and numbers, inputs with their sources, what
/// it excludes; for what is counted or measured, from which events or by which instrument, and the rule of a verdict.
/// Follows the selection, and the document: after an edit the same figure is shown anew. A pinned figure stays above,
/// while another opens below it, to compare.
class ExplainPanel : public QWidget
{
    Q_OBJECT

public:
    explicit ExplainPanel(PlanDocument& document, QWidget* parent = nullptr);

    /// Figures that are not the estimate's are asked of `source`, which must outlive the panel's use of it.
    void addSource(const ExplanationSource* source);
    /// Shows the figure at `path` ("engine.blocks"), or the field of the plan ("plan.limits.maxModelLen"); an unknown
    /// or empty path shows how to use the panel.
    void showFigure(const QString& path);
    /// Asks for the explanation of what is shown again.
    void refresh();
    QString figure() const;
    /// The figure that stays above; empty when none is pinned.
    QString pinnedFigure() const;
    bool isPinned() const;
    void setPinned(bool pinned);
    /// Puts the focus on the inputs, or on the panel when it shows none.
    void focusInputs();

signals:
    /// The user wants to edit the input at this plan field.
    void goToField(const QString& path);

protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void refreshPinned();
    std::optional<Explanation> explanationOf(const QString& path) const;
    void showHead(const Explanation& explanation);
    void showFormula(const Derivation& node);
    void fill(QTreeWidgetItem* parent, const Derivation& node);
    void fillBelow(QTreeWidgetItem* item);
    void fitNumbers(); ///< the inputs' second column as wide as what it shows
    void copyText() const;
    void goToInput();

    PlanDocument& m_document;
    QVector<const ExplanationSource*> m_sources;
    QString m_figure;
    QString m_pinned;
    QLabel* m_pinnedText;
    QLabel* m_title;
    QLabel* m_value;
    QLabel* m_kind;
    QLabel* m_facts;
    FormulaView* m_formula;
    QTreeWidget* m_inputs;
    QHash<QTreeWidgetItem*, Derivation> m_folded; // items whose inputs are filled in when they are opened
    bool m_stale = false; // something changed while the panel was hidden
    QLabel* m_excludes;
    QPushButton* m_copy;
    QPushButton* m_pin;
    QPushButton* m_go;
    QWidget* m_space = nullptr;
};

} // namespace kvw::gui
