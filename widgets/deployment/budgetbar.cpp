// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "deployment/budgetbar.h"

#include "models/numbertext.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr int margin = 8;
constexpr int barHeight = 30;

/// What of a part's title has room: all of it, its first word where that says something, or nothing.
QString nameFor(const QString& title, const QFontMetrics& metrics, int room)
{
    const QString whole = title.section(QLatin1String(": "), -1);
    const QString first = whole.section(QLatin1Char(' '), 0, 0);
    if (metrics.horizontalAdvance(whole) < room)
        return whole;
    return first != QLatin1String("not") && metrics.horizontalAdvance(first) < room ? first : QString();
}

} // namespace

QBrush budgetBrush(const QString& id, const QPalette& palette)
{
    const Tokens& tokens = tokensFor(palette);
    if (id == QLatin1String("planned"))
        return tokens.blockActive;
    if (id == QLatin1String("left"))
        return tokens.retainedHead;
    if (id == QLatin1String("weights"))
        return tokens.blockHeld;
    if (id == QLatin1String("activation"))
        return QBrush(tokens.dimText, Qt::BDiagPattern);
    if (id == QLatin1String("other"))
        return QBrush(tokens.dimText, Qt::DiagCrossPattern);
    if (id == QLatin1String("remainder"))
        return QBrush(tokens.idealNeed, Qt::Dense6Pattern);
    if (id == QLatin1String("unaccounted"))
        return QBrush(tokens.assumed, Qt::Dense7Pattern);
    return tokens.blockFree;
}

BudgetBar::BudgetBar(QWidget* parent)
    : QWidget(parent)
{
    setAutoFillBackground(true);
    setBackgroundRole(QPalette::Base);
    setAccessibleName(tr("Budget of one rank"));
    setMouseTracking(true);
}

void BudgetBar::setParts(const std::vector<BudgetPart>& parts, const QString& why)
{
    m_parts.clear();
    m_total = 0;
    m_why = why;
    QStringList spoken;
    for (const BudgetPart& part : parts) {
        const qint64 bytes = part.bytes.integer();
        m_parts.push_back({QString::fromStdString(part.id), QString::fromStdString(part.title), bytes});
        m_total += std::max<qint64>(0, bytes);
        spoken.push_back(m_parts.back().title + QLatin1Char(' ') + bytesText(bytes).exact);
    }
    setAccessibleDescription(spoken.join(QStringLiteral("; ")));
    update();
}

QSize BudgetBar::sizeHint() const
{
    return {300, barHeight + 2 * margin + fontMetrics().height() + 4};
}

QSize BudgetBar::minimumSizeHint() const
{
    return {160, sizeHint().height()};
}

QRect BudgetBar::rectOf(int part) const
{
    const double room = width() - 2 * margin;
    double before = 0;
    for (int i = 0; i < part; ++i)
        before += static_cast<double>(std::max<qint64>(0, m_parts[i].bytes));
    const double bytes = static_cast<double>(std::max<qint64>(0, m_parts[part].bytes));
    const double total = static_cast<double>(std::max<qint64>(1, m_total));
    const int left = margin + static_cast<int>(std::lround(before / total * room));
    const int right = margin + static_cast<int>(std::lround((before + bytes) / total * room));
    return {left, margin, bytes > 0 ? std::max(2, right - left) : 0, barHeight};
}

int BudgetBar::partAt(const QPoint& point) const
{
    for (int i = 0; i < m_parts.size(); ++i) {
        if (rectOf(i).contains(point))
            return i;
    }
    return -1;
}

QBrush BudgetBar::brushOf(const Part& part) const
{
    return budgetBrush(part.id, palette());
}

void BudgetBar::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    const Tokens& tokens = tokensFor(palette());
    if (m_total <= 0) {
        painter.setPen(tokens.dimText);
        painter.drawText(rect().adjusted(margin, 0, -margin, 0), Qt::AlignCenter | Qt::TextWordWrap, m_why);
        return;
    }
    QRect pool;
    for (int i = 0; i < m_parts.size(); ++i) {
        const QRect box = rectOf(i);
        if (box.isEmpty())
            continue;
        painter.fillRect(box, palette().color(QPalette::Base));
        painter.fillRect(box, brushOf(m_parts[i]));
        painter.setPen(QPen(tokens.line, 1));
        painter.drawRect(box.adjusted(0, 0, -1, -1));
        if (m_parts[i].id == QLatin1String("planned") || m_parts[i].id == QLatin1String("left"))
            pool = pool.united(box);
        const QFont small = smallFont(font());
        const QString name = nameFor(m_parts[i].title, QFontMetrics(small), box.width() - 10);
        if (!name.isEmpty()) {
            const bool solid = brushOf(m_parts[i]).style() == Qt::SolidPattern;
            const QColor ground = solid ? brushOf(m_parts[i]).color() : palette().color(QPalette::Base);
            painter.setFont(small);
            if (!solid) {
                QRect behind(0, 0, QFontMetrics(small).horizontalAdvance(name) + 6, QFontMetrics(small).height());
                behind.moveCenter(box.center());
                painter.fillRect(behind, ground);
            }
            painter.setPen(ground.lightnessF() < 0.55F ? QColor(Qt::white) : QColor(Qt::black));
            painter.drawText(box, Qt::AlignCenter, name);
        }
    }
    if (!pool.isEmpty()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(tokens.text, 2));
        painter.drawRect(pool.adjusted(0, 0, -1, -1));
    }
    painter.setFont(smallFont(font()));
    painter.setPen(tokens.dimText);
    const NumberText total = bytesText(m_total);
    painter.drawText(QRect(margin, margin + barHeight + 3, width() - 2 * margin, fontMetrics().height()),
        Qt::AlignRight, tr("%1 %2 in all").arg(total.number, total.unit));
}

void BudgetBar::mousePressEvent(QMouseEvent* event)
{
    if (const int part = partAt(event->pos()); part >= 0)
        emit figureSelected(QStringLiteral("budget.") + m_parts[part].id);
}

bool BudgetBar::event(QEvent* event)
{
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        if (const int part = partAt(help->pos()); part >= 0)
            QToolTip::showText(help->globalPos(),
                m_parts[part].title + QStringLiteral(": ") + bytesText(m_parts[part].bytes).exact, this);
        return true;
    }
    return QWidget::event(event);
}

} // namespace kvw::gui
