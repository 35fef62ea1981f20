// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QString>

namespace kvw::gui {

/// A line of the legend in words: "Shared", "A acme, cached", "D1 group-1: acme, birch", "4–15 steps".
QString legendName(const MapState& map, const LegendCount& line);
/// What the line counts, as a sentence without its full stop.
QString legendNote(const MapState& map, const LegendCount& line);
/// "Legend: age, steps since allocated".
QString legendTitle(Colouring colouring);

} // namespace kvw::gui
