// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/elementmodel.h"

#include "models/numbertext.h"
#include "models/roles.h"
#include "plan/field_table.h"

#include <QHash>

#include <algorithm>

namespace kvw::gui {

namespace {

const Collection& collectionAt(const QString& path)
{
    const std::string key = path.toStdString();
    const auto& lists = planFields().collections;
    const auto found
        = std::find_if(lists.begin(), lists.end(), [&](const Collection& list) { return list.path == key; });
    Q_ASSERT(found != lists.end());
    return *found;
}

const Field* fieldNamed(const FieldTable& table, const QString& name)
{
    const std::string key = name.toStdString();
    const auto found
        = std::find_if(table.fields.begin(), table.fields.end(), [&](const Field& field) { return field.path == key; });
    return found == table.fields.end() ? nullptr : &*found;
}

} // namespace

ElementModel::ElementModel(
    PlanDocument& document, const QString& list, const QString& idTitle, const QStringList& fields, QObject* parent)
    : QAbstractTableModel(parent)
    , m_document(document)
    , m_list(list)
    , m_idTitle(idTitle)
    , m_fields(fields)
{
    for (const QString& name : fields) {
        const Field* field = fieldNamed(*collectionAt(list).elements, name);
        Q_ASSERT(field);
        m_titles.push_back(fromStd(field->title));
        m_numbers.push_back(field->type == FieldType::Integer || field->type == FieldType::Count);
    }
    m_rows = rows();
    connect(&document, &PlanDocument::planChanged, this, &ElementModel::rebuild);
}

std::vector<ElementModel::Row> ElementModel::rows() const
{
    QHash<QString, const Diagnostic*> problems;
    for (const Diagnostic& diagnostic : m_document.diagnostics()) {
        const Diagnostic*& known = problems[QString::fromStdString(diagnostic.path)];
        if (!known || known->severity < diagnostic.severity)
            known = &diagnostic;
    }
    const Collection& list = collectionAt(m_list);
    // The table hands out writable slots; here they are only read.
    auto* plan = const_cast<Plan*>(&m_document.plan());
    std::vector<Row> out(list.size(plan));
    for (std::size_t r = 0; r < out.size(); ++r) {
        void* element = list.at(plan, r);
        const QString base = m_list + QLatin1Char('.') + QString::fromStdString(*list.id(element)) + QLatin1Char('.');
        out[r].push_back({QString::fromStdString(*list.id(element)), {}, {}, {}, {}, false, NoMark});
        for (const QString& name : m_fields) {
            const Field& field = *fieldNamed(*list.elements, name);
            const FieldSlot slot = field.slot(element);
            Cell cell;
            cell.field = base + name;
            cell.edit = QString::fromStdString(fieldText(field, slot));
            cell.number = field.type == FieldType::Integer || field.type == FieldType::Count;
            cell.text = !isStated(slot) ? QStringLiteral("–")
                : cell.number           ? countText(cell.edit.toLongLong())
                                        : QString::fromStdString(fieldDisplay(field, slot));
            cell.choices = choicesOf(field);
            if (const Diagnostic* problem = problems.value(cell.field)) {
                cell.problem = QString::fromStdString(problem->message);
                cell.mark = problem->severity == Severity::Error ? DiffersMark
                    : problem->severity == Severity::Warning     ? NotStatedMark
                                                                 : NoMark;
                if (problem->severity != Severity::Note)
                    cell.text.prepend(
                        problem->severity == Severity::Error ? QStringLiteral("✗ ") : QStringLiteral("! "));
            }
            out[r].push_back(std::move(cell));
        }
    }
    return out;
}

void ElementModel::rebuild()
{
    std::vector<Row> now = rows();
    m_refusedField.clear();
    const bool same = std::equal(now.begin(), now.end(), m_rows.begin(), m_rows.end(),
        [](const Row& a, const Row& b) { return a.front().text == b.front().text; });
    if (!same) {
        beginResetModel();
        m_rows = std::move(now);
        endResetModel();
        return;
    }
    now.swap(m_rows); // `now` is what was
    for (std::size_t r = 0; r < m_rows.size(); ++r) {
        if (now[r] != m_rows[r])
            emit dataChanged(index(static_cast<int>(r), 0), index(static_cast<int>(r), columnCount() - 1));
    }
}

int ElementModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int ElementModel::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_fields.size()) + 1;
}

QVariant ElementModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid())
        return {};
    const Cell& cell = m_rows[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
    switch (role) {
    case Qt::DisplayRole:
    case ExactRole:
        return cell.text;
    case Qt::EditRole:
        return cell.field.isEmpty() ? cell.text : cell.edit;
    case Qt::TextAlignmentRole:
        return static_cast<int>((cell.number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::ToolTipRole:
        return (cell.text.isEmpty() ? QString() : cell.text + QLatin1Char('\n')) // whole, where the cell is narrow
            + (cell.problem.isEmpty() ? QString() : cell.problem + QLatin1Char('\n')) + cell.field;
    case Qt::AccessibleTextRole:
        return headerData(index.column(), Qt::Horizontal).toString() + QLatin1Char(' ') + cell.text;
    case RawRole:
        return cell.number ? cell.edit : QString();
    case SortRole:
        return cell.number ? QVariant(cell.edit.toDouble()) : QVariant();
    case FieldRole:
        return cell.field;
    case MarkRole:
        return cell.mark;
    case ChoicesRole:
        return cell.choices ? cell.choices->names : QStringList();
    case ChoiceTitlesRole:
        return cell.choices ? cell.choices->titles : QStringList();
    case RefusalRole:
        return !cell.field.isEmpty() && cell.field == m_refusedField ? m_refusal : QString();
    default:
        return {};
    }
}

QVariant ElementModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || section < 0 || section > m_fields.size())
        return {};
    if (role == Qt::DisplayRole)
        return section == 0 ? m_idTitle : m_titles[section - 1];
    if (role == Qt::TextAlignmentRole) {
        const bool number = section > 0 && m_numbers[section - 1];
        return static_cast<int>((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter | Qt::TextWordWrap);
    }
    return {};
}

Qt::ItemFlags ElementModel::flags(const QModelIndex& index) const
{
    Qt::ItemFlags flags = QAbstractTableModel::flags(index);
    if (index.isValid() && index.column() > 0)
        flags |= Qt::ItemIsEditable;
    return flags;
}

bool ElementModel::setData(const QModelIndex& index, const QVariant& value, int role)
{
    if (!index.isValid() || index.column() == 0 || role != Qt::EditRole)
        return false;
    const QString field = data(index, FieldRole).toString();
    const Result<void> set = m_document.setField(field, value.toString());
    if (!set)
        refuse(index, QString::fromStdString(set.error().text()));
    return set.ok();
}

Result<FieldCells::Edits> ElementModel::editsOf(const QModelIndex& index, const QString& text) const
{
    const QString field = data(index, FieldRole).toString();
    if (field.isEmpty())
        return Error {"plan.not_editable", "the cell cannot be edited"};
    return Edits {{field, text}};
}

QString ElementModel::cellName(const QModelIndex& index) const
{
    return tr("%1 of %2").arg(headerData(index.column(), Qt::Horizontal).toString(), idAt(index.row()));
}

PlanDocument& ElementModel::editedDocument() const
{
    return m_document;
}

void ElementModel::refuse(const QModelIndex& index, const QString& why)
{
    m_refusedField = data(index, FieldRole).toString();
    m_refusal = why;
    emit editRefused(m_refusedField, m_refusal);
}

QModelIndex ElementModel::indexOfField(const QString& path) const
{
    for (std::size_t r = 0; r < m_rows.size(); ++r) {
        for (std::size_t c = 1; c < m_rows[r].size(); ++c) {
            if (m_rows[r][c].field == path)
                return index(static_cast<int>(r), static_cast<int>(c));
        }
    }
    return {};
}

QString ElementModel::idAt(int row) const
{
    return row >= 0 && row < rowCount() ? m_rows[static_cast<std::size_t>(row)].front().text : QString();
}

} // namespace kvw::gui
