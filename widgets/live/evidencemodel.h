// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "evidence/reconcile.h"

#include <QAbstractTableModel>
#include <QPalette>

#include <map>
#include <string>
#include <vector>

namespace kvw::gui {

/// The evidence table: estimate, prediction and measurement of the same scaled plan side by side, with instrument,
/// tolerance and verdict. Rows that differ come first, all others in the order of the evidence.
class EvidenceModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    enum Column {
        Row,
        Estimate,
        Prediction,
        Measured,
        Instrument,
        Tolerance,
        VerdictColumn,
        ColumnCount,
    };

    /// What the table is of.
    enum class Kind {
        Expected, ///< no run yet: nothing is measured
        Running, ///< what is measured is to come
        Measured,
        Stale, ///< measured, of an earlier plan
    };

    explicit EvidenceModel(QObject* parent = nullptr);

    /// `run`: whose rows they are, for the paths of their figures; empty when they are of none. False when nothing of
    /// it is new.
    bool setRows(const std::vector<EvidenceRow>& rows, Kind kind, const QString& run = {});
    const std::vector<EvidenceRow>& rows() const;
    /// What tenants are called in the names of rows, by their ids; others keep their ids.
    void setTenantNames(std::map<std::string, std::string> names);
    /// Everything about a row in some lines: exact figures, tolerance and its reason, reason of the verdict.
    QString detail(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    const std::optional<Number>* numberAt(const EvidenceRow& row, int column) const;
    QVariant numberData(const EvidenceRow& row, int column, int role) const;
    QString verdictText(const EvidenceRow& row) const;
    QString titleOf(const EvidenceRow& row) const;
    QString figureOf(const EvidenceRow& row, int column) const;

    std::vector<EvidenceRow> m_rows;
    Kind m_kind = Kind::Expected;
    QString m_run;
    std::map<std::string, std::string> m_tenantNames;
};

/// "✓ 16 agree · ✗ 0 differ · – 4 without verdict".
QString verdictCountText(const std::vector<EvidenceRow>& rows);
/// The same as rich text, each verdict in its colour.
QString verdictCountRichText(const std::vector<EvidenceRow>& rows, const QPalette& palette);

} // namespace kvw::gui
