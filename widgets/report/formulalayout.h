// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"

namespace kvw::gui {

/// Formulas as a table: number, figure, formula with its inputs, result.
void addFormulas(Flow& flow, const std::vector<const Formula*>& formulas, double width, const ReportFonts& fonts);

} // namespace kvw::gui
