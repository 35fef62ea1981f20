// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What the capacity page shows of the plan: map, table, reasons, bytes over tokens.

#include "capacity/capacitypage.h"
#include "document/plandocument.h"
#include "models/celltablemodel.h"
#include "models/numbertext.h"
#include "plot/plotview.h"
#include "style/tokens.h"

#include <QLabel>

#include <cmath>

namespace kvw::gui {

namespace {

constexpr double gib = 1024.0 * 1024 * 1024;
constexpr int curvePoints = 96;

QString sized(const Quantity& bytes)
{
    const NumberText text = numberText(bytes);
    return text.unit.isEmpty() ? text.number : text.number + QLatin1Char(' ') + text.unit;
}

/// The figure as a cell that opens.
Cell figureCell(const std::optional<Quantity>& quantity, std::int64_t length, const char* path)
{
    if (!quantity || !quantity->ok())
        return Cell::count(0, true);
    Cell out = Cell::count(quantity->integer());
    out.figure = QStringLiteral("capacity.%1.%2").arg(length).arg(QLatin1String(path));
    return out;
}

/// A number in a sentence, which opens.
QString link(const QString& figure, const QString& text)
{
    return QStringLiteral("<a href=\"%1\">%2</a>").arg(figure.toHtmlEscaped(), text);
}

/// A link to the field that a plan without capacity map lacks first.
QString nextStep(const Plan& plan, bool noLength)
{
    if (noLength)
        return link(QStringLiteral("limits.maxModelLen"), CapacityPage::tr("State the configured maximum"));
    if (plan.engine.name.empty() || plan.engine.name == "none")
        return link(QStringLiteral("engine.name"), CapacityPage::tr("Choose an engine"));
    return link(QStringLiteral("budget.kvBytesPerRank"), CapacityPage::tr("State what is available for state"));
}

} // namespace

void CapacityPage::refreshMap()
{
    const Plan& plan = m_document.plan();
    const std::vector<std::int64_t> lengths = capacityLengths(plan);
    std::vector<LengthCapacity> columns;
    QString missing;
    if (lengths.empty())
        missing = tr("neither a configured maximum nor the model's longest sequence is stated");
    for (const std::int64_t length :
        CapacityMap::columnLengths(lengths.empty() ? 0 : lengths.front(), lengths.empty() ? 0 : lengths.back())) {
        Result<LengthCapacity> capacity = capacityAt(plan, length);
        if (!capacity)
            missing = QString::fromStdString(capacity.error().text());
        else if (!capacity->engineSequences)
            missing = QString::fromStdString(capacity->missing);
        if (!missing.isEmpty())
            break;
        columns.push_back(std::move(*capacity));
    }
    m_map->setVisible(missing.isEmpty());
    m_mapNote->setVisible(!missing.isEmpty());
    m_mapNote->setText(tr("No capacity map: %1.").arg(missing.toHtmlEscaped()) + QStringLiteral("<br><br>")
        + nextStep(plan, lengths.empty()));
    if (!missing.isEmpty())
        columns.clear();
    std::optional<CapacityMap::Point> mark;
    if (plan.limits.maxModelLen && plan.limits.concurrentSequences)
        mark = CapacityMap::Point {*plan.limits.maxModelLen, *plan.limits.concurrentSequences};
    m_map->setCapacity(std::move(columns), mark);
}

void CapacityPage::refreshTable()
{
    const Plan& plan = m_document.plan();
    m_lengths.clear();
    QVector<QVector<Cell>> rows;
    for (const std::int64_t length : capacityLengths(plan)) {
        Result<LengthCapacity> capacity = capacityAt(plan, length);
        if (!capacity || !capacity->engineSequences)
            continue;
        Cell tokens = Cell::count(length);
        tokens.strong = length == plan.limits.maxModelLen;
        Cell engine = figureCell(capacity->engineSequences, length, "engineSequences");
        engine.strong = true;
        Cell lost = Cell::count(0, true);
        if (capacity->idealSequences && capacity->idealSequences->ok() && capacity->idealSequences->integer() > 0) {
            const std::int64_t ideal = capacity->idealSequences->integer();
            const std::int64_t less = ideal - capacity->engineSequences->integer();
            lost.text = (less > 0 ? QStringLiteral("−") : QString()) + percentText(less, ideal);
            lost.sort = static_cast<double>(less) / static_cast<double>(ideal);
            lost.figure = QStringLiteral("capacity.%1.lost").arg(length);
        }
        rows.push_back({tokens, engine, figureCell(capacity->idealSequences, length, "idealSequences"), lost,
            figureCell(capacity->blocksEach, length, "blocksEach")});
        m_lengths.push_back(std::move(*capacity));
    }
    m_model->setRows(rows);
}

void CapacityPage::refreshReasons()
{
    const Plan& plan = m_document.plan();
    const Estimate* estimate = m_document.estimate();
    QString headline;
    QString text;
    if (estimate && plan.limits.maxModelLen) {
        const EngineSizing& engine = estimate->engine;
        QStringList parts;
        for (const NeedDifference& difference : engine.differences) {
            if (difference.bytes.ok() && difference.bytes.integer() != 0)
                parts.push_back(QStringLiteral("%1 %2").arg(QString::fromStdString(difference.title),
                    link(QStringLiteral("differences.") + QString::fromStdString(difference.id),
                        sized(difference.bytes))));
        }
        const Result<LengthCapacity> here = capacityAt(plan, *plan.limits.maxModelLen);
        if (here && here->heldBlocks && here->heldBlocks->integer() > 0)
            parts.push_back(tr("%1 block of the pool is never given away")
                                .arg(link(QStringLiteral("capacity.%1.heldBlocks").arg(*plan.limits.maxModelLen),
                                    countText(here->heldBlocks->integer()))));
        if (engine.engineNeedBytes)
            text += tr("<b>Why the lines part</b><br>At %1 tokens, for the planned sequences: %2.")
                        .arg(countText(*plan.limits.maxModelLen),
                            parts.isEmpty() ? tr("they do not") : parts.join(QStringLiteral(", ")));
        if (engine.availableBytes && engine.blocks)
            headline = tr("Limit: pool of each rank, %1 blocks")
                           .arg(link(QStringLiteral("figure"), countText(engine.blocks->integer())));
        QString two;
        if (engine.availableBytes)
            two += tr("<br>Available memory %1, per rank")
                       .arg(link(QStringLiteral("engine.availableBytes"), sized(*engine.availableBytes)));
        if (engine.largestLength)
            two += tr("<br>Longest request that the engine admits %1 tokens")
                       .arg(link(QStringLiteral("engine.largestLength"), sized(*engine.largestLength)));
        if (engine.largestHeld)
            two += tr("<br>Longest that the pool can hold, alone, %1 tokens")
                       .arg(link(QStringLiteral("engine.largestHeld"), sized(*engine.largestHeld)));
        if (!two.isEmpty())
            text += tr("<p><b>Two figures, two reasons</b>%1</p>").arg(two);
        const std::vector<LimitMove> moves = limitMoves(plan);
        if (!moves.empty()) {
            text += tr("<b>What would move the limit at %1 tokens</b><table width='100%'>")
                        .arg(countText(*plan.limits.maxModelLen));
            for (const LimitMove& move : moves)
                text += QStringLiteral("<tr><td>%1</td><td align='right'><b>%2</b></td></tr>")
                            .arg(QString::fromStdString(move.title),
                                link(QStringLiteral("capacity.move.%1=%2")
                                         .arg(QString::fromStdString(move.path), QString::fromStdString(move.value)),
                                    countText(move.sequences)));
            text += QStringLiteral("</table>");
        }
    }
    setHeadline(headline, QStringLiteral("engine.blocks"));
    m_reasons->setText(text);
    m_reasons->setVisible(!text.isEmpty());
}

void CapacityPage::refreshBytes()
{
    const Plan& plan = m_document.plan();
    const Tokens& tokens = tokensFor(palette());
    const Estimate* estimate = m_document.estimate();
    const std::vector<std::int64_t> known = capacityLengths(plan);
    const std::int64_t most = plan.limits.maxModelLen.value_or(known.empty() ? 0 : known.back());
    std::vector<std::int64_t> lengths;
    for (int i = 0; most > 0 && i <= curvePoints; ++i)
        lengths.push_back(static_cast<std::int64_t>(static_cast<double>(most) * i / curvePoints));
    const Result<std::vector<std::vector<std::int64_t>>> bytes = bytesOverTokens(plan, lengths);
    if (!bytes || lengths.empty()) {
        m_bytes->clear();
        return;
    }
    const std::array colors {tokens.tenants[0], tokens.tenants[5], tokens.tenants[4], tokens.tenants[6]};
    QVector<PlotSeries> series;
    for (std::size_t g = 0; g < bytes->size(); ++g) {
        if (plan.worksheet.groups[g].tensors.empty())
            continue;
        PlotSeries one {QString::fromStdString(plan.worksheet.groups[g].name.empty() ? plan.worksheet.groups[g].id
                                                                                     : plan.worksheet.groups[g].name),
            {}, {}, colors[g % colors.size()]};
        one.filled = true;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            one.x.push_back(static_cast<double>(lengths[i]));
            one.y.push_back(static_cast<double>((*bytes)[g][i]) / gib);
        }
        series.push_back(one);
    }
    QVector<PlotLimit> limits;
    if (plan.limits.maxModelLen)
        limits.push_back({tr("┄ configured"), static_cast<double>(*plan.limits.maxModelLen), true});
    if (plan.worksheet.retainedTokens)
        limits.push_back({tr("■ retained"), static_cast<double>(*plan.worksheet.retainedTokens), true});
    if (estimate && estimate->reservedBytes)
        limits.push_back(
            {tr("▣ reserved %1").arg(sized(*estimate->reservedBytes)), estimate->reservedBytes->real() / gib, false});
    m_bytes->setSeries(series, limits);
}

} // namespace kvw::gui
