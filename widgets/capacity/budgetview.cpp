// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "capacity/budgetview.h"

#include "blockmap/cellpainter.h"
#include "models/numbertext.h"
#include "style/tokens.h"

#include <QHelpEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <array>
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

/// Inside the pool's outline its parts need not say whose they are.
QString shortTitle(const BudgetPart& part)
{
    return QString::fromStdString(part.title).section(QLatin1String(": "), -1);
}

} // namespace

BudgetView::BudgetView(QWidget* parent)
    : QWidget(parent)
{
    setAccessibleName(tr("Device budget"));
    setMouseTracking(true);
}

void BudgetView::setBudget(Budget budget)
{
    m_budget = std::move(budget);
    QStringList described;
    if (m_budget.ranks > 0) {
        for (const BudgetPart& part : m_budget.each.parts)
            described.push_back(QStringLiteral("%1 %2").arg(QString::fromStdString(part.title), sized(part.bytes)));
    }
    setAccessibleDescription(described.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

bool BudgetView::merged() const
{
    const std::int64_t ranks = m_budget.ranks; // all alike
    return ranks > 1 && area().height() / std::min<std::int64_t>(mostRows, ranks) <= fontMetrics().height() + 4;
}

int BudgetView::shownRanks() const
{
    if (merged())
        return 1;
    return static_cast<int>(std::min<std::int64_t>(mostRows, m_budget.ranks));
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
    double sum = 0;
    for (const BudgetPart& part : m_budget.each.parts)
        sum += std::max(0.0, part.bytes.real());
    return m_budget.each.device ? std::max(sum, m_budget.each.device->real()) : sum;
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
    for (const BudgetPart& part : m_budget.each.parts) {
        const double width = std::max(0.0, part.bytes.real()) / whole * rect.width();
        out.push_back({QRectF(x, rect.top(), width, rect.height()), &part});
        x += width;
    }
    return out;
}

void BudgetView::paintRank(QPainter& painter, int row)
{
    const Tokens& tokens = tokensFor(palette());
    painter.setFont(font());
    painter.setPen(tokens.text);
    painter.drawText(QRectF(0, rowRect(row).top(), area().left() - 10, rowRect(row).height()),
        Qt::AlignLeft | Qt::AlignVCenter, merged() ? tr("Ranks 0–%1").arg(m_budget.ranks - 1) : tr("Rank %1").arg(row));
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
        else if (id == "outside" || id == "unaccounted" || id == "remainder")
            fill = palette().color(QPalette::Base);
        painter.fillRect(bar.rect.adjusted(0, 0, bar.rect.width() > 2 ? -1 : 0, 0), fill);
        if (id == "other")
            painter.fillRect(bar.rect, QBrush(tokens.dimText, Qt::BDiagPattern));
        if (id == "planned" || id == "left")
            pool = pool.united(bar.rect);
        if (id == "outside" || id == "unaccounted") {
            painter.setBrush(Qt::NoBrush);
            painter.setPen(QPen(tokens.dimText, 1, Qt::DashLine));
            painter.drawRect(bar.rect.adjusted(0.5, 0.5, -0.5, -0.5));
        }
        const QString text = QStringLiteral("%1 %2").arg(shortTitle(*bar.part), sized(bar.part->bytes));
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
    const RankBudget& rank = m_budget.each;
    if (!rank.pool)
        return;
    double start = 0;
    for (const BudgetPart& part : rank.parts) {
        if (part.id == "planned")
            break;
        start += std::max(0.0, part.bytes.real());
    }
    const QRectF rect = rowRect(row);
    const auto xOf = [&](double bytes) { return rect.left() + (start + bytes) / most() * rect.width(); };
    struct Mark
    {
        QString id;
        QString text;
        const std::optional<Quantity>& bytes;
        Qt::PenStyle style;
    };
    const bool last = row == shownRanks() - 1;
    std::array<double, 3> taken; // right ends of the texts in each line
    taken.fill(-1e9);
    painter.setFont(smallFont(font()));
    for (const Mark& mark : {Mark {QStringLiteral("retained"), tr("■ retained %1"), rank.retained, Qt::SolidLine},
             Mark {QStringLiteral("configured"), tr("┄ configured %1"), rank.configured, Qt::DashLine},
             Mark {QStringLiteral("pool"), tr("▣ reserved %1"), rank.pool, Qt::SolidLine}}) {
        if (!mark.bytes || !mark.bytes->ok())
            continue;
        const double x = xOf(mark.bytes->real());
        painter.setPen(QPen(tokens.text, 2, mark.style));
        painter.drawLine(QPointF(x, rect.top() - 2), QPointF(x, rect.bottom() + (last ? 4 : 2)));
        if (!last)
            continue;
        const QString text = mark.text.arg(sized(*mark.bytes));
        const double width = painter.fontMetrics().horizontalAdvance(text);
        const double left = std::clamp(x - width / 2, 0.0, this->width() - width - 2);
        std::size_t line = 0; // below the labels that are in the way
        while (line + 1 < taken.size() && left < taken[line] + 8)
            ++line;
        taken[line] = left + width;
        const double top = rect.bottom() + 4 + static_cast<double>(line) * painter.fontMetrics().height();
        const QRectF box(left, top, width + 2, painter.fontMetrics().height());
        painter.setPen(tokens.text);
        painter.drawText(box, Qt::AlignLeft, text);
        m_labels.push_back({box, QStringLiteral("ranks.%1.budget.%2").arg(row).arg(mark.id)});
    }
}

void BudgetView::paintAxis(QPainter& painter)
{
    const Tokens& tokens = tokensFor(palette());
    painter.setFont(smallFont(font()));
    const QFontMetrics metrics = painter.fontMetrics();
    // The unit in which the whole is a number that is read.
    const double unit = most() >= gib ? gib : most() >= gib / 1024 ? gib / 1024 : gib / 1024 / 1024;
    const QString name = unit == gib ? tr("GiB") : unit == gib / 1024 ? tr("MiB") : tr("KiB");
    const double whole = most() / unit;
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
            text += QLatin1Char(' ') + name;
        painter.drawText(QRectF(std::min(x - 40, width() - 80.0), y, 80, metrics.height()), Qt::AlignHCenter, text);
    }
}

void BudgetView::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    m_labels.clear();
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (m_budget.ranks == 0) {
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

QString BudgetView::figureAt(const QPointF& point) const
{
    for (int row = 0; row < shownRanks(); ++row) {
        for (const Bar& bar : bars(row)) {
            if (bar.rect.contains(point))
                return QStringLiteral("ranks.%1.budget.%2").arg(row).arg(QString::fromStdString(bar.part->id));
        }
    }
    for (const Label& label : m_labels) {
        if (label.rect.contains(point))
            return label.figure;
    }
    return {};
}

void BudgetView::mousePressEvent(QMouseEvent* event)
{
    if (const QString figure = figureAt(event->position()); !figure.isEmpty())
        emit figureSelected(figure);
}

void BudgetView::mouseMoveEvent(QMouseEvent* event)
{
    setCursor(figureAt(event->position()).isEmpty() ? Qt::ArrowCursor : Qt::PointingHandCursor);
}

} // namespace kvw::gui
