// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"

namespace kvw::gui {

/// The pools of a block map: one grid each, blocks by number, with a legend of counts.
void addBlockFigure(Flow& flow, const Figure& figure, double width, const ReportFonts& fonts);

} // namespace kvw::gui
