// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "workload/requestmodel.h"

#include "models/numbertext.h"
#include "models/roles.h"

#include <QStringList>

namespace kvw::gui {

namespace {

std::int64_t numberOf(const Request& request, int column)
{
    switch (column) {
    case RequestModel::Number:
        return request.id;
    case RequestModel::Arrival:
        return request.arrivalStep;
    case RequestModel::PromptTokens:
        return request.promptTokens();
    case RequestModel::OutputTokens:
        return request.outputTokens;
    default:
        return request.priority;
    }
}

bool isNumber(int column)
{
    return column != RequestModel::TenantName && column != RequestModel::Prompt;
}

} // namespace

RequestModel::RequestModel(QObject* parent)
    : QAbstractTableModel(parent)
{}

void RequestModel::setWorkload(std::shared_ptr<const Workload> workload, const QStringList& tenants)
{
    beginResetModel();
    m_workload = std::move(workload);
    m_tenants = tenants;
    endResetModel();
}

int RequestModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() || !m_workload ? 0 : static_cast<int>(m_workload->requests.size());
}

int RequestModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QString RequestModel::text(const Request& request, int column) const
{
    if (column == TenantName && request.tenant < m_tenants.size())
        return m_tenants[request.tenant];
    if (column == TenantName)
        return QString::fromStdString(m_workload->tenants[request.tenant]);
    if (column == Prompt) {
        // Runs in order; the last nine digits tell streams of one workload apart.
        QStringList runs;
        for (const TokenRun& run : request.prompt)
            runs.push_back(tr("%1 × %2").arg(
                countText(static_cast<std::int64_t>(run.count)), QString::number(run.stream, 16).right(9)));
        return runs.join(QStringLiteral(" + "));
    }
    return countText(numberOf(request, column));
}

QVariant RequestModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid() || !m_workload)
        return {};
    const Request& request = m_workload->requests[static_cast<std::size_t>(index.row())];
    switch (role) {
    case Qt::DisplayRole:
    case ExactRole:
        return text(request, index.column());
    case Qt::TextAlignmentRole:
        return static_cast<int>((isNumber(index.column()) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::AccessibleTextRole:
        return headerData(index.column(), Qt::Horizontal).toString() + QLatin1Char(' ') + text(request, index.column());
    case SortRole:
        return isNumber(index.column()) ? QVariant(static_cast<double>(numberOf(request, index.column()))) : QVariant();
    case RawRole:
        return isNumber(index.column()) ? QString::number(numberOf(request, index.column())) : QString();
    default:
        return {};
    }
}

QVariant RequestModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    static const char* const titles[] {QT_TR_NOOP("Request"), QT_TR_NOOP("Tenant"), QT_TR_NOOP("Arrives at step"),
        QT_TR_NOOP("Prompt: tokens × stream"), QT_TR_NOOP("Prompt tokens"), QT_TR_NOOP("Output tokens"),
        QT_TR_NOOP("Priority")};
    if (orientation != Qt::Horizontal || section < 0 || section >= ColumnCount)
        return {};
    if (role == Qt::DisplayRole)
        return tr(titles[section]);
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            (isNumber(section) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter | Qt::TextWordWrap);
    return {};
}

} // namespace kvw::gui
