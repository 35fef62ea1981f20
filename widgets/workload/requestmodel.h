// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "workload/request.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <memory>

namespace kvw::gui {

/// The requests of a workload, in order of arrival; only for reading.
class RequestModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column { Number, TenantName, Arrival, Prompt, PromptTokens, OutputTokens, Priority, ColumnCount };

    explicit RequestModel(QObject* parent = nullptr);

    /// Shows `workload`, which stays unchanged as long as it is shown; null shows nothing.
    /// `tenants`: what the workload's tenants are called, in their order; ids where there is nothing.
    void setWorkload(std::shared_ptr<const Workload> workload, const QStringList& tenants = {});
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    QString text(const Request& request, int column) const;

    std::shared_ptr<const Workload> m_workload;
    QStringList m_tenants;
};

} // namespace kvw::gui
