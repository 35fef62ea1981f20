// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

class QWidget;

namespace kvw::gui {

class PlanDocument;

/// The plan field that `widget` edits: of a form's editor, or of the current cell of a view; empty when none.
QString fieldUnder(const QWidget& widget);
/// Help on a field from the field table: title, what it means, unit, range or choices, present value and its source,
/// path for --set. Empty for a field that does not exist.
QString helpFor(const PlanDocument& document, const QString& path);
/// Help on a page: what it is for, and the keys.
QString pageHelp(const QString& name, const QString& purpose);

} // namespace kvw::gui
