// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/blockfigure.h"

#include "models/numbertext.h"
#include "report/layoutstyle.h"
#include "units/format.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvw::gui {

namespace {

/// In the order of drawing: rare classes come last.
constexpr std::array<const char*, 5> states {"free", "private", "cached", "shared", "held"};

std::size_t indexOf(const std::string& state)
{
    return static_cast<std::size_t>(
        std::find_if(states.begin(), states.end(), [&](const char* name) { return state == name; }) - states.begin());
}

RectOp cellOp(const QRectF& rect, std::size_t state, bool pattern)
{
    const std::array<QColor, 5> fills {paperTokens().blockFree, paperTokens().blockPrivate, paperTokens().blockCached,
        paperTokens().blockShared, paperTokens().blockHeld};
    RectOp out {rect, fills[std::min<std::size_t>(state, 4)], {}, Hatch::None, {}};
    if (pattern && state == 2) {
        out.hatch = Hatch::Diagonal;
        out.hatchColor = paperTokens().blockCachedLine;
    } else if (pattern && state == 4) {
        out.hatch = Hatch::Cross;
        out.hatchColor = QColor(Qt::white);
    }
    return out;
}

/// One pool as a grid of rows. Where blocks are wide enough each has its cell; where they are not, a run of equal
/// blocks is one bar of its exact width, never thinner than what can be seen.
class PoolGrid
{
public:
    PoolGrid(const Figure::Pool& pool, double width)
        : m_pool(pool)
        , m_width(width)
    {
        for (const Figure::Run& run : pool.runs)
            m_blocks += run.blocks;
        const double mostRows = m_blocks > 6000 ? 30 : 48; // many blocks to a row: bars, not cells
        m_columns = std::max<std::int64_t>(
            64, static_cast<std::int64_t>(std::ceil(static_cast<double>(m_blocks) / mostRows)));
        // Round numbers of blocks in a row are easier to count.
        const std::int64_t round = m_columns > 1000 ? 100 : 16;
        m_columns = (m_columns + round - 1) / round * round;
        m_rows = std::max<std::int64_t>(1, (m_blocks + m_columns - 1) / m_columns);
        m_cell = m_width / static_cast<double>(m_columns);
        m_rowHeight = std::clamp(m_cell, points(5), points(10));
    }

    std::int64_t columns() const { return m_columns; }
    double height() const { return static_cast<double>(m_rows) * m_rowHeight; }

    void draw(PageOps& ops, double top) const
    {
        std::array<PageOps, states.size() + 1> layers;
        std::int64_t at = 0;
        for (const Figure::Run& run : m_pool.runs) {
            const std::size_t state = indexOf(run.state);
            for (std::int64_t left = run.blocks; left > 0;) {
                const std::int64_t column = at % m_columns;
                const std::int64_t count = std::min(left, m_columns - column);
                addRun(layers[state], top, at / m_columns, column, count, state);
                at += count;
                left -= count;
            }
        }
        for (const PageOps& layer : layers)
            ops.insert(ops.end(), layer.begin(), layer.end());
    }

private:
    void addRun(
        PageOps& ops, double top, std::int64_t row, std::int64_t column, std::int64_t count, std::size_t state) const
    {
        const double y = top + static_cast<double>(row) * m_rowHeight;
        const double gap = points(0.5);
        const double height = m_rowHeight - gap;
        const double x = static_cast<double>(column) * m_cell;
        if (m_cell < points(3)) {
            const double width = std::max(static_cast<double>(count) * m_cell, points(0.35));
            ops.emplace_back(cellOp({x, y, width, height}, state, width > points(5)));
            return;
        }
        for (std::int64_t i = 0; i < count; ++i)
            ops.emplace_back(cellOp({x + static_cast<double>(i) * m_cell, y, m_cell - gap, height}, state, true));
    }

    const Figure::Pool& m_pool;
    double m_width;
    std::int64_t m_blocks = 0;
    std::int64_t m_columns = 1;
    std::int64_t m_rows = 1;
    double m_cell = 0;
    double m_rowHeight = 0;
};

FlowBox legendBox(const Figure& figure, const ReportFonts& fonts)
{
    std::array<std::int64_t, states.size() + 1> counts {};
    for (const Figure::Pool& pool : figure.pools) {
        for (const Figure::Run& run : pool.runs)
            counts[indexOf(run.state)] += run.blocks;
    }
    FlowBox out;
    double at = 0;
    for (const std::size_t state : {3, 1, 2, 4, 0}) {
        RectOp swatch = cellOp({at, points(3), points(9), points(9)}, state, true);
        swatch.outline = paperTokens().line;
        out.ops.emplace_back(swatch);
        const QString text = QLatin1String(states[state]) + QLatin1Char(' ') + fromStd(grouped(counts[state]));
        addText(out.ops, {at + points(13), points(2) + baselineIn(TextStyle::Small, fonts)}, text, TextStyle::Small,
            paperTokens().text, fonts);
        at += fonts.width(text, TextStyle::Small) + points(28);
    }
    out.height = points(17);
    out.before = points(2);
    out.keepWithNext = true;
    return out;
}

} // namespace

void addBlockFigure(Flow& flow, const Figure& figure, double width, const ReportFonts& fonts)
{
    flow.add(legendBox(figure, fonts));
    for (const Figure::Pool& pool : figure.pools) {
        const PoolGrid grid(pool, width);
        FlowBox box;
        const QString title = fromStd(pool.title) + QStringLiteral(", ") + fromStd(grouped(grid.columns()))
            + QStringLiteral(" in a row");
        addText(
            box.ops, {0, baselineIn(TextStyle::Small, fonts)}, title, TextStyle::Small, paperTokens().dimText, fonts);
        grid.draw(box.ops, fonts.lineHeight(TextStyle::Small) + points(2));
        box.height = fonts.lineHeight(TextStyle::Small) + points(4) + grid.height();
        box.before = points(5);
        box.keepWithNext = &pool == &figure.pools.back(); // with the caption
        flow.add(std::move(box));
    }
}

} // namespace kvw::gui
