// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "prediction/predictiontables.h"

#include "models/numbertext.h"
#include "report/report_words.h"

#include <QCoreApplication>

namespace kvw::gui {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("PredictionTables", text);
}

constexpr std::array shownOutcomes {
    Outcome::Completed, Outcome::Rejected, Outcome::Cancelled, Outcome::Failed, Outcome::Unfinished};

} // namespace

TenantText tenantTextOf(const Plan& plan)
{
    return [&plan](const std::string& id) { return QString::fromStdString(tenantName(&plan, id)); };
}

QString outcomeText(Outcome outcome)
{
    switch (outcome) {
    case Outcome::Unfinished:
        return tr("unfinished");
    case Outcome::Completed:
        return tr("completed");
    case Outcome::Rejected:
        return tr("rejected");
    case Outcome::Cancelled:
        return tr("cancelled");
    case Outcome::Failed:
        return tr("failed");
    }
    return {};
}

QString outcomesText(const RunRecord& record, bool links)
{
    const std::array<std::int64_t, outcomeCount> counts = record.outcomes();
    const auto number = [&](std::int64_t count, const QString& path) {
        const QString text = countText(count);
        return links ? QStringLiteral("<a href=\"prediction.%1\">%2</a>").arg(path, text) : text;
    };
    QStringList parts;
    for (const Outcome outcome : shownOutcomes) {
        const QString path = QStringLiteral("outcomes.") + QLatin1String(outcomeName(outcome));
        parts.push_back(
            QStringLiteral("%1 %2").arg(number(counts[static_cast<std::size_t>(outcome)], path), outcomeText(outcome)));
    }
    return tr("%1 offered = %2")
        .arg(number(record.totals().offered, QStringLiteral("offered")), parts.join(QStringLiteral(" + ")));
}

/// What the columns of the requests are called in a record's paths; empty: no number.
static constexpr std::array<const char*, 15> requestFigureNames {"", "", "", "promptTokens", "outputTokens",
    "hitTokens", "arrivalStep", "admitStep", "firstTokenStep", "endStep", "preemptions", "recomputedTokens",
    "mostBlocks", "", ""};

QStringList requestHeaders()
{
    return {tr("Request"), tr("Tenant"), tr("Outcome"), tr("Prompt"), tr("Output"), tr("Prefix hits"), tr("Arrives"),
        tr("Admitted"), tr("First token"), tr("Ends"), tr("Preempted"), tr("Recomputed"), tr("Most blocks"),
        tr("First miss"), tr("Reason")};
}

QStringList requestHeaderTips()
{
    return {tr("Number of the request in the workload"), {}, tr("How it ended"), tr("Prompt tokens"),
        tr("Tokens generated"), tr("Prompt tokens served by prefix hits, all admissions together"),
        tr("Step in which it arrives"), tr("Step of its first admission"), tr("Step of its first output token"),
        tr("Step in which it ends"), tr("How often it lost its state"), tr("Tokens computed again after a preemption"),
        tr("Most blocks of the first group that it held at a time"),
        tr("Why the first token that was not served was not, at the first admission"),
        tr("Why it was rejected or failed")};
}

QVector<QVector<Cell>> requestRows(const RunRecord& record, const TenantText& tenantText)
{
    QVector<QVector<Cell>> out;
    for (const RequestRecord& request : record.requests) {
        Cell id = Cell::words(QStringLiteral("r%1").arg(request.id));
        id.sort = static_cast<double>(request.id);
        Cell outcome = Cell::words(outcomeText(request.outcome));
        outcome.warns = request.outcome == Outcome::Rejected || request.outcome == Outcome::Failed;
        Cell preempted = Cell::count(request.preemptions);
        preempted.warns = request.preemptions > 0;
        QVector<Cell> row {id, Cell::words(tenantText(record.tenants[request.tenant].id)), outcome,
            Cell::count(request.promptTokens), Cell::count(request.outputTokens), Cell::count(request.hitTokens),
            Cell::count(request.arrivalStep), Cell::count(request.admitStep, request.admitStep < 0),
            Cell::count(request.firstTokenStep, request.firstTokenStep < 0),
            Cell::count(request.endStep, request.endStep < 0), preempted, Cell::count(request.recomputedTokens),
            Cell::count(request.mostBlocks),
            Cell::words(request.admitStep < 0 ? QStringLiteral("–") : tr(missCauseName(request.missCause))),
            Cell::words(QString::fromStdString(request.reason))};
        for (qsizetype column = 0; column < row.size(); ++column) {
            const char* name = requestFigureNames[static_cast<std::size_t>(column)];
            if (*name)
                row[column].figure
                    = QStringLiteral("prediction.requests.%1.%2").arg(request.id).arg(QLatin1String(name));
        }
        out.push_back(row);
    }
    return out;
}

QStringList tenantHeaders()
{
    return {tr("Tenant"), tr("Prefix\nhits"), tr("Never\nseen"), tr("Evicted"), tr("Not\neligible"), tr("Below\nunit")};
}

QVector<QVector<Cell>> tenantRows(const RunRecord& record, const TenantText& tenantText)
{
    QVector<QVector<Cell>> out;
    for (const TenantRecord& tenant : record.tenants) {
        Cell share;
        share.number = true;
        share.text = percentText(tenant.hitTokens, tenant.promptTokens);
        share.sort = tenant.promptTokens == 0
            ? -1.0
            : static_cast<double>(tenant.hitTokens) / static_cast<double>(tenant.promptTokens);
        const QString base = QStringLiteral("prediction.tenants.%1.").arg(QString::fromStdString(tenant.id));
        share.figure = base + QStringLiteral("hitShare");
        QVector<Cell> row {Cell::words(tenantText(tenant.id)), share};
        for (const MissCause cause :
            {MissCause::NeverSeen, MissCause::Evicted, MissCause::IdentityDiffers, MissCause::BelowUnit}) {
            row.push_back(Cell::count(tenant.missCauses[static_cast<std::size_t>(cause)]));
            row.back().figure = base + QStringLiteral("missCauses.") + QLatin1String(missCauseName(cause));
        }
        out.push_back(row);
    }
    return out;
}

QStringList distributionHeaders()
{
    return {
        tr("Steps"), tr("Cold\nmedian"), tr("\n99 %"), tr("\nmost"), tr("Warm\nmedian"), tr("\n99 %"), tr("\nmost")};
}

StepDistribution distributionOf(const RunRecord& record, int row, bool warm)
{
    switch (row) {
    case 0:
        return record.queueSteps(warm);
    case 1:
        return record.firstTokenSteps(warm);
    case 2:
        return record.perTokenSteps(warm);
    default:
        return record.endToEndSteps(warm);
    }
}

QString distributionTitle(int row)
{
    switch (row) {
    case 0:
        return tr("in the queue");
    case 1:
        return tr("to the first token");
    case 2:
        return tr("per output token");
    default:
        return tr("end to end");
    }
}

/// Short, for the table's first column.
static QString distributionName(int row)
{
    switch (row) {
    case 0:
        return tr("queue");
    case 1:
        return tr("first token");
    case 2:
        return tr("per token");
    default:
        return tr("end to end");
    }
}

/// What the rows are called in a record's paths.
static constexpr std::array<const char*, distributionCount> distributionPaths {
    "queueSteps", "firstTokenSteps", "perTokenSteps", "endToEndSteps"};

QVector<QVector<Cell>> distributionRows(const RunRecord& record)
{
    QVector<QVector<Cell>> out;
    for (int row = 0; row < distributionCount; ++row) {
        QVector<Cell> cells {Cell::words(distributionName(row))};
        for (const bool warm : {false, true}) {
            const StepDistribution distribution = distributionOf(record, row, warm);
            for (const auto& [share, name] :
                {std::pair {0.5, "median"}, std::pair {0.99, "p99"}, std::pair {1.0, "max"}}) {
                cells.push_back(Cell::count(distribution.quantile(share), distribution.sorted.empty()));
                cells.back().figure
                    = QStringLiteral("prediction.%1.%2.%3")
                          .arg(warm ? QStringLiteral("warm") : QStringLiteral("cold"),
                              QLatin1String(distributionPaths[static_cast<std::size_t>(row)]), QLatin1String(name));
            }
        }
        out.push_back(cells);
    }
    return out;
}

} // namespace kvw::gui
