// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "plot/stateseries.h"

#include "models/numbertext.h"
#include "serving/shown_samples.h"

#include <QCoreApplication>

#include <array>

namespace kvw::gui {

namespace {

constexpr std::size_t mostColumns = 300; // a plot on a page is hardly wider than twice that

QString tr(const char* text)
{
    return QCoreApplication::translate("StateSeries", text);
}

std::int64_t heldBlocks(const PoolLayout& layout)
{
    std::int64_t out = 0;
    for (const PoolSpec& pool : layout.pools)
        out += pool.held.value;
    return out;
}

} // namespace

QVector<PlotSeries> stateSeries(const std::vector<StepSample>& samples, const PoolLayout& layout, const Tokens& tokens)
{
    const std::int64_t held = heldBlocks(layout);
    QVector<PlotSeries> out {{tr("active"), {}, {}, tokens.blockActive}, {tr("cached"), {}, {}, tokens.blockCached},
        {tr("free"), {}, {}, tokens.blockFree}};
    if (held > 0)
        out.push_back({tr("held"), {}, {}, tokens.blockHeld});
    out[1].pattern = Qt::BDiagPattern;
    out[1].patternColor = tokens.blockCachedLine;
    for (PlotSeries& one : out)
        one.filled = one.step = true;
    const std::vector<std::size_t> shown = shownSamples(
        samples.size(), mostColumns, [&](std::size_t i) { return static_cast<double>(samples[i].active); });
    for (const std::size_t i : shown) {
        const StepSample& sample = samples[i];
        const std::array values {sample.active, sample.cached, sample.free, held};
        for (qsizetype s = 0; s < out.size(); ++s) {
            out[s].x.push_back(static_cast<double>(sample.step));
            out[s].y.push_back(static_cast<double>(values[static_cast<std::size_t>(s)]));
        }
    }
    return out;
}

QString poolBlocksText(const PoolLayout& layout)
{
    std::int64_t blocks = 0;
    for (const PoolSpec& pool : layout.pools)
        blocks += pool.blocks.value;
    const std::int64_t held = heldBlocks(layout);
    return held > 0 ? tr("%1, %2 of them held").arg(countText(blocks), countText(held)) : countText(blocks);
}

} // namespace kvw::gui
