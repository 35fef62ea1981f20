// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/worksheetmodel.h"

#include "model/growth_text.h"
#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/field_table.h"
#include "plan/group_edits.h"
#include "worksheet/growthcell.h"

#include <QFont>
#include <QRegularExpression>

#include <algorithm>

namespace kvw::gui {

WorksheetModel::WorksheetModel(PlanDocument& document, QObject* parent)
    : QAbstractItemModel(parent)
    , m_document(document)
{
    connect(&document, &PlanDocument::planChanged, this, &WorksheetModel::rebuild);
    m_ranks = ranksOf(document.estimate());
    m_rows = worksheetRows(document, m_ranks);
}

namespace {

/// The same groups with the same tensors: an edit of values only.
bool sameShape(const std::vector<WorksheetRow>& a, const std::vector<WorksheetRow>& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const WorksheetRow& x, const WorksheetRow& y) {
        return x.element == y.element
            && std::equal(x.tensors.begin(), x.tensors.end(), y.tensors.begin(), y.tensors.end(),
                [](const WorksheetRow& s, const WorksheetRow& t) { return s.element == t.element; });
    });
}

} // namespace

void WorksheetModel::rebuild()
{
    const WorksheetRanks ranks = ranksOf(m_document.estimate());
    std::vector<WorksheetRow> rows = worksheetRows(m_document, ranks);
    m_refusedField.clear();
    if (ranks != m_ranks || !sameShape(rows, m_rows)) {
        beginResetModel();
        m_ranks = ranks;
        m_rows = std::move(rows);
        endResetModel();
        return;
    }
    rows.swap(m_rows); // `rows` is what was
    for (std::size_t g = 0; g < m_rows.size(); ++g) {
        announce(rows[g], m_rows[g], static_cast<int>(g), {});
        const QModelIndex parent = index(static_cast<int>(g), 0);
        for (std::size_t t = 0; t < m_rows[g].tensors.size(); ++t)
            announce(rows[g].tensors[t], m_rows[g].tensors[t], static_cast<int>(t), parent);
    }
}

void WorksheetModel::announce(const WorksheetRow& before, const WorksheetRow& now, int row, const QModelIndex& parent)
{
    int first = -1;
    int last = -1;
    for (std::size_t c = 0; c < now.cells.size(); ++c) {
        if (before.cells[c] == now.cells[c])
            continue;
        first = first < 0 ? static_cast<int>(c) : first;
        last = static_cast<int>(c);
    }
    if (first >= 0)
        emit dataChanged(index(row, first, parent), index(row, last, parent));
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
    return FirstRank + m_ranks.shown;
}

const WorksheetCell* WorksheetModel::cellAt(const QModelIndex& index) const
{
    if (!index.isValid())
        return nullptr;
    const auto row = static_cast<std::size_t>(index.row());
    const WorksheetRow& found = index.internalId() == 0 ? m_rows[row] : m_rows[index.internalId() - 1].tensors[row];
    return &found.cells[static_cast<std::size_t>(index.column())];
}

QVariant WorksheetModel::data(const QModelIndex& index, int role) const
{
    const WorksheetCell* cell = cellAt(index);
    if (!cell)
        return {};
    const bool group = index.internalId() == 0;
    switch (role) {
    case Qt::DisplayRole:
        return cell->text;
    case Qt::EditRole:
        return cell->fields.isEmpty() ? cell->text : cell->edit;
    case Qt::TextAlignmentRole:
        return static_cast<int>((cell->number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        if (!cell->exact.isEmpty())
            return tr("%1 · F4 to explain").arg(cell->exact);
        return cell->fields.isEmpty() ? QVariant() : QVariant(cell->fields.join(QLatin1Char('\n')));
    case Qt::AccessibleTextRole:
        return (headerData(index.column(), Qt::Horizontal).toString() + QLatin1Char(' ') + cell->text + QLatin1Char(' ')
            + cell->unit)
            .trimmed();
    case Qt::FontRole: {
        QFont font;
        if (group && !cell->dim)
            font.setWeight(QFont::DemiBold);
        return font;
    }
    case SortRole:
        return cell->number ? QVariant(cell->sort) : QVariant();
    case ExactRole:
        return cell->exact.isEmpty() ? cell->text : cell->exact;
    case RawRole:
        return cell->raw;
    case FigureRole:
        return cell->figure;
    case FieldRole:
        return cell->fields.value(0);
    case UnitRole:
        return cell->unit;
    case OddUnitRole:
        return cell->oddUnit;
    case MarkRole:
        return cell->mark;
    case DimRole:
        return cell->dim || (!group && cell->number && !cell->unit.isEmpty() && index.column() < ConfiguredTokens);
    case RefusalRole:
        return !m_refusedField.isEmpty()
                && (cell->fields.contains(m_refusedField) || (isTensorId(index) && elementOf(index) == m_refusedField))
            ? m_refusal
            : QString();
    case ChoicesRole:
        return cell->choices ? cell->choices->names : QStringList();
    case ChoiceTitlesRole:
        return cell->choices ? cell->choices->titles : QStringList();
    default:
        return {};
    }
}

QVariant WorksheetModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>(
            (section == Layers || section >= PerToken ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    static const char* const titles[] {QT_TR_NOOP("Layer group"), QT_TR_NOOP("Kind"), QT_TR_NOOP("Layers"),
        QT_TR_NOOP("Heads × w"), QT_TR_NOOP("Type"), QT_TR_NOOP("Growth"), QT_TR_NOOP("Place"), QT_TR_NOOP("Shard"),
        QT_TR_NOOP("Per token"), QT_TR_NOOP("Fixed"), QT_TR_NOOP("Tokens"), QT_TR_NOOP("Bytes"), QT_TR_NOOP("Tokens"),
        QT_TR_NOOP("Bytes"), QT_TR_NOOP("Tokens"), QT_TR_NOOP("Bytes")};
    if (section < FirstRank)
        return tr(titles[section]);
    if (m_ranks.count == 0)
        return QString();
    return m_ranks.alike ? tr("Each rank") : tr("Rank %1").arg(section - FirstRank);
}

Qt::ItemFlags WorksheetModel::flags(const QModelIndex& index) const
{
    Qt::ItemFlags flags = QAbstractItemModel::flags(index);
    const WorksheetCell* cell = cellAt(index);
    if (cell && (!cell->fields.isEmpty() || isTensorId(index)))
        flags |= Qt::ItemIsEditable;
    return flags;
}

bool WorksheetModel::isTensorId(const QModelIndex& index)
{
    return index.isValid() && index.internalId() != 0 && index.column() == Name;
}

/// "8 × 64" sets heads and width, a growth law all that it is made of, any other text each field, of all tensors that
/// the cell stands for.
Result<FieldCells::Edits> WorksheetModel::editsOf(const QModelIndex& index, const QString& text) const
{
    const WorksheetCell* cell = cellAt(index);
    if (!cell || cell->fields.isEmpty())
        return Error {"plan.not_editable", "the cell cannot be edited"};
    Edits out;
    if (index.column() == Growth) {
        const QString number = growthNumber(*cell, text);
        const bool reads = cell->fields.front().endsWith(QLatin1String(".readsGroup"));
        const bool whole = !reads && number == text && isGrowthLaw(text);
        const Result<GrowthLaw> law = whole ? parseGrowth(text.toStdString()) : Result<GrowthLaw>(GrowthLaw {});
        if (!law)
            return law.error();
        for (const QString& field : cell->fields) {
            if (whole)
                out += growthEdits(m_document.plan(), field, *law);
            else
                out.push_back({field, number});
        }
        return out;
    }
    if (index.column() != Shape) {
        for (const QString& field : cell->fields)
            out.push_back({field, text});
        return out;
    }
    static const QRegularExpression pattern(QStringLiteral("^\\s*(\\S+?)\\s*[×xX*]\\s*(\\S+)\\s*$"));
    const QRegularExpressionMatch match = pattern.match(text);
    if (!match.hasMatch())
        return Error {"plan.type", "not a shape", {{}, cell->fields.front().toStdString()}, text.toStdString(),
            "heads × width, such as 8 × 64"};
    for (const QString& field : cell->fields)
        out.push_back({field, match.captured(field.endsWith(QLatin1String(".heads")) ? 1 : 2)});
    return out;
}

QString WorksheetModel::cellName(const QModelIndex& index) const
{
    return tr("%1 of %2")
        .arg(headerData(index.column(), Qt::Horizontal).toString(), elementOf(index).section(QLatin1Char('.'), -1));
}

PlanDocument& WorksheetModel::editedDocument() const
{
    return m_document;
}

void WorksheetModel::refuse(const QModelIndex& index, const QString& why)
{
    const WorksheetCell* cell = cellAt(index);
    m_refusedField = cell && !cell->fields.isEmpty() ? cell->fields.front() : QString();
    m_refusal = why;
    emit editRefused(m_refusedField, m_refusal);
}

bool WorksheetModel::rename(const QModelIndex& index, const QString& id)
{
    const QString element = elementOf(index);
    const std::string group = element.section(QLatin1Char('.'), 2, 2).toStdString();
    const QString tensor = element.section(QLatin1Char('.'), 4, 4);
    Plan changed = m_document.plan();
    if (const Result<void> done = renameTensor(changed, group, tensor.toStdString(), id.toStdString()); !done) {
        m_refusedField = element;
        m_refusal = QString::fromStdString(done.error().text());
        emit editRefused(element, m_refusal);
        return false;
    }
    m_document.edit(tr("Rename %1: %2").arg(tensor, id), [&](Plan& plan) { plan = std::move(changed); });
    return true;
}

bool WorksheetModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    const WorksheetCell* found = cellAt(index);
    const QString text = value.toString();
    if (role == Qt::EditRole && isTensorId(index))
        return rename(index, text.trimmed());
    if (!found || found->fields.isEmpty() || role != Qt::EditRole)
        return false;
    const QString name = QStringLiteral("%1: %2").arg(cellName(index), text);
    const Result<Edits> edits = editsOf(index, text);
    const Result<void> set = !edits ? Result<void>(edits.error())
        : edits->size() == 1        ? m_document.setField(edits->front().first, edits->front().second)
                                    : m_document.setFields(name, *edits);
    if (!set)
        refuse(index, QString::fromStdString(set.error().text()));
    return set.ok();
}

template <typename Matches>
QModelIndex WorksheetModel::find(Matches matches) const
{
    const auto findIn = [&](const WorksheetRow& row, int number, const QModelIndex& parent) {
        for (std::size_t c = 0; c < row.cells.size(); ++c) {
            if (matches(row.cells[c]))
                return index(number, static_cast<int>(c), parent);
        }
        return QModelIndex();
    };
    // Tensors first: a group's cell stands for those of its tensors.
    for (std::size_t g = 0; g < m_rows.size(); ++g) {
        const QModelIndex parent = index(static_cast<int>(g), 0);
        for (std::size_t t = 0; t < m_rows[g].tensors.size(); ++t) {
            if (const QModelIndex found = findIn(m_rows[g].tensors[t], static_cast<int>(t), parent); found.isValid())
                return found;
        }
        if (const QModelIndex found = findIn(m_rows[g], static_cast<int>(g), {}); found.isValid())
            return found;
    }
    return {};
}

QModelIndex WorksheetModel::indexOfField(const QString& path) const
{
    return find([&](const WorksheetCell& cell) { return cell.fields.contains(path); });
}

QModelIndex WorksheetModel::indexOfFigure(const QString& path) const
{
    return find([&](const WorksheetCell& cell) { return !path.isEmpty() && cell.figure == path; });
}

QString WorksheetModel::elementOf(const QModelIndex& index) const
{
    if (!index.isValid())
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    return index.internalId() == 0 ? m_rows[row].element : m_rows[index.internalId() - 1].tensors[row].element;
}

QModelIndex WorksheetModel::indexOfElement(const QString& element) const
{
    for (std::size_t g = 0; g < m_rows.size() && !element.isEmpty(); ++g) {
        const QModelIndex group = index(static_cast<int>(g), 0);
        if (m_rows[g].element == element)
            return group;
        for (std::size_t t = 0; t < m_rows[g].tensors.size(); ++t) {
            if (m_rows[g].tensors[t].element == element)
                return index(static_cast<int>(t), 0, group);
        }
    }
    return {};
}

const WorksheetRanks& WorksheetModel::ranks() const
{
    return m_ranks;
}

} // namespace kvw::gui
