// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/evidencemodel.h"

#include "evidence/explain.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "style/tokens.h"
#include "units/format.h"

#include <QApplication>
#include <QFont>
#include <QPalette>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace kvw::gui {

namespace {

constexpr int order = 5; // verdicts

NumberText textOf(const Number& number, Unit unit)
{
    const double real = std::visit([](auto plain) { return static_cast<double>(plain); }, number);
    NumberText out;
    out.sort = real;
    if (unit == Unit::BytesPerSecond) {
        const QString text = QString::fromStdString(formatRate(real));
        out.number = text.section(QLatin1Char(' '), 0, 0);
        out.unit = text.section(QLatin1Char(' '), 1);
        out.exact = QString::fromStdString(formatNumber(number)) + QStringLiteral(" B/s");
    } else if (const auto* whole = std::get_if<std::int64_t>(&number)) {
        if (isByteUnit(unit))
            return bytesText(*whole);
        out.number = countText(*whole);
        out.exact = out.number + (unit == Unit::None ? QString() : QLatin1Char(' ') + fromStd(unitName(unit)));
    } else {
        out.number = QString::fromStdString(formatNumber(number));
        out.exact = out.number;
    }
    return out;
}

/// "+42.00 MiB", "−3".
QString differenceText(double difference, Unit unit)
{
    const QString sign = difference < 0 ? QStringLiteral("−") : QStringLiteral("+");
    const NumberText text = textOf(Number {static_cast<std::int64_t>(std::llround(std::abs(difference)))}, unit);
    return sign + text.number + (text.unit.isEmpty() ? QString() : QLatin1Char(' ') + text.unit);
}

QString toleranceText(const EvidenceRow& row)
{
    if (row.toleranceReason.empty())
        return QStringLiteral("–");
    if (row.unit == Unit::BytesPerSecond && row.measured) {
        // A spread: how slow and how fast it was.
        const double measured = std::visit([](auto plain) { return static_cast<double>(plain); }, *row.measured);
        const NumberText slowest = textOf(Number {measured - row.below}, row.unit);
        const NumberText fastest = textOf(Number {measured + row.above}, row.unit);
        return slowest.unit == fastest.unit
            ? QStringLiteral("%1 … %2 %3").arg(slowest.number, fastest.number, fastest.unit)
            : QStringLiteral("%1 %2 … %3 %4").arg(slowest.number, slowest.unit, fastest.number, fastest.unit);
    }
    if (row.below == 0 && row.above == 0)
        return QStringLiteral("0");
    const auto bound = [&](double value) {
        const NumberText text = textOf(Number {static_cast<std::int64_t>(std::llround(value))}, row.unit);
        return text.number + (text.unit.isEmpty() ? QString() : QLatin1Char(' ') + text.unit);
    };
    if (row.below == 0)
        return QStringLiteral("0 … +") + bound(row.above);
    return QStringLiteral("−%1 … +%2").arg(bound(row.below), bound(row.above));
}

bool isSame(const EvidenceRow& a, const EvidenceRow& b)
{
    const auto tie = [](const EvidenceRow& row) {
        return std::tie(row.id, row.title, row.unit, row.estimated, row.predicted, row.measured, row.instrument,
            row.difference, row.below, row.above, row.toleranceReason, row.verdict, row.reason);
    };
    return tie(a) == tie(b);
}

} // namespace

namespace {

/// "✓ 16 agree", "✗ 0 differ", "– 4 without verdict".
QStringList countTexts(const VerdictCounts& counts)
{
    return {EvidenceModel::tr("✓ %1 agree").arg(countText(counts.agrees)),
        EvidenceModel::tr("✗ %1 differ").arg(countText(counts.differs)),
        EvidenceModel::tr("– %1 without verdict").arg(countText(counts.withoutVerdict()))};
}

} // namespace

QString verdictCountText(const std::vector<EvidenceRow>& rows)
{
    return countTexts(countVerdicts(rows)).join(QStringLiteral(" · "));
}

QString verdictCountRichText(const std::vector<EvidenceRow>& rows, const QPalette& palette)
{
    const VerdictCounts counts = countVerdicts(rows);
    const QStringList texts = countTexts(counts);
    const Tokens& tokens = tokensFor(palette);
    const std::array colors {tokens.agrees, counts.differs > 0 ? tokens.differs : tokens.noVerdict, tokens.noVerdict};
    QStringList out;
    for (qsizetype i = 0; i < texts.size(); ++i)
        out.push_back(QStringLiteral("<span style=\"color:%1;font-weight:600\">%2</span>")
                          .arg(colors[static_cast<std::size_t>(i)].name(), texts[i]));
    return out.join(QStringLiteral(" · "));
}

EvidenceModel::EvidenceModel(QObject* parent)
    : QAbstractTableModel(parent)
{}

bool EvidenceModel::setRows(const std::vector<EvidenceRow>& rows, Kind kind, const QString& run)
{
    std::vector<EvidenceRow> ordered = rows;
    std::stable_partition(
        ordered.begin(), ordered.end(), [](const EvidenceRow& row) { return row.verdict == Verdict::Differs; });
    if (kind == m_kind && run == m_run
        && std::equal(ordered.begin(), ordered.end(), m_rows.begin(), m_rows.end(), isSame))
        return false;
    beginResetModel();
    m_rows = std::move(ordered);
    m_kind = kind;
    m_run = run;
    endResetModel();
    return true;
}

void EvidenceModel::setTenantNames(std::map<std::string, std::string> names)
{
    if (names == m_tenantNames)
        return;
    m_tenantNames = std::move(names);
    if (!m_rows.empty())
        emit dataChanged(index(0, Row), index(rowCount() - 1, Row));
}

/// "Prompt tokens by prefix hits, acme": the id at its end gives way to the name.
QString EvidenceModel::titleOf(const EvidenceRow& row) const
{
    const std::size_t comma = row.title.rfind(", ");
    if (row.id.find("hit_tokens") == std::string::npos || comma == std::string::npos)
        return QString::fromStdString(row.title);
    const auto name = m_tenantNames.find(row.title.substr(comma + 2));
    return QString::fromStdString(
        name == m_tenantNames.end() ? row.title : row.title.substr(0, comma + 2) + name->second);
}

const std::vector<EvidenceRow>& EvidenceModel::rows() const
{
    return m_rows;
}

int EvidenceModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int EvidenceModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant EvidenceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    const bool number = section == Estimate || section == Prediction || section == Measured;
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole) {
        switch (section) {
        case Estimate:
            return tr("Closed form, of the plan at the run's size");
        case Prediction:
            return tr("Event by event, the same requests on a device without bytes");
        case Measured:
            return tr("By an instrument that does not ask the serving loop");
        case Tolerance:
            return tr(
                "How much measured may be away from what it is compared with; of a rate, how far it went up and down");
        default:
            return {};
        }
    }
    if (role == Qt::ForegroundRole && section == Measured) {
        const Tokens& tokens = tokensFor(QApplication::palette());
        return m_kind == Kind::Stale ? tokens.staleText : tokens.measured;
    }
    if (role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Row:
        return tr("Row");
    case Estimate:
        return tr("Estimate");
    case Prediction:
        return tr("Prediction");
    case Measured:
        return m_kind == Kind::Stale ? tr("~ Measured") : tr("● Measured");
    case Instrument:
        return tr("Instrument");
    case Tolerance:
        return tr("Tolerance, spread");
    case VerdictColumn:
        return tr("Verdict");
    default:
        return {};
    }
}

const std::optional<Number>* EvidenceModel::numberAt(const EvidenceRow& row, int column) const
{
    switch (column) {
    case Estimate:
        return &row.estimated;
    case Prediction:
        return &row.predicted;
    case Measured:
        return &row.measured;
    default:
        return nullptr;
    }
}

QVariant EvidenceModel::numberData(const EvidenceRow& row, int column, int role) const
{
    const std::optional<Number>& number = *numberAt(row, column);
    const bool open = column == Measured && m_kind == Kind::Running;
    const NumberText text = number ? textOf(*number, row.unit) : NumberText {};
    switch (role) {
    case Qt::DisplayRole:
        return number ? text.number : open ? QStringLiteral("…") : QStringLiteral("–");
    case Qt::ToolTipRole:
        return number ? QVariant(tr("%1 · F4 to explain").arg(text.exact)) : QVariant();
    case ExactRole:
        return number ? QVariant(text.exact) : QVariant();
    case UnitRole:
        return text.unit;
    case SortRole:
        return number ? QVariant(text.sort) : QVariant();
    case MarkRole:
        return m_kind == Kind::Stale ? StaleMark : NoMark;
    case Qt::BackgroundRole: {
        const Tokens& tokens = tokensFor(QApplication::palette());
        QColor tint = tokens.measured;
        tint.setAlphaF(0.06F);
        if (m_kind == Kind::Stale)
            tint = tokens.staleGround;
        return column == Measured ? QVariant(tint) : QVariant();
    }
    default:
        return {};
    }
}

QString EvidenceModel::verdictText(const EvidenceRow& row) const
{
    if (m_kind == Kind::Expected)
        return tr("not run");
    if (m_kind == Kind::Running)
        return tr("… running");
    switch (row.verdict) {
    case Verdict::Agrees:
        return tr("✓ agrees");
    case Verdict::Differs:
        return row.difference ? tr("✗ differs %1").arg(differenceText(*row.difference, row.unit)) : tr("✗ differs");
    case Verdict::SameCounter:
    case Verdict::NotTested:
    case Verdict::NotComparable:
        break;
    }
    return QString::fromStdString(kvw::verdictText(verdictName(row.verdict)));
}

QVariant EvidenceModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const EvidenceRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const int column = index.column();
    const bool differs = row.verdict == Verdict::Differs;
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((numberAt(row, column) ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role == Qt::FontRole && differs && (column == Row || column == VerdictColumn)) {
        QFont font = QApplication::font("QAbstractItemView");
        font.setWeight(QFont::DemiBold);
        return font;
    }
    if (role == FigureRole)
        return figureOf(row, column);
    if (numberAt(row, column))
        return numberData(row, column, role);
    if (role == Qt::ToolTipRole)
        return detail(index.row());
    if (role == Qt::ForegroundRole && column == VerdictColumn && m_kind != Kind::Stale) {
        const Tokens& tokens = tokensFor(QApplication::palette());
        if (m_kind == Kind::Measured && (differs || row.verdict == Verdict::Agrees))
            return differs ? tokens.differs : tokens.agrees;
        return tokens.noVerdict;
    }
    if (role == SortRole && column == VerdictColumn)
        return (static_cast<int>(row.verdict) + order - 1) % order; // differs first
    if (role != Qt::DisplayRole)
        return {};
    switch (column) {
    case Row:
        return titleOf(row);
    case Instrument:
        return QString::fromStdString(row.instrument);
    case Tolerance:
        return toleranceText(row);
    default:
        return verdictText(row);
    }
}

/// "evidence.run3.hit_tokens.acme.measured": the name of the row opens what was measured, tolerance and verdict the
/// comparison.
QString EvidenceModel::figureOf(const EvidenceRow& row, int column) const
{
    EvidenceFigure figure = EvidenceFigure::Measured;
    if (column == Estimate)
        figure = EvidenceFigure::Estimated;
    else if (column == Prediction)
        figure = EvidenceFigure::Predicted;
    else if (column == Tolerance || column == VerdictColumn)
        figure = EvidenceFigure::Verdict;
    return QStringLiteral("evidence.%1.%2.%3")
        .arg(m_run, QString::fromStdString(row.id), fromStd(evidenceFigureName(figure)));
}

QString EvidenceModel::detail(int row) const
{
    if (row < 0 || row >= rowCount())
        return {};
    const EvidenceRow& one = m_rows[static_cast<std::size_t>(row)];
    const auto exact = [&](const std::optional<Number>& number) {
        return number ? textOf(*number, one.unit).exact : QStringLiteral("–");
    };
    QStringList lines {tr("%1: estimate %2, prediction %3, measured %4.")
                           .arg(titleOf(one), exact(one.estimated), exact(one.predicted), exact(one.measured)),
        tr("Instrument: %1.").arg(QString::fromStdString(one.instrument))};
    if (!one.toleranceReason.empty())
        lines.push_back(tr("Tolerance %1: %2.").arg(toleranceText(one), QString::fromStdString(one.toleranceReason)));
    const QString reason = one.reason.empty() ? QString() : QStringLiteral(": ") + QString::fromStdString(one.reason);
    lines.push_back(verdictText(one) + reason + QLatin1Char('.'));
    return lines.join(QLatin1Char('\n'));
}

} // namespace kvw::gui
