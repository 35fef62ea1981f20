// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QStyledItemDelegate>

namespace kvw::gui {

/// Draws numbers right-aligned with a dim unit in a slot of its own, so that units and decimals line up; edits with a
/// line edit or, where a cell has ChoicesRole, a combo box. Marks (assumed, stale …) have their style here and nowhere
/// else.
///
/// An edit that the model refuses keeps its editor open with the text, in the colour of what differs and with the
/// reason as a tooltip (RefusalRole); Esc gives it up.
class NumberDelegate : public QStyledItemDelegate
{
    Q_OBJECT

public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    void setEditorData(QWidget* editor, const QModelIndex& index) const override;
    void setModelData(QWidget* editor, QAbstractItemModel* model, const QModelIndex& index) const override;
    void updateEditorGeometry(
        QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

    /// Commits what an open editor holds and closes it. False when the model refused it: the editor stays.
    bool commit(QWidget* editor);

protected:
    bool eventFilter(QObject* object, QEvent* event) override;
};

} // namespace kvw::gui
