// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "plot/plotview.h"
#include "serving/run_record.h"
#include "serving/run_setup.h"
#include "style/tokens.h"

#include <QString>

#include <vector>

namespace kvw::gui {

/// Blocks by state after each step as areas one on another, up to the whole pool: active, cached, free, and held where
/// any is. Colours and pattern are those of the block map; of many samples those are shown that the printed figure
/// shows too.
QVector<PlotSeries> stateSeries(const std::vector<StepSample>& samples, const PoolLayout& layout, const Tokens& tokens);
/// "256, 1 of them held": the blocks of all pools, which the areas add up to.
QString poolBlocksText(const PoolLayout& layout);

} // namespace kvw::gui
