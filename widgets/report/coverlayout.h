// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"

namespace kvw::gui {

/// The first page: title, five figures, identity, what is loaded, what the document rests on, and "Read first" in a
/// frame at its foot.
struct CoverLayout
{
    Flow flow; ///< title, figures and facts
    double top = 0; ///< of the flow on the first sheet
    double bottom = 0; ///< where it must end there
    bool fits = false; ///< the flow ends on the first sheet
    PageOps frame {}; ///< "Read first", at its place on the first sheet
};
/// Sets it as loosely as the first sheet allows.
CoverLayout layOutCover(const Document& document, const PageGeometry& page, const ReportFonts& fonts);

} // namespace kvw::gui
