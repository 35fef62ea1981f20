// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/rowactions.h"

#include "plan/elements.h"
#include "plan/group_edits.h"
#include "worksheet/retypedialog.h"
#include "worksheet/splitdialog.h"
#include "worksheet/worksheetmodel.h"
#include "worksheet/worksheetview.h"

#include <QAction>
#include <QItemSelectionModel>
#include <QMenu>
#include <QSet>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr auto groupList = "worksheet.groups";

QString groupOf(const QString& element)
{
    return element.section(QLatin1Char('.'), 2, 2);
}

QString tensorOf(const QString& element)
{
    return element.section(QLatin1Char('.'), 4, 4);
}

/// Disabled, it says why.
void setAvailable(QAction* action, const QString& why)
{
    action->setEnabled(why.isEmpty());
    action->setToolTip(why);
    action->setStatusTip(why);
}

} // namespace

RowActions::RowActions(PlanDocument& document, WorksheetModel& model, WorksheetView& view, QWidget* page)
    : QObject(page)
    , m_document(document)
    , m_model(model)
    , m_view(view)
    , m_page(page)
    , m_menu(new QMenu(page))
{
    m_menu->setToolTipsVisible(true);
    add(tr("&Add a layer group"), tr("Ins"), &RowActions::addGroup);
    m_addTensor = add(tr("Add a &tensor to the group"), tr("Shift+Ins"), &RowActions::addTensor);
    m_duplicate = add(tr("&Duplicate the group or tensor"), tr("Ctrl+D"), &RowActions::duplicate);
    m_menu->addSeparator();
    m_split = add(tr("&Split the group…"), tr("Ctrl+Shift+D"), &RowActions::split);
    m_merge = add(tr("&Merge the selected groups"), tr("Ctrl+M"), &RowActions::merge);
    m_retype = add(tr("Re&type the group…"), tr("Ctrl+T"), &RowActions::retype);
    m_menu->addSeparator();
    m_up = m_menu->addAction(tr("Move &up"), this, [this] { move(-1); });
    m_down = m_menu->addAction(tr("Move do&wn"), this, [this] { move(1); });
    m_up->setShortcut(QKeySequence(tr("Alt+Up")));
    m_down->setShortcut(QKeySequence(tr("Alt+Down")));
    m_menu->addSeparator();
    m_remove = add(tr("&Remove the selected row"), tr("Del"), &RowActions::remove);
    for (QAction* action : m_menu->actions()) {
        if (action->isSeparator())
            continue;
        action->setShortcutContext(Qt::WidgetShortcut); // of the table: an editor in it keeps its keys
        view.addAction(action);
        page->addAction(action); // found by the command field
    }
    connect(view.selectionModel(), &QItemSelectionModel::selectionChanged, this, &RowActions::refresh);
    connect(view.selectionModel(), &QItemSelectionModel::currentChanged, this, &RowActions::refresh);
    connect(&document, &PlanDocument::planChanged, this, &RowActions::refresh);
    refresh();
}

QAction* RowActions::add(const QString& text, const QString& key, void (RowActions::*slot)())
{
    QAction* action = m_menu->addAction(text, this, slot);
    action->setShortcut(QKeySequence(key));
    return action;
}

QMenu* RowActions::menu() const
{
    return m_menu;
}

QString RowActions::element() const
{
    return m_model.elementOf(m_view.currentIndex());
}

QString RowActions::group() const
{
    return groupOf(element());
}

QStringList RowActions::selectedGroups() const
{
    QStringList out;
    QSet<QString> known;
    const auto addRow = [&](const QModelIndex& row) {
        const QString id = groupOf(m_model.elementOf(row));
        if (!id.isEmpty() && !known.contains(id)) {
            known.insert(id);
            out.push_back(id);
        }
    };
    for (const QItemSelectionRange& range : m_view.selectionModel()->selection()) {
        for (int row = range.top(); row <= range.bottom(); ++row)
            addRow(m_model.index(row, 0, range.parent()));
    }
    return out;
}

void RowActions::refresh()
{
    const QString row = element();
    const QString id = groupOf(row);
    const QString none = id.isEmpty() ? tr("Select a layer group first.") : QString();
    for (QAction* action : {m_addTensor, m_duplicate, m_retype, m_remove})
        setAvailable(action, none);
    const auto& groups = m_document.plan().worksheet.groups;
    const Result<std::size_t> at = groupPosition(m_document.plan(), id.toStdString());
    const bool single = at && groups[*at].layers < 2;
    setAvailable(m_split, single ? tr("A group of one layer cannot be split.") : none);
    setAvailable(m_merge,
        selectedGroups().size() < 2 ? tr("Select cells of two or more layer groups that keep the same state.")
                                    : QString());
    std::size_t place = at ? *at : 0;
    std::size_t count = groups.size();
    if (at && !tensorOf(row).isEmpty()) {
        const auto& tensors = groups[*at].tensors;
        const std::string tensor = tensorOf(row).toStdString();
        place = static_cast<std::size_t>(std::find_if(tensors.begin(), tensors.end(), [&](const StateTensor& one) {
            return one.id == tensor;
        }) - tensors.begin());
        count = tensors.size();
    }
    setAvailable(m_up, at && place == 0 ? tr("It is the first already.") : none);
    setAvailable(m_down, at && place + 1 >= count ? tr("It is the last already.") : none);
}

bool RowActions::edit(const QString& name, const std::function<Result<void>(Plan&)>& change)
{
    Plan tried = m_document.plan();
    if (const Result<void> done = change(tried); !done) {
        emit message(QString::fromStdString(done.error().text()));
        return false;
    }
    m_document.edit(name, [&](Plan& plan) { plan = std::move(tried); });
    return true;
}

void RowActions::showGroup(const QString& id)
{
    emit fieldRequested(QStringLiteral("worksheet.groups.%1.name").arg(id));
}

void RowActions::addGroup()
{
    const QString behind = group();
    const std::string id = freeElementId(m_document.plan(), groupList, "group");
    const QString name = QString::fromStdString(id);
    const bool done = edit(tr("Add layer group %1").arg(name), [&](Plan& plan) -> Result<void> {
        const Result<std::string> path = addElement(plan, groupList, id);
        if (!path)
            return path.error();
        LayerGroup& added = plan.worksheet.groups.back();
        added.name = id;
        added.tensors = attentionTensors(1, 1, 1, {});
        const Result<std::size_t> at = groupPosition(plan, behind.toStdString());
        return at ? moveGroup(plan, id, *at + 1) : Result<void>();
    });
    if (done)
        showGroup(name);
}

void RowActions::addTensor()
{
    const QString row = element();
    const QString owner = groupOf(row);
    if (owner.isEmpty()) {
        emit message(tr("Select the layer group that shall keep one more tensor."));
        return;
    }
    const std::string like = tensorOf(row).toStdString();
    const std::string list = "worksheet.groups." + owner.toStdString() + ".tensors";
    const std::string id = freeElementId(m_document.plan(), list, like.empty() ? "tensor" : like);
    const bool done
        = edit(tr("Add tensor %1 to %2").arg(QString::fromStdString(id), owner), [&](Plan& plan) -> Result<void> {
              const Result<std::string> path = addElement(plan, list, id, like);
              return path ? Result<void>() : Result<void>(path.error());
          });
    if (done)
        emit fieldRequested(QString::fromStdString(list + "." + id + ".role"));
}

void RowActions::duplicate()
{
    if (!tensorOf(element()).isEmpty())
        return addTensor();
    const QString id = group();
    QString copy;
    const bool done = !id.isEmpty() && edit(tr("Duplicate %1").arg(id), [&](Plan& plan) -> Result<void> {
        const Result<std::string> made = duplicateGroup(plan, id.toStdString());
        if (!made)
            return made.error();
        copy = QString::fromStdString(*made);
        return {};
    });
    if (done)
        showGroup(copy);
}

void RowActions::split()
{
    const QString id = group();
    if (id.isEmpty())
        return;
    auto* dialog = new SplitDialog(m_document, id, m_page);
    connect(dialog, &SplitDialog::groupReady, this, &RowActions::showGroup);
    connect(dialog, &SplitDialog::refused, this, &RowActions::message);
    dialog->show();
}

void RowActions::merge()
{
    const QStringList ids = selectedGroups();
    std::vector<std::string> names;
    for (const QString& id : ids)
        names.push_back(id.toStdString());
    QString first;
    for (const LayerGroup& one : m_document.plan().worksheet.groups) {
        if (first.isEmpty() && ids.contains(QString::fromStdString(one.id)))
            first = QString::fromStdString(one.id);
    }
    Plan tried = m_document.plan();
    if (const Result<void> merged = mergeGroups(tried, names); !merged) {
        Error error = merged.error();
        const QString field = QString::fromStdString(error.where.at);
        error.where.at = field.section(QLatin1Char('.'), 2).toStdString(); // "sliding.kind"
        emit message(tr("Not merged: %1").arg(QString::fromStdString(error.text())));
        emit fieldRequested(field); // where the groups part
        return;
    }
    if (edit(tr("Merge %1").arg(ids.join(QStringLiteral(", "))), [&](Plan& plan) { return mergeGroups(plan, names); }))
        showGroup(first);
}

void RowActions::retype()
{
    const QString id = group();
    if (id.isEmpty())
        return;
    auto* dialog = new RetypeDialog(m_document, id, m_page);
    connect(dialog, &RetypeDialog::groupReady, this, &RowActions::showGroup);
    connect(dialog, &RetypeDialog::refused, this, &RowActions::message);
    dialog->show();
}

void RowActions::move(int direction)
{
    const QString row = element();
    const std::string id = groupOf(row).toStdString();
    const std::string tensor = tensorOf(row).toStdString();
    const int column = m_view.currentIndex().column();
    const bool done = edit(
        tr("Move %1").arg(row.mid(static_cast<int>(qstrlen("worksheet.groups.")))), [&](Plan& plan) -> Result<void> {
            const Result<std::size_t> at = groupPosition(plan, id);
            if (!at)
                return at.error();
            const auto by = static_cast<std::size_t>(direction); // from the first one up: no place in the list
            if (tensor.empty())
                return moveGroup(plan, id, *at + by);
            const auto& tensors = plan.worksheet.groups[*at].tensors;
            const auto found = std::find_if(
                tensors.begin(), tensors.end(), [&](const StateTensor& one) { return one.id == tensor; });
            return moveTensor(plan, id, tensor, static_cast<std::size_t>(found - tensors.begin()) + by);
        });
    if (!done)
        return;
    emit fieldRequested(row + (tensor.empty() ? QStringLiteral(".name") : QStringLiteral(".role")));
    m_view.setCurrentIndex(m_view.currentIndex().siblingAtColumn(column));
}

void RowActions::remove()
{
    const QString row = element();
    if (row.isEmpty())
        return;
    edit(tr("Remove %1").arg(row.mid(static_cast<int>(qstrlen("worksheet.groups.")))),
        [&](Plan& plan) { return removeElement(plan, row.toStdString()); });
}

} // namespace kvw::gui
