// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tenants/trustview.h"

#include "models/clipboard.h"
#include "serving/trust.h"
#include "style/tokens.h"
#include "tenants/trustmodel.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QStyledItemDelegate>

#include <algorithm>

namespace kvw::gui {

namespace {

/// The colour of a group: that of its first member's place, from the list's other end, so that a group and a tenant are
/// not taken for each other.
QColor groupColor(const QModelIndex& index, const Tokens& tokens)
{
    for (int column = 0; column < index.model()->columnCount(); ++column) {
        const int trust = index.sibling(index.row(), column).data(TrustModel::TrustRole).toInt();
        if (trust != static_cast<int>(Trust::Never))
            return tokens.tenants[7 - static_cast<std::size_t>(column) % 8];
    }
    return tokens.tenants[7];
}

class TrustDelegate final : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Tokens& tokens = tokensFor(option.palette);
        const auto trust = static_cast<Trust>(index.data(TrustModel::TrustRole).toInt());
        const QRect rect = option.rect;
        const QString text = option.fontMetrics.elidedText(index.data().toString(), Qt::ElideRight, rect.width() - 8);
        QColor ink = option.palette.color(QPalette::Text);
        painter->save();
        if (trust == Trust::Own) {
            painter->fillRect(rect, tokens.blockHeld);
            ink = tokens.blockHeld.lightnessF() < 0.55F ? Qt::white : Qt::black;
        } else if (trust == Trust::Group) {
            QColor tint = groupColor(index, tokens);
            painter->fillRect(rect, option.palette.color(QPalette::Base));
            QColor lines = tint;
            tint.setAlphaF(0.18F);
            lines.setAlphaF(0.55F);
            painter->fillRect(rect, tint);
            painter->fillRect(rect, QBrush(lines, Qt::BDiagPattern));
            const int width = option.fontMetrics.horizontalAdvance(text) + 6;
            QRect behind(0, 0, width, option.fontMetrics.height());
            behind.moveCenter(rect.center());
            painter->fillRect(behind, option.palette.color(QPalette::Base));
        } else {
            painter->fillRect(rect, option.palette.color(QPalette::Base));
            ink = tokens.dimText;
        }
        painter->setPen(ink);
        painter->drawText(rect, Qt::AlignCenter, text);
        if (index.data(TrustModel::UnenforcedRole).toBool()) {
            QPainterPath corner;
            corner.moveTo(rect.bottomLeft() + QPoint(0, 1));
            corner.lineTo(rect.bottomLeft() + QPoint(9, 1));
            corner.lineTo(rect.bottomLeft() + QPoint(0, -8));
            painter->fillPath(corner, tokens.differs);
        }
        if (option.state.testFlag(QStyle::State_HasFocus) || option.state.testFlag(QStyle::State_Selected)) {
            painter->setPen(QPen(option.palette.color(QPalette::Highlight), 2));
            painter->drawRect(rect.adjusted(1, 1, -1, -1));
        }
        painter->restore();
    }
};

} // namespace

TrustView::TrustView(TrustModel& model, QWidget* parent)
    : QTableView(parent)
    , m_model(model)
{
    setModel(&model);
    setItemDelegate(new TrustDelegate(this));
    setSelectionMode(QAbstractItemView::SingleSelection);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setTabKeyNavigation(false);
    setCornerButtonEnabled(false);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Trust matrix: may the row hit what the column stored"));
    horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    horizontalHeader()->setHighlightSections(false);
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setHighlightSections(false);
    verticalHeader()->setMaximumWidth(24 * fontMetrics().averageCharWidth()); // a long name leaves room for the cells
    verticalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    connect(&model, &QAbstractItemModel::modelReset, this, &TrustView::fit);
    connect(&model, &QAbstractItemModel::dataChanged, this, &TrustView::fit);
    fit();
}

void TrustView::fit()
{
    int cell = fontMetrics().horizontalAdvance(QStringLiteral("own")) + 20;
    for (int row = 0; row < m_model.rowCount(); ++row) {
        for (int column = 0; column < m_model.columnCount(); ++column)
            cell = std::max(cell, fontMetrics().horizontalAdvance(m_model.index(row, column).data().toString()) + 16);
    }
    cell = std::min(cell, 96);
    horizontalHeader()->setDefaultSectionSize(cell);
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 12);
}

void TrustView::mouseReleaseEvent(QMouseEvent* event)
{
    QTableView::mouseReleaseEvent(event);
    if (event->button() == Qt::LeftButton)
        m_model.toggle(indexAt(event->pos()));
}

void TrustView::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::NoModifier)
        m_model.toggle(currentIndex());
    else if (event->matches(QKeySequence::Copy))
        copySelection(*this);
    else
        QTableView::keyPressEvent(event);
}

} // namespace kvw::gui
