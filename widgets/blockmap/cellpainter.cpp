// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/cellpainter.h"

#include "models/numbertext.h"
#include "style/tokens.h"

#include <QPainter>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace kvw::gui {

namespace {

QRgb mix(QRgb a, QRgb b, int ofA)
{
    const auto part = [&](int x, int y) { return (x * ofA + y * (100 - ofA)) / 100; };
    return qRgb(part(qRed(a), qRed(b)), part(qGreen(a), qGreen(b)), part(qBlue(a), qBlue(b)));
}

constexpr int fadedShare = 22; ///< percent of its colour that a filtered block keeps

} // namespace

QImage CellPainter::drawLook(const MapVisual& visual, const QPalette& palette, int size, bool faded)
{
    QImage out(size, size, QImage::Format_RGB32);
    const QRgb base = palette.color(QPalette::Base).rgb();
    out.fill(base);
    const int inner = size >= patternSize ? size - 1 : size;
    const int spacing = std::max(4, inner / 3);
    const int thick = std::max(1, inner / 12);
    for (int y = 0; y < inner; ++y) {
        auto* line = reinterpret_cast<QRgb*>(out.scanLine(y));
        const QColor& half = visual.lower.isValid() && y >= (inner + 1) / 2 ? visual.lower : visual.fill;
        for (int x = 0; x < inner; ++x) {
            bool marked = false;
            if (size >= patternSize) {
                switch (visual.pattern) {
                case MapVisual::Plain:
                    break;
                case MapVisual::Diagonals:
                    marked = (x + y) % spacing < thick;
                    break;
                case MapVisual::WideDiagonals:
                    marked = (x + y) % spacing < std::max(1, spacing / 3);
                    break;
                case MapVisual::Cross:
                    marked = std::abs(x - y) < thick || std::abs(x + y - inner + 1) < thick;
                    break;
                case MapVisual::Alarm:
                    marked = x == 0 || y == 0 || x == inner - 1 || y == inner - 1;
                    break;
                }
            }
            const QRgb color = marked ? visual.line.rgb() : half.rgb();
            line[x] = faded ? mix(color, base, fadedShare) : color;
        }
    }
    return out;
}

QImage CellPainter::swatch(const MapVisual& visual, const QPalette& palette, int size)
{
    return drawLook(visual, palette, size, false);
}

CellPainter::CellPainter(const MapState& state, int size)
    : m_state(state)
    , m_size(size)
    , m_ground(tokensFor(state.palette()).blockFree.rgb())
    , m_base(state.palette().color(QPalette::Base).rgb())
{
    for (const bool faded : {false, true}) {
        for (const MapVisual& visual : state.visuals()) {
            m_looks.push_back(drawLook(visual, state.palette(), std::max(1, size), faded));
            QRgb mean = visual.lower.isValid() ? mix(visual.fill.rgb(), visual.lower.rgb(), 50) : visual.fill.rgb();
            m_means.push_back(faded ? mix(mean, m_base, fadedShare) : mean);
        }
    }
}

const QImage& CellPainter::look(std::uint16_t visual) const
{
    const bool faded = (visual & MapState::fadedBit) != 0;
    return m_looks[(visual & ~MapState::fadedBit) + (faded ? m_state.visuals().size() : 0)];
}

void CellPainter::drawGrid(
    QImage& image, std::uint32_t pool, std::int64_t first, std::int64_t end, int columns, int left, int top) const
{
    const std::vector<std::uint16_t>& visuals = m_state.visualsOf(pool);
    const auto half = m_state.visuals().size();
    for (std::int64_t row = first; row < end; row += columns, top += m_size) {
        const std::int64_t last = std::min<std::int64_t>(end, row + columns);
        const int count = std::min(static_cast<int>(last - row), (image.width() - left) / std::max(1, m_size));
        if (m_size == 1) {
            if (top < 0 || top >= image.height())
                continue;
            auto* line = reinterpret_cast<QRgb*>(image.scanLine(top)) + left;
            for (int i = 0; i < count; ++i) {
                const std::uint16_t visual = visuals[static_cast<std::size_t>(row + i)];
                line[i] = m_means[(visual & ~MapState::fadedBit) + ((visual & MapState::fadedBit) ? half : 0)];
            }
            continue;
        }
        for (int y = std::max(0, -top); y < m_size && top + y < image.height(); ++y) {
            auto* line = reinterpret_cast<QRgb*>(image.scanLine(top + y)) + left;
            for (int i = 0; i < count; ++i, line += m_size) {
                const QImage& cell = look(visuals[static_cast<std::size_t>(row + i)]);
                std::memcpy(line, cell.constScanLine(y), static_cast<std::size_t>(m_size) * sizeof(QRgb));
            }
        }
        if (m_size < fillSize)
            continue;
        for (int i = 0; i < count; ++i) {
            const BlockRef ref {pool, static_cast<std::uint32_t>(row + i)};
            const BlockSnapshot& block = m_state.block(ref);
            if (block.state == BlockState::Active && std::int64_t {block.tokens} < m_state.blockTokens(ref))
                drawCell(image, ref, left + i * m_size, top);
        }
    }
}

void CellPainter::drawCell(QImage& image, const BlockRef& ref, int left, int top) const
{
    const std::uint16_t visual = m_state.visualsOf(ref.pool)[ref.block];
    const QImage& cell = look(visual);
    const BlockSnapshot& block = m_state.block(ref);
    const int inner = m_size >= patternSize ? m_size - 1 : m_size;
    int filled = inner;
    if (block.state == BlockState::Active && m_size >= fillSize)
        filled = static_cast<int>(
            std::int64_t {block.tokens} * inner / std::max<std::int64_t>(1, m_state.blockTokens(ref)));
    const QRgb ground = (visual & MapState::fadedBit) ? mix(m_ground, m_base, fadedShare) : m_ground;
    const int width = std::min(m_size, image.width() - left);
    for (int y = std::max(0, -top); y < m_size && top + y < image.height(); ++y) {
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(top + y)) + left;
        std::memcpy(line, cell.constScanLine(y), static_cast<std::size_t>(std::max(0, width)) * sizeof(QRgb));
        // What is not written yet is ground, but for an edge in the block's colour.
        if (y == 0 || y >= inner - 1)
            continue;
        for (int x = std::max(1, filled); x < std::min(inner - 1, width); ++x)
            line[x] = ground;
    }
}

void CellPainter::drawShares(
    QImage& image, std::uint32_t pool, std::int64_t perPixel, int columns, int left, int top) const
{
    const std::vector<std::uint16_t>& visuals = m_state.visualsOf(pool);
    const auto half = m_state.visuals().size();
    const auto blocks = static_cast<std::int64_t>(visuals.size());
    std::int64_t pixel = 0;
    for (std::int64_t b = 0; b < blocks; ++pixel) {
        const std::int64_t end = std::min(blocks, b + perPixel);
        const auto count = static_cast<unsigned>(end - b);
        unsigned red = 0;
        unsigned green = 0;
        unsigned blue = 0;
        bool alarm = false;
        for (; b < end; ++b) {
            const std::uint16_t visual = visuals[static_cast<std::size_t>(b)];
            const auto index = (visual & ~MapState::fadedBit) + ((visual & MapState::fadedBit) ? half : 0);
            const QRgb color = m_means[index];
            red += static_cast<unsigned>(qRed(color));
            green += static_cast<unsigned>(qGreen(color));
            blue += static_cast<unsigned>(qBlue(color));
            alarm = alarm || m_state.visuals()[visual & ~MapState::fadedBit].pattern == MapVisual::Alarm;
        }
        const int x = left + static_cast<int>(pixel % columns);
        const int y = top + static_cast<int>(pixel / columns);
        if (y < 0 || y >= image.height() || x >= image.width())
            continue;
        auto* line = reinterpret_cast<QRgb*>(image.scanLine(y));
        line[x] = alarm
            ? tokensFor(m_state.palette()).differs.rgb()
            : qRgb(static_cast<int>(red / count), static_cast<int>(green / count), static_cast<int>(blue / count));
    }
}

QColor inkOn(const QColor& ground)
{
    const auto linear
        = [](double part) { return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4); };
    const double luminance
        = 0.2126 * linear(ground.redF()) + 0.7152 * linear(ground.greenF()) + 0.0722 * linear(ground.blueF());
    return (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) ? QColor(Qt::black) : QColor(Qt::white);
}

void paintCellText(QPainter& painter, const MapState& map, const BlockRef& ref, const QRectF& rect)
{
    const std::uint16_t index = map.visualsOf(ref.pool)[ref.block];
    const MapVisual& visual = map.visuals()[index & ~MapState::fadedBit];
    const BlockSnapshot& block = map.block(ref);
    const QString letters = map.cellText(ref);
    if ((index & MapState::fadedBit) != 0 || letters.isEmpty())
        return;
    const QRectF inner = rect.adjusted(3, 1, -4, -2);
    const QString shown
        = painter.fontMetrics().elidedText(letters, Qt::ElideRight, static_cast<int>(inner.width()) + 2);
    QColor ink = inkOn(visual.fill);
    const bool hatched = visual.pattern == MapVisual::Diagonals || visual.pattern == MapVisual::WideDiagonals;
    if (hatched) { // letters need a calm ground
        const QRectF chip(inner.topLeft(),
            QSizeF(painter.fontMetrics().horizontalAdvance(shown) + 3, painter.fontMetrics().height() - 1));
        painter.fillRect(chip, visual.fill);
    } else if (block.state == BlockState::Active && block.tokens * 3 < map.blockTokens(ref)) {
        ink = tokensFor(map.palette()).text; // the letter lies on the part that is not filled yet
    }
    painter.setPen(ink);
    painter.drawText(inner.adjusted(0, 0, 2, 0), Qt::AlignLeft | Qt::AlignTop, shown);
    if (block.references > 1) {
        painter.setPen(visual.lower.isValid() ? inkOn(visual.lower) : ink);
        painter.drawText(inner, Qt::AlignRight | Qt::AlignBottom, QStringLiteral("×") + countText(block.references));
    }
}

} // namespace kvw::gui
