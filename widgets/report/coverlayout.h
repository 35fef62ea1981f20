// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"

namespace kvw::gui {

/// The first page: title, five figures, identity, what is loaded, what the document rests on, and "Read first" in a
/// frame at its foot. Goes on to a second sheet when the facts are many; the frame stays on the first.
std::vector<ReportSheet> layOutCover(const Document& document, const PageGeometry& page, const ReportFonts& fonts);

} // namespace kvw::gui
