// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/worksheetmodel.h"

#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/field_table.h"

#include <QFont>

#include <algorithm>

namespace kvw::gui {

WorksheetModel::WorksheetModel(PlanDocument& document, QObject* parent)
    : QAbstractItemModel(parent)
    , m_document(document)
{
    connect(&document, &PlanDocument::planChanged, this, &WorksheetModel::rebuild);
    rebuild();
}

namespace {

/// Same groups with the same tensors, and as many ranks: an edit of values only.
template <typename Rows>
bool sameShape(const Rows& a, const Rows& b)
{
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
        return x.tensors.size() == y.tensors.size();
    });
}

} // namespace

void WorksheetModel::rebuild()
{
    const Plan& plan = m_document.plan();
    const Estimate* estimate = m_document.estimate();
    const int ranks = estimate ? std::clamp(static_cast<int>(estimate->engine.ranks.size()), 1, mostRanks) : 1;
    std::vector<Row> rows;
    // A column count that changes needs a reset; the rows are made for it.
    const int before = m_ranks;
    m_ranks = ranks;
    for (std::size_t g = 0; g < plan.worksheet.groups.size(); ++g)
        rows.push_back(groupRow(plan.worksheet.groups[g], estimate ? &estimate->groups[g] : nullptr));
    rows.push_back(totalRow());
    if (before == ranks && sameShape(rows, m_rows)) {
        m_rows = std::move(rows);
        const int last = columnCount() - 1;
        emit dataChanged(index(0, 0), index(rowCount() - 1, last));
        for (int row = 0; row < rowCount(); ++row) {
            const QModelIndex parent = index(row, 0);
            if (rowCount(parent) > 0)
                emit dataChanged(index(0, 0, parent), index(rowCount(parent) - 1, last, parent));
        }
        emit headerDataChanged(Qt::Horizontal, 0, last);
        return;
    }
    m_ranks = before;
    beginResetModel();
    m_ranks = ranks;
    m_rows = std::move(rows);
    endResetModel();
}

void WorksheetModel::fieldCell(Row& row, int column, const std::string& path) const
{
    // The table hands out writable slots; here they are only read.
    const Result<FieldReference> found = findField(const_cast<Plan&>(m_document.plan()), path);
    if (!found)
        return;
    Cell& cell = row.cells[static_cast<std::size_t>(column)];
    cell.field = QString::fromStdString(path);
    cell.edit = QString::fromStdString(fieldText(*found->field, found->slot));
    cell.text = cell.edit.isEmpty() ? QStringLiteral("–") : cell.edit;
    if (found->field->type == FieldType::Count || found->field->type == FieldType::Integer) {
        cell.number = true;
        bool isNumber = false;
        const qlonglong value = cell.edit.toLongLong(&isNumber);
        if (isNumber) {
            cell.text = countText(value);
            cell.sort = static_cast<double>(value);
        }
    }
    for (const std::string_view name : found->field->choices)
        cell.choices.push_back(fromStd(name));
    const auto source = m_document.plan().provenance.find(path);
    if (source && source->kind == Source::Kind::Assumption)
        cell.mark = AssumedMark;
}

void WorksheetModel::figureCell(Row& row, int column, const std::string& path, const Quantity& quantity) const
{
    Cell& cell = row.cells[static_cast<std::size_t>(column)];
    const NumberText text = numberText(quantity);
    cell.text = text.number;
    cell.unit = text.unit;
    cell.exact = text.exact;
    cell.sort = text.sort;
    cell.number = true;
    cell.figure = QString::fromStdString(path);
}

WorksheetModel::Row WorksheetModel::groupRow(const LayerGroup& group, const GroupEstimate* estimate) const
{
    Row row;
    row.cells.resize(static_cast<std::size_t>(FirstRank + m_ranks));
    const std::string base = "worksheet.groups." + group.id + ".";
    fieldCell(row, Name, base + "name");
    fieldCell(row, Kind, base + "kind");
    fieldCell(row, Layers, base + "layers");
    fieldCell(row, Placement, base + "tier");
    if (group.kind == LayerKind::Shared)
        fieldCell(row, Growth, base + "readsGroup");
    for (std::size_t t = 0; t < group.tensors.size(); ++t) {
        const TensorEstimate* tensor = estimate ? &estimate->tensors[t] : nullptr;
        row.tensors.push_back(tensorRow(group, group.tensors[t], tensor));
    }
    if (!estimate)
        return row;
    const std::string figure = "groups." + group.id;
    figureCell(row, PerToken, figure + ".bytesPerToken", estimate->bytesPerToken);
    figureCell(row, Fixed, figure + ".fixedBytesPerSequence", estimate->fixedBytes);
    const auto column = [&](int tokens, const std::string& name, const std::optional<TokenColumn>& pair) {
        if (!pair)
            return;
        figureCell(row, tokens, figure + name + ".tokens", pair->tokens);
        figureCell(row, tokens + 1, figure + name + ".bytes", pair->bytes);
    };
    column(ConfiguredTokens, ".configured", estimate->configured);
    column(RetainedTokens, ".retained", estimate->retained);
    column(ReservedTokens, ".reserved", estimate->reserved);
    const std::vector<RankSizing>& ranks = m_document.estimate()->engine.ranks;
    const auto g = static_cast<std::size_t>(estimate - m_document.estimate()->groups.data());
    if (ranks.empty())
        row.cells[FirstRank].text = tr("no sharding rule chosen");
    for (std::size_t r = 0; r < ranks.size() && r < static_cast<std::size_t>(m_ranks); ++r)
        figureCell(row, FirstRank + static_cast<int>(r), {}, ranks[r].groupBytesPerToken[g]);
    return row;
}

WorksheetModel::Row WorksheetModel::tensorRow(
    const LayerGroup& group, const StateTensor& tensor, const TensorEstimate* estimate) const
{
    Row row;
    row.cells.resize(static_cast<std::size_t>(FirstRank + m_ranks));
    const std::string base = "worksheet.groups." + group.id + ".tensors." + tensor.id + ".";
    row.cells[Name].text = QString::fromStdString(tensor.id);
    fieldCell(row, Kind, base + "role");
    fieldCell(row, Heads, base + "heads");
    fieldCell(row, Width, base + "width");
    fieldCell(row, Type, base + "elementType");
    if (tensor.elementType == ElementType::NotStated) {
        // Not its own: the plan's. Shown dim by the mark of what it follows, edited as its own.
        row.cells[Type].text = fromStd(factsOf(m_document.plan().cache.elementType).name);
    }
    row.cells[Growth].text = QString::fromStdString(growthText(tensor.growth));
    fieldCell(row, Limit, base + "limit");
    fieldCell(row, Shard, base + "shard");
    if (!estimate)
        return row;
    const std::string figure = "groups." + group.id + ".tensors." + tensor.id;
    figureCell(row, PerToken, figure + ".bytesPerToken", estimate->bytesPerToken);
    figureCell(row, Fixed, figure + ".fixedBytesPerSequence", estimate->fixedBytes);
    if (m_document.plan().limits.maxModelLen)
        figureCell(row, ConfiguredBytes, figure + ".configuredBytes", estimate->configuredBytes);
    if (estimate->retainedBytes)
        figureCell(row, RetainedBytes, figure + ".retainedBytes", *estimate->retainedBytes);
    return row;
}

WorksheetModel::Row WorksheetModel::totalRow() const
{
    Row row;
    row.total = true;
    row.cells.resize(static_cast<std::size_t>(FirstRank + m_ranks));
    row.cells[Name].text = tr("Total");
    const Estimate* estimate = m_document.estimate();
    if (!estimate) {
        row.cells[Kind].text = m_document.estimateError();
        return row;
    }
    figureCell(row, PerToken, "bytesPerToken", estimate->bytesPerToken);
    figureCell(row, Fixed, "fixedBytesPerSequence", estimate->fixedBytes);
    for (const int column : {ConfiguredTokens, RetainedTokens, ReservedTokens})
        row.cells[static_cast<std::size_t>(column)].text = tr("per group");
    if (estimate->idealBytes)
        figureCell(row, ConfiguredBytes, "idealBytes", *estimate->idealBytes);
    if (estimate->retainedBytes)
        figureCell(row, RetainedBytes, "retainedBytes", *estimate->retainedBytes);
    if (estimate->reservedBytes)
        figureCell(row, ReservedBytes, "reservedBytes", *estimate->reservedBytes);
    for (std::size_t r = 0; r < estimate->engine.ranks.size() && r < static_cast<std::size_t>(m_ranks); ++r)
        figureCell(row, FirstRank + static_cast<int>(r), "ranks." + std::to_string(r) + ".bytesPerToken",
            estimate->engine.ranks[r].bytesPerToken);
    for (Cell& cell : row.cells)
        cell.mark = TotalMark;
    return row;
}

// An index of a group or of the total has internal id 0; one of a tensor has its group's row + 1.
QModelIndex WorksheetModel::index(int row, int column, const QModelIndex& parent) const
{
    if (!hasIndex(row, column, parent))
        return {};
    return createIndex(row, column, parent.isValid() ? static_cast<quintptr>(parent.row() + 1) : quintptr {0});
}

QModelIndex WorksheetModel::parent(const QModelIndex& child) const
{
    if (!child.isValid() || child.internalId() == 0)
        return {};
    return createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr {0});
}

int WorksheetModel::rowCount(const QModelIndex& parent) const
{
    if (!parent.isValid())
        return static_cast<int>(m_rows.size());
    if (parent.internalId() != 0 || parent.column() != 0)
        return 0;
    return static_cast<int>(m_rows[static_cast<std::size_t>(parent.row())].tensors.size());
}

int WorksheetModel::columnCount(const QModelIndex&) const
{
    return FirstRank + m_ranks;
}

const WorksheetModel::Cell* WorksheetModel::cellAt(const QModelIndex& index) const
{
    if (!index.isValid())
        return nullptr;
    const auto row = static_cast<std::size_t>(index.row());
    const Row& found = index.internalId() == 0 ? m_rows[row] : m_rows[index.internalId() - 1].tensors[row];
    return &found.cells[static_cast<std::size_t>(index.column())];
}

QVariant WorksheetModel::data(const QModelIndex& index, int role) const
{
    const Cell* cell = cellAt(index);
    if (!cell)
        return {};
    switch (role) {
    case Qt::DisplayRole:
        return cell->text;
    case Qt::EditRole:
        return cell->field.isEmpty() ? cell->text : cell->edit;
    case Qt::TextAlignmentRole:
        return static_cast<int>((cell->number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        if (!cell->exact.isEmpty())
            return tr("%1 · F4 to explain").arg(cell->exact);
        return cell->field.isEmpty() ? QVariant() : QVariant(cell->field);
    case Qt::AccessibleTextRole:
        return headerData(index.column(), Qt::Horizontal).toString() + QLatin1Char(' ') + cell->text + QLatin1Char(' ')
            + cell->unit;
    case Qt::FontRole: {
        QFont font;
        const bool group = index.internalId() == 0;
        if (group && (index.column() == Name || cell->mark == TotalMark))
            font.setWeight(QFont::DemiBold);
        return font;
    }
    case SortRole:
        return cell->number ? QVariant(cell->sort) : QVariant();
    case ExactRole:
        return cell->exact.isEmpty() ? cell->text : cell->exact;
    case FigureRole:
        return cell->figure;
    case FieldRole:
        return cell->field;
    case UnitRole:
        return cell->unit;
    case MarkRole:
        return cell->mark;
    case ChoicesRole:
        return cell->choices;
    default:
        return {};
    }
}

QVariant WorksheetModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
        return {};
    if (section >= FirstRank) {
        const bool ranks = m_document.estimate() && !m_document.estimate()->engine.ranks.empty();
        return ranks ? tr("Rank %1 B/token").arg(section - FirstRank) : tr("By rank");
    }
    const QStringList names {tr("Layer group"), tr("Kind"), tr("Layers"), tr("Heads"), tr("Width"), tr("Type"),
        tr("Growth"), tr("Limit"), tr("Placement"), tr("Shard"), tr("B/token"), tr("Fixed B/seq"), tr("Tokens"),
        tr("Bytes"), tr("Tokens"), tr("Bytes"), tr("Tokens"), tr("Bytes")};
    return names.value(section);
}

Qt::ItemFlags WorksheetModel::flags(const QModelIndex& index) const
{
    Qt::ItemFlags flags = QAbstractItemModel::flags(index);
    const Cell* cell = cellAt(index);
    if (cell && !cell->field.isEmpty())
        flags |= Qt::ItemIsEditable;
    return flags;
}

bool WorksheetModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    const Cell* cell = cellAt(index);
    if (!cell || cell->field.isEmpty() || role != Qt::EditRole)
        return false;
    const QString field = cell->field;
    const Result<void> set = m_document.setField(field, value.toString());
    if (!set)
        emit editRefused(field, QString::fromStdString(set.error().text()));
    return set.ok();
}

QModelIndex WorksheetModel::indexOfField(const QString& path) const
{
    const auto findIn = [&](const Row& row, int number, const QModelIndex& parent) {
        for (std::size_t c = 0; c < row.cells.size(); ++c) {
            if (row.cells[c].field == path)
                return index(number, static_cast<int>(c), parent);
        }
        return QModelIndex();
    };
    for (std::size_t g = 0; g < m_rows.size(); ++g) {
        if (const QModelIndex found = findIn(m_rows[g], static_cast<int>(g), {}); found.isValid())
            return found;
        for (std::size_t t = 0; t < m_rows[g].tensors.size(); ++t) {
            const QModelIndex parent = index(static_cast<int>(g), 0);
            if (const QModelIndex found = findIn(m_rows[g].tensors[t], static_cast<int>(t), parent); found.isValid())
                return found;
        }
    }
    return {};
}

} // namespace kvw::gui
