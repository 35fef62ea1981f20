// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/numberdelegate.h"

#include "models/roles.h"
#include "style/tokens.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPainter>

namespace kvw::gui {

namespace {

/// The widest binary unit stands in the slot; so "B" and "GiB" leave their numbers aligned.
int unitSlot(const QFontMetrics& metrics)
{
    return metrics.horizontalAdvance(QStringLiteral("MiB")) + 3;
}

QFont smaller(QFont font)
{
    font.setPointSizeF(font.pointSizeF() * 0.92);
    return font;
}

} // namespace

void NumberDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyleOptionViewItem view = option;
    initStyleOption(&view, index);
    const QString text = view.text;
    const QString unit = index.data(UnitRole).toString();
    const int mark = index.data(MarkRole).toInt();
    const Tokens& tokens = tokensFor(view.palette);
    if (mark == AssumedMark)
        view.font.setItalic(true);
    view.text.clear();
    const QStyle* style = view.widget ? view.widget->style() : QApplication::style();
    style->drawControl(QStyle::CE_ItemViewItem, &view, painter, view.widget);

    painter->save();
    const bool selected = view.state.testFlag(QStyle::State_Selected);
    QColor ink = selected ? view.palette.color(QPalette::HighlightedText) : view.palette.color(QPalette::Text);
    if (!selected && mark == AssumedMark)
        ink = tokens.assumed;
    else if (!selected && mark == NotStatedMark)
        ink = tokens.warning;
    else if (!selected && mark == StaleMark)
        ink = tokens.dimText;
    QRect area = style->subElementRect(QStyle::SE_ItemViewItemText, &view, view.widget).adjusted(3, 0, -3, 0);
    if (!unit.isEmpty() || index.data(SortRole).isValid()) {
        const int slot = unitSlot(QFontMetrics(smaller(view.font)));
        if (!unit.isEmpty()) {
            painter->setFont(smaller(view.font));
            painter->setPen(selected ? ink : tokens.dimText);
            const QRect unitArea(area.right() - slot + 4, area.top(), slot - 3, area.height());
            painter->drawText(unitArea, Qt::AlignLeft | Qt::AlignVCenter, unit);
        }
        const bool inByteColumn = !unit.isEmpty();
        if (inByteColumn)
            area.setRight(area.right() - slot);
    }
    painter->setFont(view.font);
    painter->setPen(ink);
    const QString shown = QFontMetrics(view.font).elidedText(text, Qt::ElideRight, area.width());
    painter->drawText(area, static_cast<int>(view.displayAlignment) | Qt::TextSingleLine, shown);
    painter->restore();
}

QSize NumberDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setHeight(option.fontMetrics.height() + 6);
    size.rwidth() += 8;
    if (!index.data(UnitRole).toString().isEmpty())
        size.rwidth() += unitSlot(option.fontMetrics);
    return size;
}

QWidget* NumberDelegate::createEditor(
    QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    const QStringList choices = index.data(ChoicesRole).toStringList();
    if (choices.isEmpty())
        return new QLineEdit(parent);
    auto* combo = new QComboBox(parent);
    combo->addItems(choices);
    Q_UNUSED(option)
    return combo;
}

void NumberDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const
{
    const QString text = index.data(Qt::EditRole).toString();
    if (auto* combo = qobject_cast<QComboBox*>(editor))
        combo->setCurrentText(text);
    else if (auto* line = qobject_cast<QLineEdit*>(editor))
        line->setText(text);
}

void NumberDelegate::setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const
{
    if (const auto* combo = qobject_cast<QComboBox*>(editor))
        model->setData(index, combo->currentText());
    else if (const auto* line = qobject_cast<QLineEdit*>(editor))
        model->setData(index, line->text());
}

} // namespace kvw::gui
