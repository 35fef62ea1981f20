// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "units/quantity.h"

#include <QAbstractTableModel>
#include <QBrush>
#include <QString>

#include <optional>
#include <vector>

namespace kvw::gui {

/// A list of named figures that open: title and number.
class FigureModel : public QAbstractTableModel
{
    Q_OBJECT

public:
    struct Line
    {
        QString title;
        QString figure; ///< path in the estimate
        std::optional<Quantity> quantity; ///< none: "–"
        QBrush swatch {}; ///< drawn before the title; none: Qt::NoBrush
    };

    explicit FigureModel(QObject* parent = nullptr);

    void setLines(std::vector<Line> lines);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    QModelIndex indexOfFigure(const QString& path) const;

private:
    std::vector<Line> m_lines;
};

} // namespace kvw::gui
