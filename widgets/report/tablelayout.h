// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"

namespace kvw::gui {

/// A table as boxes: heading and each row; band by band when the document parts its columns. `number`: "Table 2.1", for
/// the caption.
void addTable(Flow& flow, const Table& table, const QString& number, double width, const ReportFonts& fonts);
/// Names and values with hair lines between; `padding` above and below each. `number`: for the caption, empty where
/// there is none.
void addFacts(Flow& flow, const Facts& facts, const QString& number, double width, const ReportFonts& fonts,
    double padding = points(2.6));
/// A caption or note in small print.
FlowBox captionBox(const QString& text, double width, const ReportFonts& fonts);

} // namespace kvw::gui
