// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"

namespace kvw::gui {

/// A figure over the full width, its caption below. `number`: "Figure 2.1"; the caption starts with the figure's title
/// where that is not the section's.
void addFigure(Flow& flow, const Figure& figure, const std::string& section, const QString& number, double width,
    const ReportFonts& fonts);

} // namespace kvw::gui
