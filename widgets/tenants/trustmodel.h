// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "document/plandocument.h"
#include "serving/trust.h"

#include <QAbstractTableModel>

#include <optional>
#include <string>
#include <vector>

namespace kvw::gui {

/// Tenant × tenant: may the row hit what the column stored? As the core resolves sharing domains; a change edits groups
/// and eligibility as one undo step.
class TrustModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Role : int {
        TrustRole = Qt::UserRole + 100, ///< int, a Trust
        UnenforcedRole, ///< bool: the policy is stated, but this row's tenant can get around it
        SentenceRole, ///< QString: the cell in words
    };

    explicit TrustModel(PlanDocument& document, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

    /// Lets the row share with the column, or stops it; a cell of a tenant with itself cannot change. A second time on
    /// the same cell, with nothing edited in between, gives back the tenants as they were.
    void toggle(const QModelIndex& index);

private:
    /// What the last toggle did.
    struct Change
    {
        std::size_t row;
        std::size_t column;
        std::vector<Tenant> before;
        Provenance sources; ///< of the plan before
        std::string hash; ///< of the plan after it
    };
    void rebuild();
    void takeBack(const Change& change);

    PlanDocument& m_document;
    std::vector<std::vector<Trust>> m_trust;
    std::vector<QString> m_names;
    std::vector<QString> m_groups;
    std::vector<bool> m_unenforced; // whose identity or salt the client writes
    std::optional<Change> m_last;
};

/// "A", "B" … "Z", "A2" …: the letter of the tenant at `position`.
QString tenantLetter(int position);

} // namespace kvw::gui
