// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/rail.h"

#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QPainter>
#include <QStyledItemDelegate>

namespace kvw::gui {

namespace {

constexpr int wide = 132;
constexpr int narrow = 40;
constexpr int rowHeight = 30;
constexpr int badgeRole = Qt::UserRole + 1;
constexpr int kindRole = Qt::UserRole + 2;
constexpr int nameRole = Qt::UserRole + 3;

class RailDelegate final : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const auto* rail = static_cast<const Rail*>(option.widget);
        const Tokens& tokens = tokensFor(option.palette);
        const bool selected = option.state.testFlag(QStyle::State_Selected);
        const QRect rect = option.rect;
        painter->save();
        if (selected)
            painter->fillRect(rect, option.palette.color(QPalette::Highlight));
        else if (option.state.testFlag(QStyle::State_MouseOver))
            painter->fillRect(rect, option.palette.color(QPalette::AlternateBase));
        const int iconLeft = rail->isCompact() ? rect.left() + (rect.width() - 16) / 2 : rect.left() + 8;
        const QRect iconRect(iconLeft, rect.center().y() - 7, 16, 16);
        index.data(Qt::DecorationRole)
            .value<QIcon>()
            .paint(painter, iconRect, Qt::AlignCenter, selected ? QIcon::Selected : QIcon::Normal);
        const QString badge = index.data(badgeRole).toString();
        const int kind = index.data(kindRole).toInt();
        QColor ink = kind == Rail::Error ? tokens.differs : kind == Rail::Warning ? tokens.warning : tokens.measured;
        if (rail->isCompact()) {
            if (!badge.isEmpty()) {
                painter->setRenderHint(QPainter::Antialiasing);
                painter->setPen(QPen(option.palette.color(selected ? QPalette::Highlight : QPalette::Base), 1));
                painter->setBrush(selected ? option.palette.color(QPalette::HighlightedText) : ink);
                painter->drawEllipse(QRectF(iconRect.right() - 1, iconRect.top() - 3, 8, 8));
            }
        } else {
            painter->setPen(option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text));
            QRect text = rect.adjusted(30, 0, -4, 0);
            if (!badge.isEmpty()) {
                const QFont small = smallFont(option.font);
                const int width = QFontMetrics(small).horizontalAdvance(badge);
                painter->save();
                painter->setFont(small);
                if (!selected)
                    painter->setPen(ink);
                painter->drawText(text, Qt::AlignRight | Qt::AlignVCenter, badge);
                painter->restore();
                text.setRight(text.right() - width - 3);
            }
            painter->drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                option.fontMetrics.elidedText(index.data(nameRole).toString(), Qt::ElideRight, text.width()));
        }
        if (option.state.testFlag(QStyle::State_HasFocus) && !selected) {
            painter->setRenderHint(QPainter::Antialiasing, false);
            painter->setPen(QPen(option.palette.color(QPalette::Highlight), 2));
            painter->drawRect(rect.adjusted(1, 1, -1, -1));
        }
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override
    {
        return {narrow, std::max(rowHeight, option.fontMetrics.height() + 12)};
    }
};

} // namespace

Rail::Rail(QWidget* parent)
    : QListWidget(parent)
{
    setObjectName(QStringLiteral("rail"));
    setAccessibleName(tr("Pages"));
    setFrameShape(QFrame::NoFrame);
    setIconSize({16, 16});
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMouseTracking(true);
    setItemDelegate(new RailDelegate(this));
    setFixedWidth(wide);
}

void Rail::addPage(const QIcon& icon, const QString& name)
{
    auto* item = new QListWidgetItem(icon, name, this);
    item->setData(nameRole, name);
}

void Rail::setBadge(int row, const QString& badge, BadgeKind kind, const QString& explanation)
{
    QListWidgetItem* one = item(row);
    const QString name = one->data(nameRole).toString();
    one->setData(badgeRole, badge);
    one->setData(kindRole, kind);
    // The text is what a screen reader says.
    one->setText(explanation.isEmpty() ? name : name + QStringLiteral(": ") + explanation);
    one->setToolTip(m_compact || !explanation.isEmpty() ? one->text() : QString());
}

QString Rail::badge(int row) const
{
    return item(row)->data(badgeRole).toString();
}

void Rail::setCompact(bool compact)
{
    m_compact = compact;
    setFixedWidth(compact ? narrow : wide);
    for (int row = 0; row < count(); ++row)
        item(row)->setToolTip(item(row)->text());
    viewport()->update();
}

bool Rail::isCompact() const
{
    return m_compact;
}

} // namespace kvw::gui
