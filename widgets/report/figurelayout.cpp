// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/figurelayout.h"

#include "models/numbertext.h"
#include "report/blockfigure.h"
#include "report/layoutstyle.h"
#include "report/tablelayout.h"
#include "serving/shown_samples.h"
#include "units/format.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace kvw::gui {

namespace {

/// Round steps of an axis from 0 to `most`, about five of them.
double stepFor(double most)
{
    const double rough = std::max(most, 1.0) / 5;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= rough)
            return factor * power;
    }
    return 10 * power;
}

/// The binary unit in which `bytes` reads well.
std::pair<double, const char*> unitFor(double bytes)
{
    static constexpr const char* names[] {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double unit = 1;
    std::size_t i = 0;
    for (; i + 1 < std::size(names) && bytes >= 1024 * unit; ++i)
        unit *= 1024;
    return {unit, names[i]};
}

QString axisText(double value)
{
    return QString::number(value, 'g', 6);
}

RectOp barOp(const QRectF& rect, Figure::Bar::Role role)
{
    RectOp out {rect, paperTokens().idealNeed, {}, Hatch::None, {}};
    switch (role) {
    case Figure::Bar::Role::Ideal:
    case Figure::Bar::Role::State:
        break;
    case Figure::Bar::Role::Difference:
        out.fill = QColor(0xFA, 0xEB, 0xC8);
        out.outline = paperTokens().blockCachedLine;
        out.hatch = Hatch::Diagonal;
        out.hatchColor = paperTokens().blockCachedLine;
        break;
    case Figure::Bar::Role::Engine:
        out.fill = paperTokens().engineNeed;
        out.outline = paperTokens().text;
        break;
    case Figure::Bar::Role::NotState:
        out.fill = paperTokens().blockHeld;
        break;
    case Figure::Bar::Role::Unused:
        out.fill = QColor(Qt::white);
        out.outline = paperTokens().dimText;
        break;
    }
    return out;
}

/// Bars one below the other on one axis from 0, names left, exact bytes right.
class BarFigure
{
public:
    BarFigure(const Figure& figure, double width, const ReportFonts& fonts)
        : m_figure(figure)
        , m_width(width)
        , m_fonts(fonts)
    {
        for (const Figure::Bar& bar : figure.bars) {
            m_most = std::max(m_most, static_cast<double>(bar.to));
            m_left = std::max(m_left, fonts.width(fromStd(bar.name), TextStyle::CellStrong));
            m_right = std::max(m_right, fonts.width(fromStd(bar.exact), TextStyle::CellStrong));
        }
        if (figure.limit)
            m_most = std::max(m_most, static_cast<double>(*figure.limit));
        // The axis ends with a tick beyond all bars and the limit.
        const auto [unit, name] = unitFor(std::max(m_most, 1.0));
        const double step = stepFor(m_most / unit) * unit;
        m_most = std::max(step, std::ceil(m_most / step) * step);
        m_left = std::min(m_left, width * 0.35) + points(12);
        m_right += points(12);
    }

    FlowBox box()
    {
        m_top = m_figure.limit ? points(14) : points(4);
        m_bottom = m_top + static_cast<double>(m_figure.bars.size()) * points(19);
        axis();
        for (std::size_t i = 0; i < m_figure.bars.size(); ++i)
            bar(i);
        if (m_figure.limit)
            limit();
        m_box.height = m_bottom + points(18);
        m_box.keepWithNext = true;
        m_box.before = points(6);
        return std::move(m_box);
    }

private:
    double x(double bytes) const { return m_left + bytes / m_most * (m_width - m_left - m_right); }

    void axis()
    {
        const auto [unit, name] = unitFor(m_most);
        const double step = stepFor(m_most / unit);
        const double last = m_most / unit + step / 2;
        for (double at = 0; at < last; at += step) {
            const double px = x(at * unit);
            m_box.ops.emplace_back(LineOp {{px, m_top, px, m_bottom}, points(0.5), paperTokens().hairLine});
            const bool end = at + step > last;
            const QString text = axisText(at) + (end ? QLatin1Char(' ') + QLatin1String(name) : QString());
            addText(m_box.ops,
                {px - m_fonts.width(axisText(at), TextStyle::Small) / 2,
                    m_bottom + points(3) + baselineIn(TextStyle::Small, m_fonts)},
                text, TextStyle::Small, paperTokens().dimText, m_fonts);
        }
    }

    void bar(std::size_t i)
    {
        const Figure::Bar& bar = m_figure.bars[i];
        const double top = m_top + static_cast<double>(i) * points(19) + points(4);
        const double height = points(11);
        const bool strong = bar.role == Figure::Bar::Role::Ideal || bar.role == Figure::Bar::Role::Engine
            || bar.role == Figure::Bar::Role::State;
        const TextStyle style = strong ? TextStyle::CellStrong : TextStyle::Cell;
        const double from = x(static_cast<double>(std::min(bar.from, bar.to)));
        const double to = x(static_cast<double>(std::max(bar.from, bar.to)));
        const double thinnest = points(1.2);
        if (to - from < thinnest) {
            m_box.ops.emplace_back(barOp({from, top, thinnest, height}, bar.role));
            const double px = to + points(3);
            const double middle = top + height / 2;
            m_box.ops.emplace_back(PolygonOp {
                QPolygonF {{px, middle}, {px + points(5), middle - points(3)}, {px + points(5), middle + points(3)}},
                paperTokens().assumed});
        } else {
            m_box.ops.emplace_back(barOp({from, top, to - from, height}, bar.role));
        }
        if (m_figure.kind == Figure::Kind::Bridge && i + 1 < m_figure.bars.size()) {
            const double end = x(static_cast<double>(bar.to));
            m_box.ops.emplace_back(
                LineOp {{end, top + height, end, top + points(19)}, points(0.5), paperTokens().dimText, true});
        }
        const double baseline = top + (height - m_fonts.lineHeight(style)) / 2 + baselineIn(style, m_fonts);
        const QStringList name = wrapText(fromStd(bar.name), style, m_left - points(6), m_fonts);
        addText(m_box.ops, {0, baseline}, name.front() + (name.size() > 1 ? QStringLiteral("…") : QString()), style,
            paperTokens().text, m_fonts);
        addText(m_box.ops, {m_width - m_fonts.width(fromStd(bar.exact), style), baseline}, fromStd(bar.exact), style,
            paperTokens().text, m_fonts);
    }

    void limit()
    {
        const double px = x(static_cast<double>(*m_figure.limit));
        m_box.ops.emplace_back(LineOp {{px, m_top - points(1), px, m_bottom}, points(1.4), paperTokens().text});
        const QString text = fromStd(m_figure.limitName);
        const double width = m_fonts.width(text, TextStyle::Small);
        const double left = std::clamp(px - width / 2, 0.0, std::max(0.0, m_width - width));
        addText(m_box.ops, {left, baselineIn(TextStyle::Small, m_fonts)}, text, TextStyle::Small, paperTokens().text,
            m_fonts);
    }

    const Figure& m_figure;
    double m_width;
    const ReportFonts& m_fonts;
    double m_most = 0;
    double m_left = 0;
    double m_right = 0;
    double m_top = 0;
    double m_bottom = 0;
    FlowBox m_box;
};

/// Stacked areas over x, the first series at the bottom. Each is named where it is widest, as far as it has room.
class AreaFigure
{
public:
    AreaFigure(const Figure& figure, double width, const ReportFonts& fonts)
        : m_figure(figure)
        , m_fonts(fonts)
    {
        const std::size_t count = figure.series.empty() ? 0 : figure.series.front().points.size();
        constexpr std::size_t mostColumns = 700;
        m_shown
            = shownSamples(count, mostColumns, [&](std::size_t i) { return figure.series.front().points[i].second; });
        for (const std::size_t i : m_shown) {
            double sum = 0;
            for (const Figure::Series& series : figure.series)
                sum += series.points[i].second;
            m_most = std::max(m_most, sum);
        }
        if (figure.limit)
            m_most = std::max(m_most, static_cast<double>(*figure.limit));
        m_last = count == 0 ? 1 : std::max(1.0, figure.series.front().points.back().first);
        m_left = fonts.width(fromStd(grouped(static_cast<std::int64_t>(m_most))), TextStyle::Small) + points(6);
        m_right = width;
        m_top = points(26);
        m_bottom = m_top + points(120);
    }

    FlowBox box()
    {
        axes();
        std::vector<double> below(m_shown.size(), 0);
        for (std::size_t s = 0; s < m_figure.series.size(); ++s)
            area(s, below);
        legend();
        if (m_figure.limit)
            limit();
        m_box.ops.emplace_back(LineOp {{m_left, m_bottom, m_right, m_bottom}, points(0.75), paperTokens().text});
        m_box.ops.emplace_back(LineOp {{m_left, m_top, m_left, m_bottom}, points(0.75), paperTokens().text});
        m_box.height = m_bottom + points(19);
        m_box.before = points(8);
        m_box.keepWithNext = true;
        return std::move(m_box);
    }

private:
    double x(double value) const { return m_left + value / m_last * (m_right - m_left); }
    double y(double value) const { return m_bottom - value / std::max(m_most, 1.0) * (m_bottom - m_top); }
    static QColor color(const std::string& name)
    {
        if (name == "active")
            return paperTokens().blockActive;
        return name == "cached" ? paperTokens().blockCached : paperTokens().blockFree;
    }

    void axes()
    {
        const double small = m_fonts.width(QStringLiteral("0"), TextStyle::Small);
        const double stepY = stepFor(m_most);
        for (double at = 0; at <= m_most; at += stepY) {
            const QString text = fromStd(grouped(static_cast<std::int64_t>(at)));
            m_box.ops.emplace_back(LineOp {{m_left, y(at), m_right, y(at)}, points(0.5), paperTokens().hairLine});
            addText(m_box.ops, {m_left - points(4) - m_fonts.width(text, TextStyle::Small), y(at) + points(2.6)}, text,
                TextStyle::Small, paperTokens().dimText, m_fonts);
        }
        addText(m_box.ops, {0, m_top - points(8)}, fromStd(m_figure.yTitle), TextStyle::Small, paperTokens().dimText,
            m_fonts);
        const double stepX = stepFor(m_last);
        const double baseline = m_bottom + points(4) + baselineIn(TextStyle::Small, m_fonts);
        const QString title = fromStd(m_figure.xTitle);
        const double titleAt = m_right - m_fonts.width(title, TextStyle::Small);
        for (double at = 0; at <= m_last; at += stepX) {
            const QString text = fromStd(grouped(static_cast<std::int64_t>(at)));
            const double left = x(at) - m_fonts.width(text, TextStyle::Small) / 2;
            m_box.ops.emplace_back(
                LineOp {{x(at), m_bottom, x(at), m_bottom + points(3)}, points(0.75), paperTokens().text});
            if (left + m_fonts.width(text, TextStyle::Small) + small < titleAt)
                addText(m_box.ops, {left, baseline}, text, TextStyle::Small, paperTokens().dimText, m_fonts);
        }
        addText(m_box.ops, {titleAt, baseline}, title, TextStyle::Small, paperTokens().dimText, m_fonts);
    }

    void area(std::size_t s, std::vector<double>& below)
    {
        const Figure::Series& series = m_figure.series[s];
        QPolygonF upper;
        QPolygonF lower;
        for (std::size_t i = 0; i < m_shown.size(); ++i) {
            const auto [at, value] = series.points[m_shown[i]];
            lower << QPointF(x(at), y(below[i]));
            upper << QPointF(x(at), y(below[i] + value));
        }
        QPolygonF polygon = upper;
        for (auto point = lower.crbegin(); point != lower.crend(); ++point)
            polygon << *point;
        m_box.ops.emplace_back(PolygonOp {polygon, color(series.name)});
        if (series.name == "cached")
            hatch(lower, upper);
        if (!label(series.name, lower, upper))
            m_unlabelled.push_back(series.name);
        for (std::size_t i = 0; i < m_shown.size(); ++i)
            below[i] += series.points[m_shown[i]].second;
    }

    /// Lines at 45 degrees through the whole area, as everywhere for cached: one pattern, not one in each step.
    void hatch(const QPolygonF& lower, const QPolygonF& upper)
    {
        const double span = m_right - m_left + m_bottom - m_top;
        for (double offset = points(2); offset < span; offset += points(4)) {
            // Points of the line have x − left + y − top = offset. A piece ends where the line leaves the area.
            const auto lineY = [&](double px) { return m_top + offset - (px - m_left); };
            std::optional<QPointF> from;
            QPointF to;
            const auto end = [&] {
                if (from && to.x() > from->x())
                    m_box.ops.emplace_back(LineOp {{*from, to}, points(0.4), paperTokens().blockCachedLine});
                from.reset();
            };
            const double least = m_left + offset - (m_bottom - m_top);
            const double most = m_left + offset;
            for (qsizetype i = 0; i + 1 < lower.size(); ++i) {
                if (lower[i + 1].x() < least)
                    continue;
                if (lower[i].x() > most)
                    break;
                if (const auto piece = inside(lower[i], lower[i + 1], upper[i], upper[i + 1], lineY)) {
                    if (!from)
                        from = piece->first;
                    else if (piece->first.x() > to.x() + 1) {
                        end();
                        from = piece->first;
                    }
                    to = piece->second;
                } else {
                    end();
                }
            }
            end();
        }
    }

    /// The part of a line that lies between two straight edges from one x to the next.
    template <typename LineY>
    static std::optional<std::pair<QPointF, QPointF>> inside(
        QPointF low1, QPointF low2, QPointF high1, QPointF high2, const LineY& lineY)
    {
        const double width = low2.x() - low1.x();
        if (width <= 0)
            return std::nullopt;
        double from = 0;
        double to = 1;
        // In shares of the way from the first x to the second: a(t) ≥ 0 below the upper edge, and above the lower one.
        const auto clip = [&](double start, double finish) {
            if (start < 0 && finish < 0)
                to = -1;
            else if (start < 0)
                from = std::max(from, start / (start - finish));
            else if (finish < 0)
                to = std::min(to, start / (start - finish));
        };
        const double line1 = lineY(low1.x());
        const double line2 = lineY(low2.x());
        clip(line1 - high1.y(), line2 - high2.y());
        clip(low1.y() - line1, low2.y() - line2);
        if (to <= from)
            return std::nullopt;
        const auto at = [&](double share) {
            const double px = low1.x() + share * width;
            return QPointF(px, lineY(px));
        };
        return std::pair {at(from), at(to)};
    }

    /// Names the area in its middle where it stays high enough for a word; false where it nowhere does.
    bool label(const std::string& name, const QPolygonF& lower, const QPolygonF& upper)
    {
        const QString text = fromStd(name);
        const double width = m_fonts.width(text, TextStyle::Small) + points(8);
        const double height = m_fonts.lineHeight(TextStyle::Small);
        double best = height;
        std::optional<QPointF> place;
        qsizetype to = 0;
        for (qsizetype from = 0; from < lower.size(); ++from) {
            while (to < lower.size() && lower[to].x() - lower[from].x() < width)
                ++to;
            if (to == lower.size())
                break;
            double top = m_top;
            double bottom = m_bottom;
            for (qsizetype i = from; i <= to; ++i) {
                top = std::max(top, upper[i].y());
                bottom = std::min(bottom, lower[i].y());
            }
            if (bottom - top > best) {
                best = bottom - top;
                place = QPointF(lower[from].x() + points(4), (top + bottom) / 2 - height / 2);
            }
        }
        if (!place)
            return false;
        const bool pattern = name == "cached";
        if (pattern)
            m_box.ops.emplace_back(RectOp {
                {place->x() - points(2), place->y(), width - points(4), height}, color(name), {}, Hatch::None, {}});
        addText(m_box.ops, {place->x(), place->y() + baselineIn(TextStyle::Small, m_fonts)}, text, TextStyle::Small,
            name == "active" ? QColor(Qt::white) : paperTokens().text, m_fonts);
        return true;
    }

    /// Swatches for areas that have no room for their name.
    void legend()
    {
        double at = m_left + m_fonts.width(fromStd(m_figure.yTitle), TextStyle::Small) + points(14);
        for (const std::string& name : m_unlabelled) {
            RectOp swatch {{at, points(3), points(9), points(9)}, color(name), paperTokens().line, Hatch::None, {}};
            if (name == "cached") {
                swatch.hatch = Hatch::Diagonal;
                swatch.hatchColor = paperTokens().blockCachedLine;
            }
            m_box.ops.emplace_back(swatch);
            at += points(13);
            addText(m_box.ops, {at, points(2) + baselineIn(TextStyle::Small, m_fonts)}, fromStd(name), TextStyle::Small,
                paperTokens().text, m_fonts);
            at += m_fonts.width(fromStd(name), TextStyle::Small) + points(14);
        }
    }

    void limit()
    {
        const double at = y(static_cast<double>(*m_figure.limit));
        m_box.ops.emplace_back(LineOp {{m_left, at, m_right, at}, points(1), paperTokens().text, true});
        const QString text = fromStd(m_figure.limitName);
        addText(m_box.ops, {m_right - m_fonts.width(text, TextStyle::Small), at - points(3)}, text, TextStyle::Small,
            paperTokens().text, m_fonts);
    }

    const Figure& m_figure;
    const ReportFonts& m_fonts;
    std::vector<std::size_t> m_shown;
    std::vector<std::string> m_unlabelled;
    double m_most = 0;
    double m_last = 1;
    double m_left = 0;
    double m_right = 0;
    double m_top = 0;
    double m_bottom = 0;
    FlowBox m_box;
};

} // namespace

void addFigure(Flow& flow, const Figure& figure, const std::string& section, const QString& number, double width,
    const ReportFonts& fonts)
{
    switch (figure.kind) {
    case Figure::Kind::Bridge:
    case Figure::Kind::Budget:
        flow.add(BarFigure(figure, width, fonts).box());
        break;
    case Figure::Kind::Areas:
        flow.add(AreaFigure(figure, width, fonts).box());
        break;
    case Figure::Kind::BlockMap:
        addBlockFigure(flow, figure, width, fonts);
        break;
    }
    const std::string title = figure.title == section ? "" : figure.title + ". ";
    flow.add(captionBox(number + QStringLiteral(". ") + fromStd(title + figure.caption), width, fonts));
}

} // namespace kvw::gui
