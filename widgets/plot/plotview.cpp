// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "plot/plotview.h"

#include "style/tokens.h"

#include <QApplication>
#include <QEvent>
#include <QVBoxLayout>

#include <algorithm>
#include <functional>

#include <qcustomplot.h>

namespace kvw::gui {

namespace {

constexpr qsizetype mostLabels = 4; ///< series that are named in the plot; more have a legend

/// Ticks so far apart that their labels do not touch, however narrow the plot is.
class RoomyTicker final : public QCPAxisTicker
{
public:
    explicit RoomyTicker(const QCPAxis& axis)
        : m_axis(axis)
    {}

protected:
    double getTickStep(const QCPRange& range) override
    {
        const bool along = m_axis.orientation() == Qt::Horizontal;
        const int pixels = along ? m_axis.axisRect()->width() : m_axis.axisRect()->height();
        const QFontMetrics metrics(m_axis.tickLabelFont());
        double step = QCPAxisTicker::getTickStep(range);
        for (int i = 0; i < 12 && pixels > 0; ++i) {
            const double last = std::floor(range.upper / step) * step;
            const QString label = getTickLabel(last, m_axis.parentPlot()->locale(), QLatin1Char('g'), 6);
            const int wanted = along ? metrics.horizontalAdvance(label) + 12 : metrics.height() + 4;
            if (step / range.size() * pixels >= wanted)
                break;
            step = cleanMantissa(2 * step);
        }
        return step;
    }

private:
    const QCPAxis& m_axis;
};

} // namespace

struct PlotView::Impl
{
    QCustomPlot* plot = nullptr;
    QVector<PlotSeries> series;
    QVector<PlotBar> bars;
    QVector<PlotLimit> limits;
    QStringList names;
    QColor base; ///< behind labels
    QSize namedFor; ///< size of the axes for which names were placed
    QString emptyText; ///< while there is nothing to plot

    void style(const QPalette& palette, const QFont& font);
    /// Pixels on an axis, as laid out; some at first.
    double pixels(const QCPAxis& axis) const;
    QSizeF labelSize(const QString& text) const;
    void makeRoom();
    void addLimits(const Tokens& tokens, double most);
    void addPattern(const PlotSeries& one, const QVector<double>& y, QCPGraph* below);
    void drawSeries(const Tokens& tokens);
    void labelSeries(const Tokens& tokens);
    void addLabel(const Tokens& tokens, const QString& name, double x, double y, Qt::Alignment alignment);
    void drawBars(const Tokens& tokens);
    void showEmpty(const Tokens& tokens);
    void redraw(const QPalette& palette, const QFont& font);
};

void PlotView::Impl::style(const QPalette& palette, const QFont& font)
{
    const Tokens& tokens = tokensFor(palette);
    base = palette.color(QPalette::Base);
    plot->setBackground(base);
    QFont small = font;
    small.setPointSizeF(font.pointSizeF() * 0.92);
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setBasePen(QPen(tokens.line, 1));
        axis->setTickPen(QPen(tokens.line, 1));
        axis->setSubTicks(false);
        axis->setTickLength(0, 4);
        axis->setTickLabelColor(tokens.dimText);
        axis->setLabelColor(tokens.dimText);
        axis->setTickLabelFont(small);
        axis->setLabelFont(small);
        axis->grid()->setPen(QPen(tokens.hairLine, 1));
        axis->grid()->setZeroLinePen(QPen(tokens.line, 1));
        axis->grid()->setSubGridVisible(false);
    }
    plot->legend->setFont(small);
    plot->legend->setTextColor(palette.color(QPalette::Text));
    plot->legend->setBrush(palette.color(QPalette::Base));
    plot->legend->setBorderPen(QPen(tokens.line, 1));
}

double PlotView::Impl::pixels(const QCPAxis& axis) const
{
    const QRect area = plot->axisRect()->rect();
    return std::max(axis.orientation() == Qt::Horizontal ? area.width() : area.height(), 60);
}

QSizeF PlotView::Impl::labelSize(const QString& text) const
{
    const QFontMetrics metrics(plot->xAxis->tickLabelFont());
    return QSizeF(metrics.horizontalAdvance(text) + 8, metrics.height());
}

/// Room for the names of lines: right of the longest, and above those that end earlier.
void PlotView::Impl::makeRoom()
{
    double right = 0;
    bool above = false;
    const double last = plot->xAxis->range().upper;
    for (const PlotSeries& one : std::as_const(series)) {
        if (one.filled || one.x.isEmpty())
            continue;
        if (one.x.back() >= last * 0.98)
            right = std::max(right, labelSize(one.name).width());
        else
            above = true;
    }
    const double width = pixels(*plot->xAxis);
    if (right > 0 && right < width / 2)
        plot->xAxis->setRangeUpper(last * width / (width - right));
    if (above)
        plot->yAxis->setRangeUpper(plot->yAxis->range().upper * 1.16);
}

void PlotView::Impl::addLimits(const Tokens& tokens, double most)
{
    int labels = 0; // of vertical ones, each a line lower than the one before
    for (const PlotLimit& limit : limits) {
        auto* line = new QCPItemLine(plot);
        line->setPen(QPen(tokens.text, 1, limit.solid ? Qt::SolidLine : Qt::DashLine));
        auto* label = new QCPItemText(plot);
        label->setText(limit.name);
        label->setColor(tokens.text);
        label->setFont(plot->xAxis->tickLabelFont());
        label->setPadding(QMargins(3, 1, 3, 1));
        if (limit.vertical) {
            line->start->setTypeY(QCPItemPosition::ptAxisRectRatio);
            line->end->setTypeY(QCPItemPosition::ptAxisRectRatio);
            line->start->setCoords(limit.value, 1);
            line->end->setCoords(limit.value, 0);
            // The name stands where there is room for it.
            const bool left = limit.value < plot->xAxis->range().upper / 2;
            const double lower
                = labels++ * (labelSize({}).height() + 2) * plot->yAxis->range().size() / pixels(*plot->yAxis);
            label->setBrush(base);
            label->setPositionAlignment((left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignTop);
            label->position->setCoords(limit.value, most - lower);
        } else {
            line->start->setTypeX(QCPItemPosition::ptAxisRectRatio);
            line->end->setTypeX(QCPItemPosition::ptAxisRectRatio);
            line->start->setCoords(0, limit.value);
            line->end->setCoords(1, limit.value);
            label->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
            label->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
            label->position->setCoords(0.01, limit.value);
        }
    }
}

void PlotView::Impl::addPattern(const PlotSeries& one, const QVector<double>& y, QCPGraph* below)
{
    QCPGraph* lines = plot->addGraph();
    lines->removeFromLegend();
    lines->setPen(Qt::NoPen);
    lines->setBrush(QBrush(one.patternColor, one.pattern));
    if (one.step)
        lines->setLineStyle(QCPGraph::lsStepLeft);
    lines->setData(one.x, y, true);
    if (below)
        lines->setChannelFillGraph(below);
}

void PlotView::Impl::drawSeries(const Tokens& tokens)
{
    double mostX = 0;
    double mostY = 0;
    QVector<double> below;
    QCPGraph* previous = nullptr;
    for (const PlotSeries& one : series) {
        QVector<double> y = one.y;
        if (one.filled && !below.isEmpty()) {
            for (int i = 0; i < y.size() && i < below.size(); ++i)
                y[i] += below[i];
        }
        QCPGraph* graph = plot->addGraph();
        graph->setName(one.name);
        graph->setPen(QPen(one.color, 1.6, one.style));
        if (one.step)
            graph->setLineStyle(QCPGraph::lsStepLeft);
        graph->setData(one.x, y, true);
        if (one.filled) {
            const bool twoColors = one.patternColor.isValid();
            graph->setBrush(QBrush(one.color, twoColors ? Qt::SolidPattern : one.pattern));
            if (previous)
                graph->setChannelFillGraph(previous);
            if (twoColors)
                addPattern(one, y, previous);
            previous = graph;
            below = y;
        }
        for (const double x : one.x)
            mostX = std::max(mostX, x);
        for (const double value : std::as_const(y))
            mostY = std::max(mostY, value);
        names.push_back(one.name);
    }
    for (const PlotLimit& limit : std::as_const(limits))
        (limit.vertical ? mostX : mostY) = std::max(limit.vertical ? mostX : mostY, limit.value);
    plot->xAxis->setRange(0, mostX > 0 ? mostX : 1);
    // Room for the names of limits, which stand above their lines.
    plot->yAxis->setRange(0, mostY > 0 ? mostY * (limits.isEmpty() ? 1.02 : 1.16) : 1);
    plot->xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new RoomyTicker(*plot->xAxis)));
    plot->yAxis->setTicker(QSharedPointer<QCPAxisTicker>(new RoomyTicker(*plot->yAxis)));
    plot->legend->setVisible(series.size() > mostLabels);
    const bool named = series.size() > 1 && series.size() <= mostLabels;
    if (named)
        makeRoom();
    addLimits(tokens, plot->yAxis->range().upper);
    if (named)
        labelSeries(tokens);
}

void PlotView::Impl::addLabel(const Tokens& tokens, const QString& name, double x, double y, Qt::Alignment alignment)
{
    auto* label = new QCPItemText(plot);
    label->setText(name);
    label->setFont(plot->xAxis->tickLabelFont());
    label->setColor(tokens.text);
    QColor ground = base;
    ground.setAlphaF(0.85F);
    label->setBrush(ground);
    label->setPadding(QMargins(3, 0, 3, 0));
    label->setPositionAlignment(alignment);
    label->position->setCoords(x, y);
}

/// Names on the series themselves: in the longest stretch of an area that has room for it, beside the end of a line.
void PlotView::Impl::labelSeries(const Tokens& tokens)
{
    const double unitsX = plot->xAxis->range().upper / pixels(*plot->xAxis); // of a pixel
    const double unitsY = plot->yAxis->range().upper / pixels(*plot->yAxis);
    double last = 0;
    for (const PlotSeries& one : std::as_const(series))
        last = std::max(last, one.x.isEmpty() ? 0 : one.x.back());
    QVector<double> below;
    QVector<double> taken; // heights of the names at the right end
    for (const PlotSeries& one : std::as_const(series)) {
        if (one.x.isEmpty())
            continue;
        const QSizeF size = labelSize(one.name);
        if (!one.filled) {
            const bool toTheEnd = one.x.back() >= last * 0.98;
            double y = one.y.back();
            if (toTheEnd) {
                // Not over a name that stands there already: below it.
                const double apart = size.height() * unitsY;
                std::sort(taken.begin(), taken.end(), std::greater<>());
                for (const double other : std::as_const(taken)) {
                    if (std::abs(other - y) < apart)
                        y = other - apart;
                }
                taken.push_back(y);
            }
            const bool nearAxis = one.x.back() < size.width() / 2 * unitsX;
            addLabel(tokens, one.name, one.x.back(), y,
                toTheEnd       ? Qt::AlignLeft | Qt::AlignVCenter
                    : nearAxis ? Qt::AlignLeft | Qt::AlignBottom
                               : Qt::AlignHCenter | Qt::AlignBottom);
            continue;
        }
        qsizetype from = 0;
        qsizetype bestFrom = 0;
        qsizetype bestTo = 0;
        for (qsizetype i = 0; i < one.y.size(); ++i) {
            if (one.y[i] < (size.height() + 2) * unitsY)
                from = i + 1;
            else if (i - from > bestTo - bestFrom) {
                bestFrom = from;
                bestTo = i;
            }
        }
        const qsizetype at = (bestFrom + bestTo) / 2;
        if (one.x[bestTo] - one.x[bestFrom] > size.width() * unitsX)
            addLabel(tokens, one.name, one.x[at], below.value(at) + one.y[at] / 2, Qt::AlignCenter);
        below.resize(std::max(below.size(), one.y.size()));
        for (qsizetype i = 0; i < one.y.size(); ++i)
            below[i] += one.y[i];
    }
}

void PlotView::Impl::drawBars(const Tokens& tokens)
{
    double most = 0;
    QVector<std::pair<const PlotBar::Part*, double>> labels;
    auto ticker = QSharedPointer<QCPAxisTickerText>(new QCPAxisTickerText);
    for (int i = 0; i < bars.size(); ++i) {
        const double row = bars.size() - 1 - i;
        ticker->addTick(row, bars[i].name);
        names.push_back(bars[i].name);
        for (const PlotBar::Part& part : bars[i].parts) {
            auto* bar = new QCPBars(plot->yAxis, plot->xAxis);
            bar->setWidth(0.6);
            bar->setBaseValue(part.from);
            bar->setData({row}, {part.to - part.from});
            bar->setPen(QPen(part.color.darker(130), 1));
            if (part.pattern == Qt::SolidPattern) {
                bar->setBrush(part.color);
            } else {
                bar->setBrush(QBrush(part.color, part.pattern));
            }
            bar->setName(part.name);
            most = std::max({most, part.to, part.from});
            if (!part.label.isEmpty())
                labels.push_back({&part, row});
        }
    }
    for (const PlotLimit& limit : std::as_const(limits))
        most = std::max(most, limit.value);
    plot->yAxis->setTicker(ticker);
    plot->xAxis->setTicker(QSharedPointer<QCPAxisTicker>(new RoomyTicker(*plot->xAxis)));
    plot->xAxis->ticker()->setTickCount(4);
    // Room for the names of limits above the first bar, each in a line of its own.
    const double top = std::max<double>(0.6, static_cast<double>(bars.size()) - 0.4);
    const double line = labelSize({}).height() / pixels(*plot->yAxis);
    const double above = std::min(0.5, line * static_cast<double>(limits.size()));
    plot->yAxis->setRange(-0.6, -0.6 + (top + 0.6) / (1 - above));
    plot->xAxis->setRange(0, most > 0 ? most * 1.08 : 1);
    plot->yAxis->grid()->setVisible(false);
    plot->legend->setVisible(false);
    for (const auto& [part, row] : std::as_const(labels)) {
        if ((part->to - part->from) / plot->xAxis->range().upper * pixels(*plot->xAxis)
            > labelSize(part->label).width())
            addLabel(tokens, part->label, (part->from + part->to) / 2, row, Qt::AlignCenter);
    }
    addLimits(tokens, plot->yAxis->range().upper);
}

void PlotView::Impl::showEmpty(const Tokens& tokens)
{
    plot->yAxis->grid()->setVisible(false);
    plot->xAxis->grid()->setVisible(false);
    plot->legend->setVisible(false);
    auto* label = new QCPItemText(plot);
    label->setText(emptyText);
    label->setFont(plot->xAxis->tickLabelFont());
    label->setColor(tokens.dimText);
    label->position->setType(QCPItemPosition::ptViewportRatio);
    label->position->setCoords(0.5, 0.5);
    label->setClipToAxisRect(false);
}

void PlotView::Impl::redraw(const QPalette& palette, const QFont& font)
{
    plot->clearPlottables();
    plot->clearItems();
    names.clear();
    style(palette, font);
    plot->yAxis->grid()->setVisible(true);
    plot->xAxis->grid()->setVisible(true);
    const Tokens& tokens = tokensFor(palette);
    const bool empty = bars.isEmpty() && series.isEmpty();
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis})
        axis->setVisible(!empty); // axes of nothing would be numbers of nothing
    if (empty)
        showEmpty(tokens);
    else if (!bars.isEmpty())
        drawBars(tokens);
    else
        drawSeries(tokens);
    plot->replot(QCustomPlot::rpQueuedReplot);
}

PlotView::PlotView(QWidget* parent)
    : QWidget(parent)
    , m_impl(std::make_unique<Impl>())
{
    m_impl->plot = new QCustomPlot(this);
    // Painted with the rest of the window, once; its own default paints the whole window anew at each replot.
    m_impl->plot->setPlottingHint(QCP::phImmediateRefresh, false);
    m_impl->plot->setPlottingHint(QCP::phCacheLabels);
    m_impl->plot->setLocale(locale());
    m_impl->plot->setBufferDevicePixelRatio(devicePixelRatioF());
    m_impl->plot->axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignTop | Qt::AlignLeft);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_impl->plot);
    setMinimumSize(160, 110);
    m_impl->redraw(palette(), font());
    // Where names have room depends on the size of the axes, which is known once they are laid out.
    connect(m_impl->plot, &QCustomPlot::afterReplot, this, &PlotView::placeNames, Qt::QueuedConnection);
}

PlotView::~PlotView() = default;

void PlotView::setAxisTitles(const QString& x, const QString& y)
{
    m_impl->plot->xAxis->setLabel(x);
    m_impl->plot->yAxis->setLabel(y);
}

void PlotView::setSeries(const QVector<PlotSeries>& series, const QVector<PlotLimit>& limits)
{
    m_impl->bars.clear();
    m_impl->series = series;
    m_impl->limits = limits;
    m_impl->redraw(palette(), font());
}

void PlotView::setBars(const QVector<PlotBar>& bars, const QVector<PlotLimit>& limits)
{
    m_impl->series.clear();
    m_impl->bars = bars;
    m_impl->limits = limits;
    m_impl->redraw(palette(), font());
}

void PlotView::setEmptyText(const QString& text)
{
    m_impl->emptyText = text;
    if (m_impl->bars.isEmpty() && m_impl->series.isEmpty())
        m_impl->redraw(palette(), font());
}

void PlotView::clear()
{
    setSeries({});
}

QStringList PlotView::names() const
{
    return m_impl->names;
}

void PlotView::renderTo(QPainter& painter, const QRect& rect)
{
    m_impl->redraw(lightPalette(), font());
    QCPPainter vector(painter.device());
    vector.setMode(QCPPainter::pmVectorized);
    vector.setMode(QCPPainter::pmNoCaching);
    vector.translate(rect.topLeft());
    m_impl->plot->toPainter(&vector, rect.width(), rect.height());
    m_impl->redraw(palette(), font());
}

QSize PlotView::sizeHint() const
{
    return {420, 220};
}

void PlotView::placeNames()
{
    constexpr int much = 8; // less moves no name
    const QSize now = m_impl->plot->axisRect()->size();
    const QSize apart = now - m_impl->namedFor;
    if (std::abs(apart.width()) < much && std::abs(apart.height()) < much)
        return;
    m_impl->namedFor = now;
    m_impl->redraw(palette(), font());
}

void PlotView::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        m_impl->redraw(palette(), font());
    QWidget::changeEvent(event);
}

} // namespace kvw::gui
