// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "models/numberdelegate.h"

#include "models/roles.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QApplication>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPainter>
#include <QToolTip>

namespace kvw::gui {

namespace {

constexpr const char* refusedProperty = "kvwRefused";
constexpr auto typedProperty = "kvwTyped"; // the last that came to the editor was a key

/// The widest binary unit stands in the slot; so "B" and "GiB" leave their numbers aligned. A wider one, as of rates,
/// takes what it needs.
int unitSlot(const QFontMetrics& metrics, const QString& unit)
{
    return std::max(metrics.horizontalAdvance(QStringLiteral("MiB")), metrics.horizontalAdvance(unit)) + 3;
}

QColor inkFor(const QStyleOptionViewItem& view, const QModelIndex& index)
{
    const Tokens& tokens = tokensFor(view.palette);
    if (view.state.testFlag(QStyle::State_Selected))
        return view.palette.color(QPalette::HighlightedText);
    switch (index.data(MarkRole).toInt()) {
    case AssumedMark:
        return tokens.assumed;
    case NotStatedMark:
        return tokens.warning;
    case DiffersMark:
        return tokens.differs;
    case StaleMark:
        return tokens.dimText;
    default:
        break;
    }
    if (index.data(DimRole).toBool())
        return tokens.dimText;
    const QVariant own = index.data(Qt::ForegroundRole);
    return own.isValid() ? own.value<QBrush>().color() : view.palette.color(QPalette::Text);
}

void showRefusal(QWidget* editor, const QString& why)
{
    editor->setProperty(refusedProperty, true);
    QPalette palette = editor->palette();
    palette.setColor(QPalette::Text, tokensFor(palette).differs);
    editor->setPalette(palette);
    editor->setToolTip(why);
    QToolTip::showText(editor->mapToGlobal(QPoint(0, editor->height())), why, editor, {}, 8000);
}

} // namespace

void NumberDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyleOptionViewItem view = option;
    initStyleOption(&view, index);
    const QString text = view.text;
    const QString unit = index.data(UnitRole).toString();
    const Tokens& tokens = tokensFor(view.palette);
    if (index.data(MarkRole).toInt() == AssumedMark)
        view.font.setItalic(true);
    view.text.clear();
    const QStyle* style = view.widget ? view.widget->style() : QApplication::style();
    style->drawControl(QStyle::CE_ItemViewItem, &view, painter, view.widget);

    painter->save();
    const bool selected = view.state.testFlag(QStyle::State_Selected);
    const QColor ink = inkFor(view, index);
    QRect area = style->subElementRect(QStyle::SE_ItemViewItemText, &view, view.widget).adjusted(3, 0, -2, 0);
    if (!unit.isEmpty()) {
        QFont small = smallFont(view.font);
        small.setWeight(QFont::Normal); // one slot for plain and for bold rows: the digits line up
        const int slot = unitSlot(QFontMetrics(small), unit);
        painter->setFont(small);
        painter->setPen(selected || index.data(OddUnitRole).toBool() ? ink : tokens.dimText);
        const QRect unitArea(area.right() - slot + 4, area.top(), slot - 3, area.height());
        painter->drawText(unitArea, Qt::AlignLeft | Qt::AlignVCenter, unit);
        area.setRight(area.right() - slot);
    }
    painter->setFont(view.font);
    painter->setPen(ink);
    const QString shown = view.fontMetrics.elidedText(text, view.textElideMode, area.width());
    painter->drawText(area, static_cast<int>(view.displayAlignment) | Qt::TextSingleLine, shown);
    const bool pointed = view.state.testFlag(QStyle::State_MouseOver) || view.state.testFlag(QStyle::State_HasFocus);
    const bool opens = index.data(SortRole).isValid() && !index.data(FigureRole).toString().isEmpty();
    if (pointed && opens && !shown.isEmpty()) {
        // It opens: a dotted line below.
        const int width = QFontMetrics(view.font).horizontalAdvance(shown);
        const int base = area.center().y() + view.fontMetrics.ascent() / 2 + 2;
        painter->setPen(QPen(selected ? ink : tokens.derived, 1, Qt::DotLine));
        painter->drawLine(area.right() - width, base, area.right(), base);
    }
    painter->restore();
}

QSize NumberDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QSize size = QStyledItemDelegate::sizeHint(option, index);
    size.setHeight(option.fontMetrics.height() + 6);
    size.rwidth() += 8;
    if (const QString unit = index.data(UnitRole).toString(); !unit.isEmpty())
        size.rwidth() += unitSlot(option.fontMetrics, unit);
    return size;
}

QWidget* NumberDelegate::createEditor(QWidget* parent, const QStyleOptionViewItem&, const QModelIndex& index) const
{
    const QStringList choices = index.data(ChoicesRole).toStringList();
    if (choices.isEmpty()) {
        auto* line = new QLineEdit(parent);
        line->setFrame(false);
        line->setAutoFillBackground(true);
        return line;
    }
    auto* combo = new QComboBox(parent);
    const QStringList titles = index.data(ChoiceTitlesRole).toStringList();
    for (qsizetype i = 0; i < choices.size(); ++i)
        combo->addItem(titles.value(i, choices[i]), choices[i]);
    auto* self = const_cast<NumberDelegate*>(this);
    connect(combo, &QComboBox::activated, self, [self, combo] {
        if (combo->property(typedProperty).toBool())
            return; // a letter or an arrow selects; Enter commits, and Escape takes it back
        emit self->commitData(combo);
        emit self->closeEditor(combo);
    });
    return combo;
}

void NumberDelegate::setEditorData(QWidget* editor, const QModelIndex& index) const
{
    if (editor->property(refusedProperty).toBool())
        return; // the text that was refused stays
    const QString text = index.data(Qt::EditRole).toString();
    if (auto* combo = qobject_cast<QComboBox*>(editor))
        combo->setCurrentIndex(std::max(0, combo->findData(text)));
    else if (auto* line = qobject_cast<QLineEdit*>(editor))
        line->setText(text);
}

void NumberDelegate::setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const
{
    const auto* combo = qobject_cast<QComboBox*>(editor);
    const auto* line = qobject_cast<QLineEdit*>(editor);
    const QString text = combo ? combo->currentData().toString() : line ? line->text() : QString();
    editor->setProperty(refusedProperty, false);
    if (text == index.data(Qt::EditRole).toString())
        return;
    const QPersistentModelIndex cell = index;
    if (!model->setData(index, text) && cell.isValid())
        showRefusal(editor, cell.data(RefusalRole).toString());
}

void NumberDelegate::updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex&) const
{
    // Narrow cells get an editor that is wide enough to see what is typed.
    QRect rect = option.rect;
    const int least
        = qobject_cast<QComboBox*>(editor) ? editor->sizeHint().width() : option.fontMetrics.averageCharWidth() * 12;
    if (rect.width() < least)
        rect.setWidth(least);
    if (const QWidget* around = editor->parentWidget(); around && rect.right() > around->width())
        rect.moveRight(around->width() - 1);
    editor->setGeometry(rect);
}

bool NumberDelegate::commit(QWidget* editor)
{
    emit commitData(editor);
    if (editor->property(refusedProperty).toBool())
        return false;
    emit closeEditor(editor);
    return true;
}

bool NumberDelegate::eventFilter(QObject* object, QEvent* event)
{
    auto* editor = qobject_cast<QWidget*>(object);
    if (editor && event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        editor->setProperty(typedProperty, true);
        if (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Tab || key == Qt::Key_Backtab) {
            emit commitData(editor);
            if (editor->property(refusedProperty).toBool())
                return true;
            const bool tab = key == Qt::Key_Tab || key == Qt::Key_Backtab;
            emit closeEditor(editor, !tab ? NoHint : key == Qt::Key_Tab ? EditNextItem : EditPreviousItem);
            return true;
        }
    }
    if (editor && event->type() == QEvent::MouseButtonPress)
        editor->setProperty(typedProperty, false); // its list opens: what is chosen there counts at once
    return QStyledItemDelegate::eventFilter(object, event);
}

} // namespace kvw::gui
