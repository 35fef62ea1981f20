// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "problems/problemspanel.h"

#include "models/numbertext.h"
#include "problems/problemlist.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

bool isBelow(const QString& path, const QStringList& prefixes)
{
    return prefixes.isEmpty() || std::any_of(prefixes.begin(), prefixes.end(), [&](const QString& prefix) {
        return path.startsWith(prefix);
    });
}

} // namespace

QString ProblemCount::text() const
{
    QStringList parts;
    if (errors > 0)
        parts.push_back(counted(errors, ProblemsPanel::tr("error"), ProblemsPanel::tr("errors")));
    if (warnings > 0)
        parts.push_back(counted(warnings, ProblemsPanel::tr("warning"), ProblemsPanel::tr("warnings")));
    if (notes > 0)
        parts.push_back(counted(notes, ProblemsPanel::tr("note"), ProblemsPanel::tr("notes")));
    return parts.isEmpty() ? ProblemsPanel::tr("none") : parts.join(QStringLiteral(", "));
}

ProblemCount countProblems(const Diagnostics& diagnostics, const QStringList& prefixes)
{
    ProblemCount out;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!isBelow(QString::fromStdString(diagnostic.path), prefixes))
            continue;
        out.errors += diagnostic.severity == Severity::Error;
        out.warnings += diagnostic.severity == Severity::Warning;
        out.notes += diagnostic.severity == Severity::Note;
    }
    return out;
}

ProblemsPanel::ProblemsPanel(PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_here(new QToolButton(this))
    , m_all(new QToolButton(this))
    , m_list(new ProblemList(this))
{
    setObjectName(QStringLiteral("problems"));
    auto* group = new QButtonGroup(this);
    auto* head = new QHBoxLayout;
    head->setSpacing(0);
    for (QToolButton* button : {m_here, m_all}) {
        button->setCheckable(true);
        group->addButton(button);
        head->addWidget(button);
    }
    head->addStretch(1);
    m_here->setText(tr("here"));
    m_here->setToolTip(tr("Only what this page's fields are about"));
    m_here->setChecked(true);
    m_all->setText(tr("all"));
    m_all->setToolTip(tr("Of the whole plan"));
    m_list->setAccessibleName(tr("Problems"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(4, 4, 4, 4);
    layout->setSpacing(4);
    layout->addLayout(head);
    layout->addWidget(m_list, 1);
    connect(m_here, &QToolButton::toggled, this, &ProblemsPanel::refresh);
    connect(m_list, &ProblemList::goToField, this, &ProblemsPanel::goToField);
    connect(&document, &PlanDocument::planChanged, this, &ProblemsPanel::refresh);
    refresh();
}

void ProblemsPanel::setPagePrefixes(const QStringList& prefixes)
{
    if (prefixes == m_prefixes)
        return;
    m_prefixes = prefixes;
    refresh();
}

QString ProblemsPanel::title() const
{
    if (!m_here->isChecked())
        return tr("Problems: %1").arg(m_count.text());
    return tr("Problems here: %1; %2 in the plan").arg(m_count.text()).arg(m_total);
}

QString ProblemsPanel::shortTitle() const
{
    const int shown = m_count.total();
    return shown == m_total ? tr("Problems %1").arg(m_total) : tr("Problems %1 of %2").arg(shown).arg(m_total);
}

void ProblemsPanel::refresh()
{
    Diagnostics shown;
    const QStringList prefixes = m_here->isChecked() ? m_prefixes : QStringList();
    for (const Diagnostic& diagnostic : m_document.diagnostics()) {
        if (isBelow(QString::fromStdString(diagnostic.path), prefixes))
            shown.push_back(diagnostic);
    }
    std::stable_sort(
        shown.begin(), shown.end(), [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
    m_count = countProblems(shown, {});
    m_total = static_cast<int>(m_document.diagnostics().size());
    m_here->setText(tr("here %1").arg(countProblems(m_document.diagnostics(), m_prefixes).total()));
    m_all->setText(tr("all %1").arg(m_total));
    m_list->setProblems(m_document, shown);
    emit summaryChanged();
}

void ProblemsPanel::step(int direction)
{
    if (m_count.total() == 0 && m_total > 0)
        m_all->setChecked(true); // none here: the others then
    m_list->step(direction);
}

} // namespace kvw::gui
