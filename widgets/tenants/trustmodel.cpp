// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tenants/trustmodel.h"

#include "models/numbertext.h"

#include <utility>

namespace kvw::gui {

QString tenantLetter(int position)
{
    const QString letter(QChar(u'A' + position % 26));
    return position < 26 ? letter : letter + QString::number(position / 26 + 1);
}

TrustModel::TrustModel(PlanDocument& document, QObject* parent)
    : QAbstractTableModel(parent)
    , m_document(document)
{
    connect(&document, &PlanDocument::planChanged, this, &TrustModel::rebuild);
    rebuild();
}

void TrustModel::rebuild()
{
    const Plan& plan = m_document.plan();
    std::vector<QString> names;
    std::vector<QString> groups;
    std::vector<bool> unenforced;
    for (const Tenant& tenant : plan.tenants) {
        names.push_back(QString::fromStdString(tenant.name.empty() ? tenant.id : tenant.name));
        groups.push_back(QString::fromStdString(tenant.sharingGroup));
        unenforced.push_back(tenant.identitySource == IdentitySource::ClientField
            || tenant.identitySource == IdentitySource::None || tenant.saltSource == SaltSource::Client
            || tenant.saltSource == SaltSource::None);
    }
    const bool sameSize = names.size() == m_names.size();
    if (!sameSize)
        beginResetModel();
    m_trust = trustMatrix(plan);
    m_names = std::move(names);
    m_groups = std::move(groups);
    m_unenforced = std::move(unenforced);
    if (!sameSize) {
        endResetModel();
    } else if (!m_names.empty()) {
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
        emit headerDataChanged(Qt::Vertical, 0, rowCount() - 1);
        emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    }
}

int TrustModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_names.size());
}

int TrustModel::columnCount(const QModelIndex& parent) const
{
    return rowCount(parent);
}

QVariant TrustModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const auto column = static_cast<std::size_t>(index.column());
    const Trust trust = m_trust[row][column];
    switch (role) {
    case Qt::DisplayRole:
        return trust == Trust::Own ? tr("own") : trust == Trust::Group ? m_groups[row] : QStringLiteral("–");
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignCenter);
    case TrustRole:
        return static_cast<int>(trust);
    case UnenforcedRole:
        return trust == Trust::Never && m_unenforced[row];
    case Qt::ToolTipRole:
    case Qt::AccessibleTextRole:
    case SentenceRole: {
        QString text = trust == Trust::Own ? tr("%1 may hit what it stored itself.").arg(m_names[row])
            : trust == Trust::Group
            ? tr("%1 may hit what %2 stored: both are in %3.").arg(m_names[row], m_names[column], m_groups[row])
            : tr("No request of %1 may hit a block stored for %2.").arg(m_names[row], m_names[column]);
        if (trust == Trust::Never && m_unenforced[row])
            text += QLatin1Char(' ')
                + tr("Stated, not enforced: %1 can be taken for another tenant (see the findings).").arg(m_names[row]);
        return text;
    }
    default:
        return {};
    }
}

QVariant TrustModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (section < 0 || section >= rowCount())
        return {};
    const QString& name = m_names[static_cast<std::size_t>(section)];
    if (role == Qt::ToolTipRole)
        return name;
    if (role != Qt::DisplayRole)
        return {};
    const QString letter = tenantLetter(section);
    return orientation == Qt::Horizontal ? letter : letter + QStringLiteral("  ") + name;
}

void TrustModel::toggle(const QModelIndex& index)
{
    if (!index.isValid() || index.row() == index.column())
        return;
    const auto row = static_cast<std::size_t>(index.row());
    const auto column = static_cast<std::size_t>(index.column());
    const bool share = m_trust[row][column] == Trust::Never;
    if (m_last && m_last->row == row && m_last->column == column && m_last->hash == m_document.hash()) {
        takeBack(*std::exchange(m_last, std::nullopt));
        return;
    }
    Plan changed = m_document.plan();
    const QString what = QString::fromStdString(setTrust(changed, row, column, share));
    Change change {row, column, m_document.plan().tenants, m_document.plan().provenance, {}};
    m_document.edit(what, [&](Plan& plan) { setTrust(plan, row, column, share); });
    change.hash = m_document.hash();
    m_last = std::move(change);
}

/// Names of sharing groups and sources too, which joining and leaving alone would not bring back.
void TrustModel::takeBack(const Change& change)
{
    const QString what = tr("%1 and %2 as before").arg(m_names[change.row], m_names[change.column]);
    m_document.edit(what, [&](Plan& plan) {
        plan.tenants = change.before;
        plan.provenance.removeBelow("tenants");
        for (const auto& [path, source] : change.sources.entries()) {
            if (path.starts_with("tenants."))
                plan.provenance.set(path, *source);
        }
    });
}

} // namespace kvw::gui
