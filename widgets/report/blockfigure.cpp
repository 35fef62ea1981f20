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
constexpr std::array<const char*, 5> states {"free", "private tail", "cached", "shared", "held"};

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

/// Cells of one size for all pools, as wide as the column allows.
constexpr std::int64_t cellColumns = 192;
constexpr std::int64_t mostRows = 36;

/// How many blocks a cell stands for: 1 as long as the pool has room, then a round number.
std::int64_t blocksOfCell(std::int64_t blocks)
{
    for (std::int64_t power = 1;; power *= 10) {
        for (const std::int64_t factor : {1, 2, 4, 5, 8}) {
            if (blocks <= factor * power * cellColumns * mostRows)
                return factor * power;
        }
    }
}

/// One pool as a grid of cells. A cell of several blocks is parted by the shares of their states.
class PoolGrid
{
public:
    PoolGrid(const Figure::Pool& pool, double width)
        : m_pool(pool)
        , m_cell(width / static_cast<double>(cellColumns))
    {
        for (const Figure::Run& run : pool.runs)
            m_blocks += run.blocks;
        m_each = blocksOfCell(m_blocks);
        const std::int64_t cells = (m_blocks + m_each - 1) / m_each;
        m_rows = std::max<std::int64_t>(1, (cells + cellColumns - 1) / cellColumns);
    }

    std::int64_t blocksOfOneCell() const { return m_each; }
    double height() const { return static_cast<double>(m_rows) * rowHeight; }

    void draw(PageOps& ops, double top) const
    {
        std::array<PageOps, states.size() + 1> layers;
        std::array<std::int64_t, states.size() + 1> counts {};
        std::int64_t cell = 0;
        std::int64_t filled = 0;
        const auto flush = [&] {
            if (filled > 0)
                addCell(layers, top, cell++, counts, filled);
            counts = {};
            filled = 0;
        };
        for (const Figure::Run& run : m_pool.runs) {
            for (std::int64_t left = run.blocks; left > 0;) {
                const std::int64_t count = std::min(left, m_each - filled);
                counts[indexOf(run.state)] += count;
                filled += count;
                left -= count;
                if (filled == m_each)
                    flush();
            }
        }
        flush();
        for (const PageOps& layer : layers)
            ops.insert(ops.end(), layer.begin(), layer.end());
    }

private:
    static constexpr double rowHeight = points(5.6);

    void addCell(std::array<PageOps, states.size() + 1>& layers, double top, std::int64_t cell,
        const std::array<std::int64_t, states.size() + 1>& counts, std::int64_t filled) const
    {
        const double gap = points(0.4);
        const double width = m_cell - gap;
        const double y = top + static_cast<double>(cell / cellColumns) * rowHeight;
        double x = static_cast<double>(cell % cellColumns) * m_cell;
        for (std::size_t state = 0; state < counts.size(); ++state) {
            if (counts[state] == 0)
                continue;
            const double part = width * static_cast<double>(counts[state]) / static_cast<double>(filled);
            layers[state].emplace_back(cellOp({x, y, part, rowHeight - gap}, state, part > width / 2));
            x += part;
        }
    }

    const Figure::Pool& m_pool;
    double m_cell;
    std::int64_t m_blocks = 0;
    std::int64_t m_each = 1;
    std::int64_t m_rows = 1;
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
        if (counts[state] == 0)
            continue;
        RectOp swatch = cellOp({at, points(3), points(9), points(9)}, state, true);
        swatch.outline = paperTokens().line;
        out.ops.emplace_back(swatch);
        const QString text = QLatin1String(states[state]);
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
        const std::int64_t each = grid.blocksOfOneCell();
        const std::int64_t row = each * cellColumns;
        const QString title = fromStd(pool.title)
            + (each == 1 ? QStringLiteral("; a cell is a block, %1 in a row").arg(row)
                         : QStringLiteral("; a cell is %1 blocks, parted by their states, %2 blocks in a row")
                               .arg(fromStd(grouped(each)), fromStd(grouped(row))));
        const double below = addLines(box.ops, 0, 0, wrapText(title, TextStyle::Small, width, fonts), TextStyle::Small,
            paperTokens().dimText, fonts);
        grid.draw(box.ops, below + points(2));
        box.height = below + points(4) + grid.height();
        box.before = points(5);
        box.keepWithNext = &pool == &figure.pools.back(); // with the caption
        flow.add(std::move(box));
    }
}

} // namespace kvw::gui
