// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/runsmodel.h"

#include "live/livecontroller.h"
#include "models/numbertext.h"
#include "report/report_words.h"
#include "style/tokens.h"

#include <QApplication>

#include <algorithm>

namespace kvw::gui {

namespace {

QString countsText(const std::vector<EvidenceRow>& rows)
{
    const VerdictCounts counts = countVerdicts(rows);
    return QStringLiteral("✓ %1  ✗ %2").arg(counts.agrees).arg(counts.differs);
}

QString resultText(const LiveResult& run)
{
    switch (stateOf(run)) {
    case RunState::Running:
        return RunsModel::tr("… running");
    case RunState::Done:
        return countsText(run.rows);
    case RunState::Cancelled:
        return RunsModel::tr("cancelled");
    case RunState::Stopped:
        break;
    }
    return RunsModel::tr("✗ stopped");
}

} // namespace

RunsModel::RunsModel(PlanDocument& document, QObject* parent)
    : QAbstractTableModel(parent)
    , m_document(document)
    , m_entries(entries())
{
    connect(&document, &PlanDocument::runsChanged, this, &RunsModel::refresh);
    connect(&document, &PlanDocument::planChanged, this, &RunsModel::refresh);
}

std::vector<RunsModel::Entry> RunsModel::entries() const
{
    std::vector<Entry> out;
    const std::vector<std::shared_ptr<const LiveResult>>& runs = m_document.runs();
    for (const RunReference& known : m_document.plan().runs) {
        const QString id = QString::fromStdString(known.id);
        const bool here = std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return run->id == id; });
        if (here || known.kind != "live run")
            continue;
        Entry entry {id, QString::fromStdString(known.device), tr("in the plan"),
            QString::fromStdString(stampText(known.at)), known.planHash != m_document.hash(), false};
        std::vector<EvidenceSummary> stored = m_document.plan().evidence;
        std::erase_if(stored, [&](const EvidenceSummary& row) { return row.run != known.id; });
        if (!stored.empty()) {
            const std::vector<EvidenceRow> rows = rowsOf(stored);
            entry.result = countsText(rows);
            entry.differs = countVerdicts(rows).differs > 0;
        }
        out.push_back(std::move(entry));
    }
    for (const auto& run : runs) {
        const RunState state = stateOf(*run);
        Entry entry {run->id, run->device, resultText(*run), {}, m_document.isStale(*run), false};
        entry.differs = state == RunState::Stopped || countVerdicts(run->rows).differs > 0;
        if (state == RunState::Stopped || state == RunState::Cancelled)
            entry.about = run->state;
        if (!run->recordFile.isEmpty())
            entry.about
                += (entry.about.isEmpty() ? QString() : QStringLiteral("\n")) + tr("Record: %1").arg(run->recordFile);
        out.push_back(std::move(entry));
    }
    std::reverse(out.begin(), out.end());
    return out;
}

void RunsModel::refresh()
{
    std::vector<Entry> now = entries();
    if (now == m_entries)
        return;
    const bool sameIds = std::equal(now.begin(), now.end(), m_entries.begin(), m_entries.end(),
        [](const Entry& a, const Entry& b) { return a.id == b.id; });
    if (sameIds) {
        m_entries = std::move(now);
        emit dataChanged(index(0, 0), index(rowCount() - 1, ColumnCount - 1));
        return;
    }
    beginResetModel();
    m_entries = std::move(now);
    endResetModel();
}

QString RunsModel::idAt(int row) const
{
    return row >= 0 && row < rowCount() ? m_entries[static_cast<std::size_t>(row)].id : QString();
}

int RunsModel::rowOf(const QString& id) const
{
    const auto found
        = std::find_if(m_entries.begin(), m_entries.end(), [&](const Entry& entry) { return entry.id == id; });
    return found == m_entries.end() ? -1 : static_cast<int>(found - m_entries.begin());
}

int RunsModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    return section == Run ? tr("Run") : section == Device ? tr("Device") : tr("Result");
}

QVariant RunsModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Entry& entry = m_entries[static_cast<std::size_t>(index.row())];
    const Tokens& tokens = tokensFor(QApplication::palette());
    switch (role) {
    case Qt::DisplayRole:
        if (index.column() == Run)
            return runTitle(entry.id);
        if (index.column() == Device)
            return entry.device;
        return (entry.stale ? QStringLiteral("~ ") : QString()) + entry.result;
    case Qt::ToolTipRole: {
        const QString stale = entry.stale ? tr("Of an earlier plan.\n") : QString();
        return QString(stale + entry.about).trimmed();
    }
    case Qt::ForegroundRole:
        if (index.column() != ResultColumn)
            return {};
        return entry.stale ? tokens.staleText : entry.differs ? tokens.differs : tokens.text;
    default:
        return {};
    }
}

} // namespace kvw::gui
