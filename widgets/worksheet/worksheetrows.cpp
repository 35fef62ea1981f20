// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/worksheetrows.h"

#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/field_table.h"

#include <QCoreApplication>
#include <QHash>

#include <algorithm>
#include <array>

namespace kvw::gui {

namespace {

using C = WorksheetColumns;

QString tr(const char* text)
{
    return QCoreApplication::translate("Worksheet", text);
}

const FieldTable& groupFields()
{
    static const FieldTable* table = [] {
        for (const Collection& list : planFields().collections) {
            if (list.path == "worksheet.groups")
                return list.elements;
        }
        Q_UNREACHABLE();
    }();
    return *table;
}

const Field& fieldOf(const FieldTable& table, std::string_view path)
{
    const auto found = std::find_if(
        table.fields.begin(), table.fields.end(), [&](const Field& field) { return field.path == path; });
    Q_ASSERT(found != table.fields.end());
    return *found;
}

class Builder
{
public:
    Builder(const PlanDocument& document, const WorksheetRanks& ranks)
        : m_plan(document.plan())
        , m_estimate(document.estimate())
        , m_error(document.estimateError())
        , m_ranks(ranks)
        , m_groupTable(groupFields())
        , m_tensorTable(*groupFields().collections[0].elements)
    {}

    std::vector<WorksheetRow> rows() const
    {
        std::vector<WorksheetRow> out;
        for (std::size_t g = 0; g < m_plan.worksheet.groups.size(); ++g)
            out.push_back(groupRow(g));
        out.push_back(totalRow());
        markOddUnits(out);
        return out;
    }

private:
    WorksheetRow emptyRow() const
    {
        WorksheetRow row;
        row.cells.resize(static_cast<std::size_t>(C::FirstRank + m_ranks.shown));
        return row;
    }

    static WorksheetCell& at(WorksheetRow& row, int column) { return row.cells[static_cast<std::size_t>(column)]; }

    template <typename Element>
    void fieldCell(
        WorksheetRow& row, int column, const FieldTable& table, const Element& element, const char* name) const
    {
        const Field& field = fieldOf(table, name);
        // The table hands out writable slots; here they are only read.
        const FieldSlot slot = field.slot(const_cast<Element*>(&element));
        WorksheetCell& cell = at(row, column);
        cell.fields = {row.element + QLatin1Char('.') + QLatin1String(name)};
        cell.edit = QString::fromStdString(fieldText(field, slot));
        cell.text = cell.edit.isEmpty() ? QStringLiteral("–") : cell.edit;
        if (field.type == FieldType::Count || field.type == FieldType::Integer) {
            cell.number = true;
            bool isNumber = false;
            const qlonglong value = cell.edit.toLongLong(&isNumber);
            if (isNumber) {
                cell.text = countText(value);
                cell.raw = cell.edit;
                cell.sort = static_cast<double>(value);
            }
        }
        cell.choices = choicesOf(field);
        if (cell.choices && !cell.edit.isEmpty())
            cell.text = cell.choices->titles.at(cell.choices->names.indexOf(cell.edit));
        markSource(cell);
    }

    void markSource(WorksheetCell& cell) const
    {
        for (const QString& field : std::as_const(cell.fields)) {
            const auto source = m_plan.provenance.find(field.toStdString());
            if (source && source->kind == Source::Kind::Assumption)
                cell.mark = AssumedMark;
        }
    }

    static void figureCell(WorksheetRow& row, int column, const QString& path, const Quantity& quantity)
    {
        WorksheetCell& cell = at(row, column);
        const NumberText text = numberText(quantity);
        cell.text = text.number;
        cell.unit = text.unit;
        cell.exact = text.exact;
        cell.raw = text.plain;
        cell.sort = text.sort;
        cell.number = true;
        cell.figure = path;
    }

    static void pair(WorksheetRow& row, int tokens, const QString& path, const std::optional<TokenColumn>& column)
    {
        if (!column)
            return;
        figureCell(row, tokens, path + QLatin1String(".tokens"), column->tokens);
        figureCell(row, tokens + 1, path + QLatin1String(".bytes"), column->bytes);
    }

    /// Heads × width, element type, growth and sharding of one tensor: what a group shows too when all its tensors
    /// agree.
    void tensorCells(WorksheetRow& row, const StateTensor& tensor) const
    {
        const QString base = row.element + QLatin1Char('.');
        WorksheetCell& shape = at(row, C::Shape);
        shape.text = countText(tensor.heads) + QStringLiteral(" × ") + countText(tensor.width);
        shape.edit = QStringLiteral("%1 × %2").arg(tensor.heads).arg(tensor.width);
        shape.fields = {base + QLatin1String("heads"), base + QLatin1String("width")};
        markSource(shape);
        fieldCell(row, C::Type, m_tensorTable, tensor, "elementType");
        if (tensor.elementType == ElementType::NotStated) {
            at(row, C::Type).text = fromStd(factsOf(m_plan.cache.elementType).name); // the plan's own
            at(row, C::Type).dim = true;
        }
        const char* number = tensor.growth.form == GrowthForm::Fixed ? "entries"
            : tensor.growth.form == GrowthForm::Chunked              ? "chunk"
                                                                     : "limit";
        fieldCell(row, C::Growth, m_tensorTable, tensor, number);
        WorksheetCell& growth = at(row, C::Growth);
        growth.text = QString::fromStdString(growthText(tensor.growth));
        growth.edit = growth.text; // it takes its own notation, and the bare number
        growth.raw.clear();
        growth.number = false;
        fieldCell(row, C::Shard, m_tensorTable, tensor, "shard");
    }

    WorksheetRow tensorRow(const QString& group, const StateTensor& tensor, const TensorEstimate* estimate) const
    {
        WorksheetRow row = emptyRow();
        row.element = group + QLatin1String(".tensors.") + QString::fromStdString(tensor.id);
        at(row, C::Name).text = QString::fromStdString(tensor.id);
        fieldCell(row, C::Kind, m_tensorTable, tensor, "role");
        tensorCells(row, tensor);
        if (!estimate)
            return row;
        const QString figure = row.element.mid(static_cast<int>(qstrlen("worksheet.")));
        figureCell(row, C::PerToken, figure + QLatin1String(".bytesPerToken"), estimate->bytesPerToken);
        figureCell(row, C::Fixed, figure + QLatin1String(".fixedBytesPerSequence"), estimate->fixedBytes);
        if (m_plan.limits.maxModelLen)
            figureCell(row, C::ConfiguredBytes, figure + QLatin1String(".configuredBytes"), estimate->configuredBytes);
        if (estimate->retainedBytes)
            figureCell(row, C::RetainedBytes, figure + QLatin1String(".retainedBytes"), *estimate->retainedBytes);
        return row;
    }

    /// What all tensors of a group have in common stands in the group's own row; an edit there sets them all.
    static void shareCells(WorksheetRow& group, const QVector<int>& columns)
    {
        if (group.tensors.empty())
            return;
        for (const int column : columns) {
            WorksheetCell shared = at(group.tensors.front(), column);
            shared.fields.clear();
            for (WorksheetRow& tensor : group.tensors) {
                const WorksheetCell& own = at(tensor, column);
                if (own.text != shared.text) {
                    shared.text = tr("differ");
                    shared.edit.clear();
                    shared.dim = true;
                }
                shared.fields += own.fields;
            }
            at(group, column) = shared;
        }
    }

    WorksheetRow groupRow(std::size_t g) const
    {
        const LayerGroup& group = m_plan.worksheet.groups[g];
        const GroupEstimate* estimate = m_estimate ? &m_estimate->groups[g] : nullptr;
        WorksheetRow row = emptyRow();
        row.element = QLatin1String("worksheet.groups.") + QString::fromStdString(group.id);
        fieldCell(row, C::Name, m_groupTable, group, "name");
        if (group.name.empty())
            at(row, C::Name).text = QString::fromStdString(group.id);
        fieldCell(row, C::Kind, m_groupTable, group, "kind");
        fieldCell(row, C::Layers, m_groupTable, group, "layers");
        fieldCell(row, C::Placement, m_groupTable, group, "tier");
        for (std::size_t t = 0; t < group.tensors.size(); ++t)
            row.tensors.push_back(tensorRow(row.element, group.tensors[t], estimate ? &estimate->tensors[t] : nullptr));
        shareCells(row, {C::Shape, C::Type, C::Growth, C::Shard});
        if (group.kind == LayerKind::Shared) {
            fieldCell(row, C::Growth, m_groupTable, group, "readsGroup");
            at(row, C::Growth).text = tr("reads %1").arg(QString::fromStdString(group.readsGroup));
        }
        if (!estimate)
            return row;
        const QString figure = row.element.mid(static_cast<int>(qstrlen("worksheet.")));
        figureCell(row, C::PerToken, figure + QLatin1String(".bytesPerToken"), estimate->bytesPerToken);
        figureCell(row, C::Fixed, figure + QLatin1String(".fixedBytesPerSequence"), estimate->fixedBytes);
        pair(row, C::ConfiguredTokens, figure + QLatin1String(".configured"), estimate->configured);
        pair(row, C::RetainedTokens, figure + QLatin1String(".retained"), estimate->retained);
        pair(row, C::ReservedTokens, figure + QLatin1String(".reserved"), estimate->reserved);
        for (int r = 0; r < m_ranks.shown && m_ranks.count > 0; ++r) {
            figureCell(row, C::FirstRank + r, QStringLiteral("ranks.%1.%2.bytesPerToken").arg(r).arg(figure),
                m_estimate->engine.ranks[static_cast<std::size_t>(r)].groupBytesPerToken[g]);
        }
        return row;
    }

    WorksheetRow totalRow() const
    {
        WorksheetRow row = emptyRow();
        at(row, C::Name).text = tr("Total");
        if (m_estimate) {
            figureCell(row, C::PerToken, QStringLiteral("bytesPerToken"), m_estimate->bytesPerToken);
            figureCell(row, C::Fixed, QStringLiteral("fixedBytesPerSequence"), m_estimate->fixedBytes);
            const auto total = [&](int tokens, const char* path, const std::optional<Quantity>& bytes) {
                if (!bytes)
                    return;
                at(row, tokens).text = tr("per group"); // tokens of groups that share a pool have no sum
                at(row, tokens).dim = true;
                at(row, tokens).number = true;
                figureCell(row, tokens + 1, QLatin1String(path), *bytes);
            };
            total(C::ConfiguredTokens, "idealBytes", m_estimate->idealBytes);
            total(C::RetainedTokens, "retainedBytes", m_estimate->retainedBytes);
            total(C::ReservedTokens, "reservedBytes", m_estimate->reservedBytes);
            for (int r = 0; r < m_ranks.shown && m_ranks.count > 0; ++r)
                figureCell(row, C::FirstRank + r, QStringLiteral("ranks.%1.bytesPerToken").arg(r),
                    m_estimate->engine.ranks[static_cast<std::size_t>(r)].bytesPerToken);
        }
        for (WorksheetCell& cell : row.cells)
            cell.mark = TotalMark;
        return row;
    }

    /// In each column the unit that most cells have is the usual one.
    static void markOddUnits(std::vector<WorksheetRow>& rows)
    {
        for (std::size_t column = C::PerToken; column < rows.front().cells.size(); ++column) {
            QHash<QString, int> counts;
            const auto each = [&](const auto& visit) {
                for (WorksheetRow& row : rows) {
                    visit(row.cells[column]);
                    for (WorksheetRow& tensor : row.tensors)
                        visit(tensor.cells[column]);
                }
            };
            each([&](WorksheetCell& cell) {
                if (!cell.unit.isEmpty())
                    ++counts[cell.unit];
            });
            if (counts.size() < 2)
                continue;
            QString usual;
            for (auto unit = counts.cbegin(); unit != counts.cend(); ++unit) {
                if (unit.value() > counts.value(usual) || (unit.value() == counts.value(usual) && unit.key() < usual))
                    usual = unit.key();
            }
            each([&](WorksheetCell& cell) { cell.oddUnit = !cell.unit.isEmpty() && cell.unit != usual; });
        }
    }

    const Plan& m_plan;
    const Estimate* m_estimate;
    QString m_error;
    const WorksheetRanks& m_ranks;
    const FieldTable& m_groupTable;
    const FieldTable& m_tensorTable;
};

} // namespace

WorksheetRanks ranksOf(const Estimate* estimate)
{
    WorksheetRanks out;
    out.why = tr("no sharding rule");
    if (!estimate)
        return out;
    out.count = static_cast<int>(estimate->engine.ranks.size());
    if (out.count == 0)
        out.why = !estimate->engine.refusal.empty() ? tr("the engine's rule does not apply")
            : estimate->engine.name == "none"       ? tr("no engine chosen: no sharding rule")
                                                    : tr("no sharding rule");
    out.alike = out.count > 2; // two are shown side by side
    out.shown = out.alike ? 1 : std::clamp(out.count, 1, WorksheetRanks::mostShown);
    return out;
}

std::vector<WorksheetRow> worksheetRows(const PlanDocument& document, const WorksheetRanks& ranks)
{
    return Builder(document, ranks).rows();
}

QString growthNumber(const WorksheetCell& cell, const QString& text)
{
    const auto plain = [](QString law) {
        return law.remove(QLatin1Char(' '))
            .replace(QChar(0x2212), QLatin1Char('-'))
            .replace(QChar(0x00f7), QLatin1Char('/'));
    };
    const QString shown = plain(cell.text);
    const QString typed = plain(text);
    const auto between = [&](const QString& before, const QString& after) {
        return typed.size() > before.size() + after.size() && typed.startsWith(before, Qt::CaseInsensitive)
                && typed.endsWith(after, Qt::CaseInsensitive)
            ? typed.mid(before.size(), typed.size() - before.size() - after.size())
            : text;
    };
    const QString field = cell.fields.value(0);
    if (field.endsWith(QLatin1String(".readsGroup")))
        return text;
    if (field.endsWith(QLatin1String(".entries")))
        return between({}, QStringLiteral("(fixed)"));
    if (field.endsWith(QLatin1String(".chunk")))
        return between(shown.section(QStringLiteral("mod"), 0, 0) + QStringLiteral("mod"), QStringLiteral(")+1"));
    const bool limited = shown.startsWith(QLatin1String("min("));
    const QString inner = limited ? shown.mid(4, shown.lastIndexOf(QLatin1Char(',')) - 4) : shown;
    if (typed.compare(inner, Qt::CaseInsensitive) == 0)
        return {}; // no limit
    return between(QStringLiteral("min(") + inner + QLatin1Char(','), QStringLiteral(")"));
}

} // namespace kvw::gui
