// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "problems/problemspanel.h"

#include "style/tokens.h"

#include <QCheckBox>
#include <QListWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int pathRole = Qt::UserRole + 1;

bool isBelow(const QString& path, const QStringList& prefixes)
{
    return std::any_of(
        prefixes.begin(), prefixes.end(), [&](const QString& prefix) { return path.startsWith(prefix); });
}

QString glyph(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return QStringLiteral("✗");
    case Severity::Warning:
        return QStringLiteral("!");
    case Severity::Note:
        break;
    }
    return QStringLiteral("i");
}

} // namespace

std::pair<int, int> countProblems(const Diagnostics& diagnostics, const QStringList& prefixes)
{
    std::pair<int, int> out {0, 0};
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!isBelow(QString::fromStdString(diagnostic.path), prefixes))
            continue;
        out.first += diagnostic.severity == Severity::Error;
        out.second += diagnostic.severity == Severity::Warning;
    }
    return out;
}

ProblemsPanel::ProblemsPanel(PlanDocument& document, QWidget* parent)
    : QWidget(parent)
    , m_document(document)
    , m_here(new QCheckBox(tr("Only of this page"), this))
    , m_list(new QListWidget(this))
{
    setObjectName(QStringLiteral("problems"));
    m_here->setChecked(true);
    m_list->setWordWrap(true);
    m_list->setAccessibleName(tr("Problems"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 4, 8, 8);
    layout->setSpacing(4);
    layout->addWidget(m_here);
    layout->addWidget(m_list, 1);
    connect(m_here, &QCheckBox::toggled, this, &ProblemsPanel::refresh);
    connect(m_list, &QListWidget::itemClicked, this, &ProblemsPanel::activate);
    connect(m_list, &QListWidget::itemActivated, this, &ProblemsPanel::activate);
    connect(&document, &PlanDocument::planChanged, this, &ProblemsPanel::refresh);
    refresh();
}

void ProblemsPanel::setPagePrefixes(const QStringList& prefixes)
{
    m_prefixes = prefixes;
    refresh();
}

QString ProblemsPanel::summary() const
{
    return m_summary;
}

void ProblemsPanel::refresh()
{
    Diagnostics shown;
    for (const Diagnostic& diagnostic : m_document.diagnostics()) {
        if (!m_here->isChecked() || m_prefixes.isEmpty()
            || isBelow(QString::fromStdString(diagnostic.path), m_prefixes))
            shown.push_back(diagnostic);
    }
    std::stable_sort(
        shown.begin(), shown.end(), [](const Diagnostic& a, const Diagnostic& b) { return a.severity > b.severity; });
    const Tokens& tokens = tokensFor(palette());
    m_list->clear();
    int errors = 0;
    int warnings = 0;
    for (const Diagnostic& diagnostic : shown) {
        auto* item = new QListWidgetItem(
            glyph(diagnostic.severity) + QStringLiteral("  ") + QString::fromStdString(diagnostic.message), m_list);
        item->setData(pathRole, QString::fromStdString(diagnostic.path));
        item->setToolTip(QString::fromStdString(diagnostic.path));
        if (diagnostic.severity == Severity::Error)
            item->setForeground(tokens.differs);
        errors += diagnostic.severity == Severity::Error;
        warnings += diagnostic.severity == Severity::Warning;
    }
    m_summary
        = shown.empty() ? tr("none") : tr("%n error(s), ", nullptr, errors) + tr("%n warning(s)", nullptr, warnings);
    emit summaryChanged();
}

void ProblemsPanel::activate()
{
    if (const QListWidgetItem* item = m_list->currentItem())
        emit goToField(item->data(pathRole).toString());
}

void ProblemsPanel::step(int direction)
{
    const int count = m_list->count();
    if (count == 0)
        return;
    const int now = m_list->currentRow();
    m_list->setCurrentRow(now < 0 ? 0 : (now + direction + count) % count);
    activate();
}

} // namespace kvw::gui
