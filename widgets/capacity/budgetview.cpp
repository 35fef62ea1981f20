// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "capacity/budgetview.h"

#include "blockmap/cellpainter.h"
#include "models/numbertext.h"
#include "style/tokens.h"

#include <QHelpEvent>
#include <QLocale>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace kvw::gui {

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr int mostRows = 8; ///< ranks with a bar of their own; all have the same sizes

QFont smallFont(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 0.92);
    return font;
}

QString sized(const Quantity& bytes)
{
    const NumberText text = numberText(bytes);
    return text.number + QLatin1Char(' ') + text.unit;
}

} // namespace

BudgetView::BudgetView(QWidget* parent)
    : QWidget(parent)
{
    setAccessibleName(tr("Device budget"));
}

void BudgetView::setBudget(Budget budget)
{
    m_budget = std::move(budget);
    QStringList described;
    if (!m_budget.ranks.empty()) {
        for (const BudgetPart& part : m_budget.ranks.front().parts)
            described.push_back(QStringLiteral("%1 %2").arg(QString::fromStdString(part.title), sized(part.bytes)));
    }
    setAccessibleDescription(described.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

bool BudgetView::merged() const
{
    const auto ranks = static_cast<int>(m_budget.ranks.size());
    if (ranks < 2 || area().height() / std::min(mostRows, ranks) > fontMetrics().height() + 4)
        return false;
    const auto same
        = [](const BudgetPart& a, const BudgetPart& b) { return a.id == b.id && a.bytes.number() == b.bytes.number(); };
    return std::all_of(m_budget.ranks.begin(), m_budget.ranks.end(), [&](const RankBudget& rank) {
        const std::vector<BudgetPart>& first = m_budget.ranks.front().parts;
        return std::equal(rank.parts.begin(), rank.parts.end(), first.begin(), first.end(), same);
    });
}

int BudgetView::shownRanks() const
{
    if (merged())
        return 1;
    return std::min(mostRows, static_cast<int>(m_budget.ranks.size()));
}

QSize BudgetView::sizeHint() const
{
    const int line = fontMetrics().height();
    return {480, 8 * line + 12};
}

QSize BudgetView::minimumSizeHint() const
{
    return {240, 5 * fontMetrics().height() + 20};
}

double BudgetView::most() const
{
    double out = 0;
    for (const RankBudget& rank : m_budget.ranks) {
        double sum = 0;
        for (const BudgetPart& part : rank.parts)
            sum += part.bytes.real();
        out = std::max(out, sum);
        if (rank.device)
            out = std::max(out, rank.device->real());
    }
    return out;
}

QRectF BudgetView::area() const
{
    const int left = fontMetrics().horizontalAdvance(tr("Ranks 0–%1").arg(8)) + 16;
    return {double(left), 4, std::max(1.0, width() - left - 24.0),
        std::max(1.0, height() - 3.0 * fontMetrics().height() - 12)};
}

QRectF BudgetView::rowRect(int row) const
{
    const QRectF all = area();
    const double step = std::min(all.height() / std::max(1, shownRanks()), fontMetrics().height() * 2.6);
    const double air = step > 20 ? 6 : 2;
    return {all.left(), all.top() + row * step + air / 2, all.width(), step - air};
}

QVector<BudgetView::Bar> BudgetView::bars(int row) const
{
    QVector<Bar> out;
    const double whole = most();
    if (whole <= 0)
        return out;
    const QRectF rect = rowRect(row);
    double x = rect.left();
    for (const BudgetPart& part : m_budget.ranks[static_cast<std::size_t>(row)].parts) {
        const double width = part.bytes.real() / whole * rect.width();
        out.push_back({QRectF(x, rect.top(), width, rect.height()), &part});
        x += width;
    }
    return out;
}

void BudgetView::paintRank(QPainter& painter, int row)
{
    const Tokens& tokens = tokensFor(palette());
    const RankBudget& rank = m_budget.ranks[static_cast<std::size_t>(row)];
    painter.setFont(font());
    painter.setPen(tokens.text);
    painter.drawText(QRectF(0, rowRect(row).top(), area().left() - 10, rowRect(row).height()),
        Qt::AlignLeft | Qt::AlignVCenter,
        merged() ? tr("Ranks 0–%1").arg(m_budget.ranks.size() - 1) : tr("Rank %1").arg(rank.rank));
    painter.setFont(smallFont(font()));
    QRectF pool;
    for (const Bar& bar : bars(row)) {
        const std::string& id = bar.part->id;
        QColor fill = tokens.blockHeld;
        if (id == "activation" || id == "other")
            fill = tokens.line;
        else if (id == "planned")
            fill = tokens.blockActive;
        else if (id == "left")
            fill = tokens.retainedHead;
        else if (id == "unused" || id == "rest")
            fill = palette().color(QPalette::Base);
        painter.fillRect(bar.rect.adjusted(0, 0, bar.rect.width() > 2 ? -1 : 0, 0), fill);
        if (id == "other")
            painter.fillRect(bar.rect, QBrush(tokens.dimText, Qt::BDiagPattern));
        if (id == "planned" || id == "left")
            pool = pool.united(bar.rect);
        if (id == "unused") {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(tokens.dimText, 1, Qt::DashLine));
            painter.drawRect(bar.rect.adjusted(0.5, 0.5, -0.5, -0.5));
        }
        const QString text
            = QStringLiteral("%1 %2").arg(QString::fromStdString(bar.part->title), sized(bar.part->bytes));
        painter.setPen(inkOn(fill));
        if (painter.fontMetrics().horizontalAdvance(text) + 10 < bar.rect.width()
            && painter.fontMetrics().height() <= bar.rect.height())
            painter.drawText(bar.rect.adjusted(6, 0, -4, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
    }
    if (!pool.isEmpty()) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(tokens.text, 1.5));
        painter.drawRect(pool.adjusted(-1, -1, 0, 1));
    }
}

void BudgetView::paintMarks(QPainter& painter, int row)
{
    const Tokens& tokens = tokensFor(palette());
    const RankBudget& rank = m_budget.ranks[static_cast<std::size_t>(row)];
    if (!rank.pool)
        return;
    double start = 0;
    for (const BudgetPart& part : rank.parts) {
        if (part.id == "planned")
            break;
        start += part.bytes.real();
    }
    const QRectF rect = rowRect(row);
    const auto xOf = [&](double bytes) { return rect.left() + (start + bytes) / most() * rect.width(); };
    struct Mark
    {
        QString text;
        const std::optional<Quantity>& bytes;
        Qt::PenStyle style;
    };
    const bool last = row == shownRanks() - 1;
    double free = -1e9;
    painter.setFont(smallFont(font()));
    for (const Mark& mark : {Mark {tr("■ retained %1"), rank.retained, Qt::SolidLine},
             Mark {tr("┄ configured %1"), rank.configured, Qt::DashLine},
             Mark {tr("▣ reserved %1"), rank.pool, Qt::SolidLine}}) {
        if (!mark.bytes || !mark.bytes->ok())
            continue;
        const double x = xOf(mark.bytes->real());
        painter.setPen(QPen(tokens.text, 2, mark.style));
        painter.drawLine(QPointF(x, rect.top() - 2), QPointF(x, rect.bottom() + (last ? 4 : 2)));
        if (!last)
            continue;
        const QString text = mark.text.arg(sized(*mark.bytes));
        const double width = painter.fontMetrics().horizontalAdvance(text);
        double left = std::clamp(x - width / 2, 0.0, this->width() - width - 2);
        double top = rect.bottom() + 4;
        if (left < free + 8)
            top += painter.fontMetrics().height(); // the label before is in the way
        else
            free = left + width;
        painter.setPen(tokens.text);
        painter.drawText(QRectF(left, top, width + 2, painter.fontMetrics().height()), Qt::AlignLeft, text);
    }
}

void BudgetView::paintAxis(QPainter& painter)
{
    const Tokens& tokens = tokensFor(palette());
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics = painter.fontMetrics();
    const double whole = most() / gib;
    if (whole <= 0)
        return;
    double every = std::pow(10, std::floor(std::log10(whole)));
    if (whole / every < 2)
        every /= 5;
    else if (whole / every < 5)
        every /= 2;
    const QRectF all = area();
    const double y = height() - metrics.height() - 2;
    for (int i = 0; i * every <= whole * 1.0001; ++i) {
        const double x = all.left() + i * every / whole * all.width();
        painter.setPen(tokens.hairLine);
        painter.drawLine(QPointF(x, all.top()), QPointF(x, y));
        painter.setPen(tokens.dimText);
        QString text = QLocale().toString(i * every, 'g', 4);
        if ((i + 1) * every > whole * 1.0001)
            text += tr(" GiB");
        painter.drawText(QRectF(std::min(x - 40, width() - 80.0), y, 80, metrics.height()), Qt::AlignHCenter, text);
    }
}

void BudgetView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (m_budget.ranks.empty()) {
        painter.setPen(tokensFor(palette()).dimText);
        painter.drawText(rect().adjusted(12, 4, -12, -4), Qt::AlignCenter | Qt::TextWordWrap,
            tr("No budget by rank: %1").arg(QString::fromStdString(m_budget.missing)));
        return;
    }
    paintAxis(painter);
    for (int row = 0; row < shownRanks(); ++row)
        paintRank(painter, row);
    for (int row = 0; row < shownRanks(); ++row)
        paintMarks(painter, row);
}

bool BudgetView::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    for (int row = 0; row < shownRanks(); ++row) {
        for (const Bar& bar : bars(row)) {
            if (bar.rect.contains(help->pos())) {
                QToolTip::showText(help->globalPos(),
                    tr("%1: %2").arg(QString::fromStdString(bar.part->title), numberText(bar.part->bytes).exact), this);
                return true;
            }
        }
    }
    QToolTip::hideText();
    return true;
}

} // namespace kvw::gui
