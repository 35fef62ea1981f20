// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "models/celltablemodel.h"
#include "plan/plan.h"
#include "serving/run_record.h"

#include <QString>

#include <functional>

namespace kvw::gui {

// The tables of the prediction page, from a run's record.

/// What a tenant is called, by its id.
using TenantText = std::function<QString(const std::string& id)>;
/// Its name in `plan`, where it has one. `plan` outlives what is given.
TenantText tenantTextOf(const Plan& plan);

QStringList requestHeaders();
QStringList requestHeaderTips();
/// One row a request, in the order of their ids.
QVector<QVector<Cell>> requestRows(const RunRecord& record, const TenantText& tenantText);

QStringList tenantHeaders();
/// One row a tenant: prefix hits, and why the others' first tokens were not served.
QVector<QVector<Cell>> tenantRows(const RunRecord& record, const TenantText& tenantText);

QStringList distributionHeaders();
/// Queue, first token, per token, end to end; cold and warm side by side.
QVector<QVector<Cell>> distributionRows(const RunRecord& record);
constexpr int distributionCount = 4;
/// The distribution that row `row` of distributionRows() is of.
StepDistribution distributionOf(const RunRecord& record, int row, bool warm);
QString distributionTitle(int row);

/// "64 offered = 64 completed + 0 rejected + 0 cancelled + 0 failed + 0 unfinished".
/// With `links` each number is one, to its figure's path.
QString outcomesText(const RunRecord& record, bool links = false);
/// Translated name of an outcome.
QString outcomeText(Outcome outcome);

} // namespace kvw::gui
