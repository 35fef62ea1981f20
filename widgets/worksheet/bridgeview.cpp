// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/bridgeview.h"

#include "models/numbertext.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

/// Where things are for the present size and rows.
struct BridgeView::Frame
{
    QRect bars; ///< between names and amounts, over the axis
    int rowHeight = 0;
    int top = 0;
    int unitWidth = 0;
    int amountWidth = 0;
    double most = 1; ///< bytes at the right end of the axis
    double unit = 1; ///< bytes of the axis' unit
    QString unitName;
    double tick = 1; ///< units between two ticks

    double x(double bytes) const { return bars.left() + bytes / most * bars.width(); }
    QRect row(int i) const { return {0, top + i * rowHeight, bars.right(), rowHeight}; }
};

namespace {

/// 1, 2 or 5 times a power of ten, so that at most about `count` ticks lie in `most`.
double niceTick(double most, int count)
{
    const double raw = most / std::max(1, count);
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= raw)
            return factor * power;
    }
    return 10 * power;
}

} // namespace

BridgeView::BridgeView(QWidget* parent)
    : QWidget(parent)
{
    setFocusPolicy(Qt::StrongFocus);
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setAccessibleName(tr("From ideal need to engine need"));
}

void BridgeView::setEstimate(const Estimate* estimate, const QString& why)
{
    m_rows.clear();
    m_zero.clear();
    m_pool = 0;
    m_why = why;
    if (estimate && estimate->idealBytes) {
        qint64 at = estimate->idealBytes->integer();
        m_rows.push_back({tr("Ideal need"), QStringLiteral("idealBytes"), Ideal, 0, at});
        for (const NeedDifference& difference : estimate->engine.differences) {
            QString name = QString::fromStdString(difference.title);
            const qint64 step = difference.bytes.integer();
            if (step == 0) {
                m_zero.push_back(name);
                continue;
            }
            if (!name.isEmpty())
                name[0] = name[0].toUpper();
            m_rows.push_back({(step < 0 ? QStringLiteral("− ") : QStringLiteral("+ ")) + name,
                QLatin1String("differences.") + QString::fromStdString(difference.id), Step, at, at + step});
            at += step;
        }
        if (estimate->engine.engineNeedBytes) {
            const qint64 need = estimate->engine.engineNeedBytes->integer();
            if (need != at) // a rule whose names do not add up must be seen
                m_rows.push_back({tr("Without a name"), QStringLiteral("engine.engineNeedBytes"), Step, at, need});
            m_rows.push_back({tr("Engine need"), QStringLiteral("engine.engineNeedBytes"), Engine, 0, need});
        }
        if (estimate->reservedBytes && estimate->engine.poolBytes)
            m_pool = estimate->reservedBytes->integer();
    }
    m_current = std::min<int>(m_current, static_cast<int>(m_rows.size()) - 1);
    QStringList spoken;
    for (const auto& [name, bytes] : rows())
        spoken.push_back(name + QLatin1Char(' ') + bytesText(bytes).exact);
    setAccessibleDescription(spoken.join(QStringLiteral("; ")));
    update();
}

QStringList BridgeView::zeroSteps() const
{
    return m_zero;
}

QVector<std::pair<QString, qint64>> BridgeView::rows() const
{
    QVector<std::pair<QString, qint64>> out;
    for (const Row& row : m_rows)
        out.push_back({row.name, row.to - row.from});
    return out;
}

QSize BridgeView::sizeHint() const
{
    return {460, (fontMetrics().height() + 8) * 6};
}

QSize BridgeView::minimumSizeHint() const
{
    return {260, (fontMetrics().height() + 2) * 4};
}

BridgeView::Frame BridgeView::frame() const
{
    Frame out;
    const QFontMetrics strong(strongFont(font()));
    const QFontMetrics small(smallFont(font()));
    int names = 0;
    double most = static_cast<double>(m_pool);
    for (const Row& row : m_rows) {
        names = std::max(names, strong.horizontalAdvance(row.name));
        out.amountWidth = std::max(
            out.amountWidth, strong.horizontalAdvance(QLatin1Char('+') + bytesText(row.to - row.from).number));
        most = std::max(most, static_cast<double>(std::max(row.from, row.to)));
    }
    out.unitWidth = small.horizontalAdvance(QStringLiteral("MiB")) + 4;
    const int poolLine = m_pool > 0 ? small.height() + 2 : 0;
    out.top = 4 + poolLine;
    out.bars = QRect(8 + names + 14, out.top, 0, 0);
    out.bars.setRight(width() - 8 - out.unitWidth - out.amountWidth - 14);
    out.bars.setBottom(height() - small.height() - 8);
    out.rowHeight = m_rows.isEmpty() ? 1 : std::min(out.bars.height() / static_cast<int>(m_rows.size()), 64);
    out.bars.setHeight(out.rowHeight * static_cast<int>(m_rows.size()));
    // One unit for the whole axis: the largest one in which the axis passes 1.
    for (const char* name : {"B", "KiB", "MiB", "GiB", "TiB"}) {
        out.unitName = QLatin1String(name);
        if (most < 1024 * out.unit)
            break;
        out.unit *= 1024;
    }
    most = most > 0 ? most * 1.04 : 1;
    const int ticks = std::max(2, out.bars.width() / 56);
    out.tick = niceTick(most / out.unit, ticks);
    out.most = most;
    return out;
}

void BridgeView::paintAxis(QPainter& painter, const Frame& frame) const
{
    const Tokens& tokens = tokensFor(palette());
    painter.setFont(smallFont(font()));
    const QFontMetrics small = painter.fontMetrics();
    const int below = frame.bars.bottom() + 1;
    const int lastTick = static_cast<int>(std::floor(frame.most / frame.unit / frame.tick));
    for (int i = 0; i <= lastTick; ++i) {
        const double value = i * frame.tick;
        const int x = static_cast<int>(std::lround(frame.x(value * frame.unit)));
        painter.setPen(tokens.hairLine);
        painter.drawLine(x, frame.top, x, below);
        painter.setPen(tokens.dimText);
        QString text = QLocale().toString(value, 'g', 6);
        if (i == lastTick)
            text += QLatin1Char(' ') + frame.unitName;
        const int textWidth = small.horizontalAdvance(text);
        const int numberWidth = small.horizontalAdvance(QLocale().toString(value, 'g', 6));
        painter.drawText(QRect(x - numberWidth / 2, below + 3, textWidth + 2, small.height()), Qt::AlignLeft, text);
    }
    if (m_pool > 0) {
        const int x = static_cast<int>(std::lround(frame.x(static_cast<double>(m_pool))));
        painter.fillRect(QRect(x - 1, frame.top - 2, 2, frame.bars.height() + 4), tokens.text);
        const NumberText pool = bytesText(m_pool);
        const QString text = tr("pool %1 %2").arg(pool.number, pool.unit);
        painter.setPen(tokens.text);
        const int textWidth = small.horizontalAdvance(text);
        const int left
            = std::clamp(x - textWidth / 2, frame.bars.left(), std::max(frame.bars.left(), width() - 8 - textWidth));
        painter.drawText(
            QRect(left, frame.top - small.height() - 3, textWidth + 2, small.height()), Qt::AlignLeft, text);
    }
}

void BridgeView::paintRow(QPainter& painter, const Frame& frame, int number) const
{
    const Row& row = m_rows[number];
    const Tokens& tokens = tokensFor(palette());
    const QRect line = frame.row(number);
    const bool whole = row.kind != Step;
    painter.setFont(whole ? strongFont(font()) : font());
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(QRect(8, line.top(), frame.bars.left() - 14, line.height()), Qt::AlignVCenter, row.name);

    const int barHeight = std::max(4, std::min(line.height() - 4, std::max(16, line.height() / 2)));
    const int y = line.center().y() - barHeight / 2;
    const double low = frame.x(static_cast<double>(std::min(row.from, row.to)));
    const double high = frame.x(static_cast<double>(std::max(row.from, row.to)));
    const bool thin = high - low < 2;
    const QRectF bar(std::round(low), y, std::max(2.0, std::round(high - low)), barHeight);
    if (row.kind == Ideal) {
        painter.fillRect(bar, tokens.idealNeed);
    } else {
        const QColor fill = row.kind == Engine ? tokens.engineNeed : tokens.difference;
        if (row.kind == Engine || thin) {
            painter.fillRect(bar, fill);
        } else {
            painter.fillRect(bar, palette().color(QPalette::Base));
            painter.fillRect(bar, QBrush(fill, Qt::BDiagPattern));
        }
        painter.setPen(QPen(row.kind == Engine ? tokens.text : tokens.difference.darker(130), 1));
        if (!thin)
            painter.drawRect(bar.adjusted(0, 0, -1, -1));
    }
    if (thin) {
        // Seen, but not taken for its size.
        QPainterPath triangle;
        const double x = bar.right() + 4;
        triangle.moveTo(x, line.center().y());
        triangle.lineTo(x + 6, line.center().y() - 4);
        triangle.lineTo(x + 6, line.center().y() + 4);
        painter.fillPath(triangle, tokens.assumed);
    }
    if (number + 1 < m_rows.size()) {
        painter.setPen(QPen(tokens.dimText, 1, Qt::DotLine));
        const int x = static_cast<int>(std::lround(frame.x(static_cast<double>(row.to)))) - 1;
        painter.drawLine(x, y + barHeight, x, y + line.height());
    }

    const NumberText amount = bytesText(row.to - row.from);
    const int right = width() - 8 - frame.unitWidth;
    painter.setPen(palette().color(QPalette::Text));
    painter.setFont(whole ? strongFont(font()) : font());
    const QString sign = row.kind == Step && row.to > row.from ? QStringLiteral("+") : QString();
    painter.drawText(QRect(right - frame.amountWidth - 8, line.top(), frame.amountWidth + 8, line.height()),
        Qt::AlignRight | Qt::AlignVCenter, sign + amount.number);
    painter.setFont(smallFont(font()));
    painter.setPen(tokens.dimText);
    painter.drawText(
        QRect(right + 4, line.top(), frame.unitWidth, line.height()), Qt::AlignLeft | Qt::AlignVCenter, amount.unit);
}

void BridgeView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Tokens& tokens = tokensFor(palette());
    if (m_rows.isEmpty()) {
        painter.setPen(tokens.dimText);
        painter.drawText(rect().adjusted(8, 8, -8, -8), Qt::AlignCenter | Qt::TextWordWrap, m_why);
        return;
    }
    const Frame where = frame();
    paintAxis(painter, where);
    for (int i = 0; i < m_rows.size(); ++i)
        paintRow(painter, where, i);
    if (m_current >= 0 && hasFocus()) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 2));
        painter.drawRect(QRect(3, where.row(m_current).top(), width() - 6, where.rowHeight));
    }
}

void BridgeView::select(int row)
{
    if (row < 0 || row >= m_rows.size())
        return;
    m_current = row;
    update();
    emit figureSelected(m_rows[row].figure);
}

void BridgeView::mousePressEvent(QMouseEvent* event)
{
    const Frame where = frame();
    select((event->pos().y() - where.top) / std::max(1, where.rowHeight));
}

void BridgeView::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Down)
        select(m_current + 1);
    else if (event->key() == Qt::Key_Up)
        select(m_current - 1);
    else
        QWidget::keyPressEvent(event);
}

void BridgeView::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)
        update();
}

} // namespace kvw::gui
