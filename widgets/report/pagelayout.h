// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"

namespace kvw::gui {

/// A report as pages: cover, numbered sections, running heads and feet. What the PDF writes and the preview shows is
/// the same list of operations.
///
/// REQUIRES a QGuiApplication. May be called from any thread.
std::vector<ReportSheet> layOutReport(const Document& document, Paper paper, const ReportFonts& fonts);

} // namespace kvw::gui
