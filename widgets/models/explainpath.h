// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "models/roles.h"

#include <QModelIndex>
#include <QString>

namespace kvw::gui {

/// What Explain shows for a field of the plan.
inline QString fieldPath(const QString& field)
{
    return field.isEmpty() ? QString() : QStringLiteral("plan.") + field;
}

/// What Explain shows for a cell: its figure, else the field that it edits; empty for neither.
inline QString explainPath(const QModelIndex& index)
{
    const QString figure = index.data(FigureRole).toString();
    return figure.isEmpty() ? fieldPath(index.data(FieldRole).toString()) : figure;
}

} // namespace kvw::gui
