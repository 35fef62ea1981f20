// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "capacity/capacitymap.h"

#include "models/numbertext.h"
#include "style/tokens.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr int columnsPerOctave = 4;
constexpr int rowsPerOctave = 2;
constexpr double lineReach = 4; ///< so near to a frontier a click means the line

QFont smallFont(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 0.92);
    return font;
}

double valueOf(const std::optional<Quantity>& quantity)
{
    return quantity && quantity->ok() ? quantity->real() : 0;
}

} // namespace

CapacityMap::CapacityMap(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Length and concurrency"));
}

QSize CapacityMap::sizeHint() const
{
    return {560, 380};
}

QSize CapacityMap::minimumSizeHint() const
{
    return {320, 220};
}

std::vector<std::int64_t> CapacityMap::columnLengths(std::int64_t shortest, std::int64_t longest)
{
    std::vector<std::int64_t> out;
    for (int i = 0; shortest > 0; ++i) {
        const auto length = static_cast<std::int64_t>(
            std::llround(static_cast<double>(shortest) * std::exp2(static_cast<double>(i) / columnsPerOctave)));
        if (length >= longest || i > 256)
            break;
        if (out.empty() || length > out.back())
            out.push_back(length);
    }
    if (longest > 0)
        out.push_back(longest);
    return out;
}

void CapacityMap::setCapacity(std::vector<LengthCapacity> columns, const std::optional<Point>& plan)
{
    m_columns = std::move(columns);
    m_plan = plan;
    double most = plan ? static_cast<double>(plan->sequences) : 1;
    for (const LengthCapacity& column : m_columns)
        most = std::max({most, valueOf(column.engineSequences), valueOf(column.idealSequences)});
    m_rows = static_cast<int>(std::ceil(std::log2(std::max(2.0, most)) * rowsPerOctave)) + 1;
    update();
}

std::optional<CapacityMap::Point> CapacityMap::selected() const
{
    return m_selected;
}

void CapacityMap::select(const std::optional<Point>& point)
{
    if (m_selected == point)
        return;
    m_selected = point;
    update();
    emit selectionChanged();
}

std::optional<int> CapacityMap::stepOf(double share)
{
    for (std::size_t i = 0; i < limits.size(); ++i) {
        if (share * 100 <= limits[i])
            return static_cast<int>(i);
    }
    return std::nullopt;
}

std::int64_t CapacityMap::rowSequences(int row) const
{
    return std::llround(std::exp2(static_cast<double>(row) / rowsPerOctave));
}

QRectF CapacityMap::plotRect() const
{
    const QFontMetrics metrics(smallFont(font()));
    const int left = metrics.horizontalAdvance(QStringLiteral("00,000")) + metrics.height() + 12;
    const int below = 3 * metrics.height() + 26;
    return {double(left), 6, std::max(1.0, width() - left - 12.0), std::max(1.0, height() - below - 6.0)};
}

/// Half a cell beyond the outermost lengths on both sides.
double CapacityMap::xOf(double length) const
{
    const QRectF area = plotRect();
    const double low = std::log2(static_cast<double>(m_columns.front().length)) - 0.5 / columnsPerOctave;
    const double high = std::log2(static_cast<double>(m_columns.back().length)) + 0.5 / columnsPerOctave;
    return area.left() + (std::log2(std::max(1.0, length)) - low) / (high - low) * area.width();
}

double CapacityMap::yOf(double sequences) const
{
    const QRectF area = plotRect();
    const double row = std::log2(std::max(0.5, sequences)) * rowsPerOctave + 0.5;
    return area.bottom() - row / m_rows * area.height();
}

std::optional<CapacityMap::Point> CapacityMap::cellAt(const QPointF& point) const
{
    if (m_columns.empty() || !plotRect().contains(point))
        return {};
    const auto nearest = std::min_element(m_columns.begin(), m_columns.end(), [&](const auto& a, const auto& b) {
        return std::abs(xOf(static_cast<double>(a.length)) - point.x())
            < std::abs(xOf(static_cast<double>(b.length)) - point.x());
    });
    const QRectF area = plotRect();
    const int row = std::clamp(static_cast<int>((area.bottom() - point.y()) / area.height() * m_rows), 0, m_rows - 1);
    return Point {nearest->length, rowSequences(row)};
}

void CapacityMap::paintCells(QPainter& painter)
{
    const Tokens& tokens = tokensFor(palette());
    const QRectF area = plotRect();
    const QColor base = palette().color(QPalette::Base);
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        const LengthCapacity& column = m_columns[i];
        const double x = xOf(static_cast<double>(column.length));
        const double left = i == 0 ? area.left() : (xOf(static_cast<double>(m_columns[i - 1].length)) + x) / 2;
        const double right
            = i + 1 == m_columns.size() ? area.right() : (xOf(static_cast<double>(m_columns[i + 1].length)) + x) / 2;
        for (int row = 0; row < m_rows; ++row) {
            const std::int64_t sequences = rowSequences(row);
            const double top = area.bottom() - (row + 1) * area.height() / m_rows;
            const QRectF cell(std::floor(left), std::floor(top), std::floor(right) - std::floor(left) - 1,
                std::floor(top + area.height() / m_rows) - std::floor(top) - 1);
            const std::optional<double> share = column.shareOf(sequences);
            const std::optional<int> step = share ? stepOf(*share) : std::nullopt;
            if (step) {
                painter.fillRect(cell, tokens.sequential[static_cast<std::size_t>(*step)]);
                continue;
            }
            painter.fillRect(cell, base);
            const bool ideally = static_cast<double>(sequences) <= valueOf(column.idealSequences);
            painter.fillRect(cell, QBrush(ideally ? tokens.difference : tokens.hairLine, Qt::BDiagPattern));
        }
    }
}

void CapacityMap::paintAxes(QPainter& painter)
{
    const Tokens& tokens = tokensFor(palette());
    const QRectF area = plotRect();
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics = painter.fontMetrics();
    painter.setPen(tokens.line);
    painter.drawLine(area.bottomLeft(), area.bottomRight());
    painter.drawLine(area.topLeft(), area.bottomLeft());
    double free = -1e9; // right end of the last label
    for (const LengthCapacity& column : m_columns) {
        const bool power = (column.length & (column.length - 1)) == 0;
        if (!power && column.length != m_columns.back().length)
            continue;
        const double x = xOf(static_cast<double>(column.length));
        const QString text = countText(column.length);
        const double half = metrics.horizontalAdvance(text) / 2.0;
        painter.setPen(tokens.line);
        painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 4));
        if (x - half < free + 8)
            continue;
        painter.setPen(tokens.dimText);
        const double at = std::min(x, width() - half - 2);
        painter.drawText(
            QRectF(at - half - 2, area.bottom() + 5, 2 * half + 4, metrics.height()), Qt::AlignCenter, text);
        free = at + half;
    }
    painter.setPen(tokens.dimText);
    painter.drawText(QRectF(area.left(), area.bottom() + 6 + metrics.height(), area.width(), metrics.height()),
        Qt::AlignHCenter, tr("tokens in each sequence"));
    int every = rowsPerOctave;
    while (every * area.height() / m_rows < metrics.height() + 6)
        every *= 2;
    for (int row = 0; row < m_rows; row += every) {
        const double y = yOf(static_cast<double>(rowSequences(row)));
        painter.setPen(tokens.line);
        painter.drawLine(QPointF(area.left() - 4, y), QPointF(area.left(), y));
        painter.setPen(tokens.dimText);
        painter.drawText(QRectF(0, y - metrics.height() / 2.0, area.left() - 7, metrics.height()),
            Qt::AlignRight | Qt::AlignVCenter, countText(rowSequences(row)));
    }
    painter.save();
    painter.translate(metrics.height() / 2.0 + 2, area.center().y());
    painter.rotate(-90);
    painter.drawText(
        QRectF(-100, -metrics.height() / 2.0, 200, metrics.height()), Qt::AlignCenter, tr("sequences at once"));
    painter.restore();
}

void CapacityMap::paintLines(QPainter& painter)
{
    const Tokens& tokens = tokensFor(palette());
    QPolygonF engine;
    QPolygonF ideal;
    for (const LengthCapacity& column : m_columns) {
        const double x = xOf(static_cast<double>(column.length));
        if (column.engineRatio && column.engineRatio->ok())
            engine.push_back({x, yOf(valueOf(column.engineRatio))});
        if (column.idealRatio && column.idealRatio->ok())
            ideal.push_back({x, yOf(valueOf(column.idealRatio))});
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(plotRect());
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(palette().color(QPalette::Base), 4));
    painter.drawPolyline(ideal);
    painter.setPen(QPen(tokens.assumed, 1.6, Qt::DashLine));
    painter.drawPolyline(ideal);
    painter.setPen(QPen(palette().color(QPalette::Base), 4.5));
    painter.drawPolyline(engine);
    painter.setPen(QPen(tokens.text, 2));
    painter.drawPolyline(engine);
    painter.restore();
}

void CapacityMap::paintMark(QPainter& painter, const Point& point, const QString& label)
{
    const Tokens& tokens = tokensFor(palette());
    const QPointF at(xOf(static_cast<double>(point.length)), yOf(static_cast<double>(point.sequences)));
    const QRectF box(at.x() - 5, at.y() - 5, 10, 10);
    painter.setBrush(label.isEmpty() ? QBrush(Qt::NoBrush) : QBrush(palette().color(QPalette::Base)));
    painter.setPen(QPen(palette().color(QPalette::Base), 1));
    painter.drawRect(box.adjusted(-2, -2, 2, 2));
    painter.setPen(QPen(tokens.text, 2));
    painter.drawRect(box);
    if (label.isEmpty())
        return;
    painter.setFont(smallFont(font()));
    const QRectF bounds = painter.fontMetrics().boundingRect(label);
    QRectF text(at.x() - bounds.width() - 18, at.y() + 8, bounds.width() + 8, bounds.height() + 3);
    text.moveLeft(std::max(plotRect().left() + 2, text.left()));
    if (text.bottom() > plotRect().bottom())
        text.moveBottom(at.y() - 8);
    painter.fillRect(text, palette().color(QPalette::Base));
    painter.setPen(tokens.text);
    painter.drawText(text, Qt::AlignCenter, label);
}

void CapacityMap::paintLegend(QPainter& painter)
{
    const Tokens& tokens = tokensFor(palette());
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics = painter.fontMetrics();
    const double height = metrics.height() + 2;
    const double y = this->height() - height - 2;
    double x = plotRect().left();
    const auto text = [&](const QString& words, const QColor& color) {
        painter.setPen(color);
        const double width = metrics.horizontalAdvance(words);
        painter.drawText(QRectF(x, y, width + 2, height), Qt::AlignLeft | Qt::AlignVCenter, words);
        x += width + 6;
    };
    text(tr("% of the pool ≤"), tokens.dimText);
    for (std::size_t i = 0; i < limits.size(); ++i) {
        const QRectF box(x, y, metrics.horizontalAdvance(QStringLiteral("100")) + 6, height);
        painter.fillRect(box, tokens.sequential[i]);
        painter.setPen(isDark(palette()) ? (i < 3 ? Qt::white : Qt::black) : (i < 3 ? Qt::black : Qt::white));
        painter.drawText(box, Qt::AlignCenter, QString::number(limits[i]));
        x = box.right() + 2;
    }
    x += 6;
    const QRectF hatched(x, y, 16, height);
    painter.fillRect(hatched, palette().color(QPalette::Base));
    painter.fillRect(hatched, QBrush(tokens.difference, Qt::BDiagPattern));
    x = hatched.right() + 4;
    text(tr("ideally only"), tokens.text);
    for (const bool ideal : {false, true}) {
        x += 4;
        painter.setPen(ideal ? QPen(tokens.assumed, 1.6, Qt::DashLine) : QPen(tokens.text, 2));
        painter.drawLine(QPointF(x, y + height / 2), QPointF(x + 18, y + height / 2));
        x += 22;
        text(ideal ? tr("ideal") : tr("engine"), tokens.text);
    }
}

void CapacityMap::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (m_columns.empty() || m_rows == 0)
        return;
    paintCells(painter);
    paintAxes(painter);
    paintLines(painter);
    if (m_selected)
        paintMark(painter, *m_selected, {});
    if (m_plan)
        paintMark(painter, *m_plan, tr("Plan: %1 × %2").arg(countText(m_plan->sequences), countText(m_plan->length)));
    paintLegend(painter);
    if (hasFocus()) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void CapacityMap::mousePressEvent(QMouseEvent* event)
{
    if (event->button() == Qt::LeftButton) {
        if (const std::optional<Point> cell = cellAt(event->position())) {
            select(cell);
            emit figureSelected(figureAt(event->position()));
        }
    }
}

/// A frontier where the point is on its line, else the share of the cell.
QString CapacityMap::figureAt(const QPointF& point) const
{
    const Point cell = *cellAt(point);
    const auto column = std::find_if(
        m_columns.begin(), m_columns.end(), [&](const LengthCapacity& one) { return one.length == cell.length; });
    const auto isOn = [&](const std::optional<Quantity>& ratio) {
        return ratio && ratio->ok() && std::abs(yOf(ratio->real()) - point.y()) <= lineReach;
    };
    QString end = QStringLiteral("share.%1").arg(cell.sequences);
    if (isOn(column->engineRatio))
        end = QStringLiteral("engineSequences");
    else if (isOn(column->idealRatio))
        end = QStringLiteral("idealSequences");
    return QStringLiteral("capacity.%1.%2").arg(cell.length).arg(end);
}

void CapacityMap::moveSelection(int columns, int rows)
{
    if (m_columns.empty())
        return;
    const Point from = m_selected.value_or(m_plan.value_or(Point {m_columns.front().length, 1}));
    const auto at = std::lower_bound(m_columns.begin(), m_columns.end(), from.length,
        [](const LengthCapacity& column, std::int64_t length) { return column.length < length; });
    const auto column = std::clamp<std::ptrdiff_t>(
        at - m_columns.begin() + columns, 0, static_cast<std::ptrdiff_t>(m_columns.size()) - 1);
    const int row = static_cast<int>(
        std::lround(std::log2(std::max<double>(1, static_cast<double>(from.sequences))) * rowsPerOctave));
    std::int64_t sequences = from.sequences;
    for (int next = row + rows; rows != 0 && next >= 0 && next < m_rows; next += rows) {
        sequences = rowSequences(next);
        if (sequences != from.sequences) // the lowest rows round to the same number
            break;
    }
    const Point next {m_columns[static_cast<std::size_t>(column)].length, sequences};
    select(next);
    emit figureSelected(QStringLiteral("capacity.%1.share.%2").arg(next.length).arg(next.sequences));
}

void CapacityMap::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Left:
        return moveSelection(-1, 0);
    case Qt::Key_Right:
        return moveSelection(1, 0);
    case Qt::Key_Up:
        return moveSelection(0, 1);
    case Qt::Key_Down:
        return moveSelection(0, -1);
    default:
        QWidget::keyPressEvent(event);
    }
}

bool CapacityMap::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const std::optional<Point> cell = cellAt(help->pos());
    if (!cell) {
        QToolTip::hideText();
        return true;
    }
    const auto column = std::find_if(
        m_columns.begin(), m_columns.end(), [&](const LengthCapacity& one) { return one.length == cell->length; });
    const std::optional<double> share = column->shareOf(cell->sequences);
    QString text = tr("%1 × %2 tokens").arg(countText(cell->sequences), countText(cell->length));
    if (share)
        text += tr(": %1 % of the pool").arg(QLocale().toString(*share * 100, 'f', 1));
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

} // namespace kvw::gui
