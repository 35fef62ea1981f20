// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "deployment/gpupicker.h"

#include "document/plandocument.h"
#include "models/numbertext.h"
#include "plan/gpu_choice.h"
#include "style/icons.h"

#include <QAction>
#include <QCompleter>
#include <QHeaderView>
#include <QLineEdit>
#include <QStyle>
#include <QTreeView>

#include <algorithm>

namespace kvw::gui {

namespace {

QString soldAs(const LibraryGpu& gpu)
{
    return GpuChoices::tr("%1 GB").arg(countText(gpu.marketedGigabytes));
}

QString memoryOf(const LibraryGpu& gpu)
{
    if (!gpu.memoryBytes)
        return QStringLiteral("⚠ ") + GpuChoices::tr("not stated");
    const NumberText text = bytesText(*gpu.memoryBytes);
    return text.number + QLatin1Char(' ') + text.unit;
}

} // namespace

GpuChoices::GpuChoices(QObject* parent)
    : QAbstractTableModel(parent)
    , m_found(searchGpus({}))
{}

void GpuChoices::search(const QString& text)
{
    beginResetModel();
    m_found = searchGpus(text.toStdString());
    endResetModel();
}

const LibraryGpu* GpuChoices::gpuAt(int row) const
{
    return row >= 0 && row < rowCount() ? m_found[static_cast<std::size_t>(row)] : nullptr;
}

int GpuChoices::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_found.size());
}

int GpuChoices::columnCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant GpuChoices::data(const QModelIndex& index, int role) const
{
    const LibraryGpu* gpu = index.isValid() ? gpuAt(index.row()) : nullptr;
    if (!gpu)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((index.column() == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role == Qt::ToolTipRole)
        return (gpu->memoryBytes ? bytesText(*gpu->memoryBytes).exact + QLatin1Char('\n') : QString())
            + fromStd(gpu->memoryBasis);
    if (role != Qt::DisplayRole && role != Qt::EditRole)
        return {};
    return index.column() == Name ? fromStd(gpu->name) : index.column() == Memory ? memoryOf(*gpu) : soldAs(*gpu);
}

QVariant GpuChoices::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return static_cast<int>((section == Name ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    if (role != Qt::DisplayRole)
        return {};
    return section == Name ? tr("Device") : section == Memory ? tr("Memory, as read") : tr("Sold as");
}

GpuPicker::GpuPicker(PlanDocument& document, QLineEdit& edit)
    : QObject(&edit)
    , m_document(document)
    , m_edit(edit)
    , m_choices(new GpuChoices(this))
    , m_completer(new QCompleter(m_choices, this))
{
    auto* popup = new QTreeView;
    popup->setObjectName(QStringLiteral("gpuList"));
    popup->setAccessibleName(tr("Devices of the library"));
    popup->setRootIsDecorated(false);
    popup->setUniformRowHeights(true);
    popup->setAllColumnsShowFocus(true);
    popup->header()->setStretchLastSection(false);
    m_completer->setPopup(popup);
    m_completer->setCompletionColumn(GpuChoices::Name);
    m_completer->setCompletionMode(QCompleter::UnfilteredPopupCompletion); // the model finds words in any order
    m_completer->setMaxVisibleItems(12);
    // Before the completer: what drops down is what fits.
    connect(&edit, &QLineEdit::textEdited, this, [this](const QString& text) {
        m_choices->search(text);
        fitPopup();
    });
    edit.setCompleter(m_completer);
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &GpuPicker::choose);
    QAction* arrow = edit.addAction(icon(QStringLiteral("down")), QLineEdit::TrailingPosition);
    arrow->setToolTip(tr("Choose from the library of devices"));
    connect(arrow, &QAction::triggered, this, &GpuPicker::showAll);
}

void GpuPicker::showAll()
{
    m_edit.setFocus(Qt::OtherFocusReason);
    m_choices->search({});
    fitPopup();
    m_completer->complete();
}

/// As wide as its columns, beyond the field.
void GpuPicker::fitPopup()
{
    auto* popup = qobject_cast<QTreeView*>(m_completer->popup());
    int width = 2 * popup->frameWidth() + popup->style()->pixelMetric(QStyle::PM_ScrollBarExtent) + 8;
    for (int column = 0; column < GpuChoices::ColumnCount; ++column) {
        popup->resizeColumnToContents(column);
        width += popup->columnWidth(column);
    }
    popup->setMinimumWidth(std::max(width, m_edit.width()));
}

void GpuPicker::choose(const QString& name)
{
    if (const LibraryGpu* gpu = gpuNamed(name.toStdString()))
        m_document.edit(tr("Device: %1").arg(name), [&](Plan& plan) { chooseGpu(plan, *gpu); });
}

QString gpuText(const QString& name)
{
    const LibraryGpu* gpu = gpuNamed(name.toStdString());
    if (!gpu)
        return {};
    const QString basis = gpu->memoryBytes ? fromStd(gpu->memoryBasisKind) : GpuPicker::tr("memory not stated");
    return GpuPicker::tr("sold as %1; %2: %3").arg(soldAs(*gpu), basis, fromStd(gpu->memoryBasis));
}

} // namespace kvw::gui
