// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "problems/problemlist.h"

#include "models/numbertext.h"
#include "plan/field_table.h"
#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QEvent>
#include <QPainter>
#include <QStyledItemDelegate>

namespace kvw::gui {

namespace {

constexpr int pathRole = Qt::UserRole + 1;
constexpr int severityRole = Qt::UserRole + 2;
constexpr int placeRole = Qt::UserRole + 3;

QString glyph(Severity severity)
{
    switch (severity) {
    case Severity::Error:
        return QStringLiteral("✗");
    case Severity::Warning:
        return QStringLiteral("!");
    case Severity::Note:
        break;
    }
    return QStringLiteral("i");
}

/// Glyph, sentence, and below it dim where it is.
class ProblemDelegate final : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const Tokens& tokens = tokensFor(option.palette);
        const bool selected = option.state.testFlag(QStyle::State_Selected);
        painter->save();
        if (selected)
            painter->fillRect(option.rect, option.palette.color(QPalette::Highlight));
        const QColor plain = option.palette.color(selected ? QPalette::HighlightedText : QPalette::Text);
        const auto severity = static_cast<Severity>(index.data(severityRole).toInt());
        const QColor mark = severity == Severity::Error ? tokens.differs
            : severity == Severity::Warning             ? tokens.warning
                                                        : tokens.derived;
        painter->setPen(selected ? plain : mark);
        painter->setFont(strongFont(option.font));
        painter->drawText(option.rect.adjusted(4, 3, 0, 0), Qt::AlignTop, glyph(severity));
        const QRect area = textArea(option);
        QRect used;
        painter->setFont(option.font);
        painter->setPen(plain);
        painter->drawText(area, Qt::TextWordWrap | Qt::AlignTop, index.data().toString(), &used);
        painter->setFont(smallFont(option.font));
        painter->setPen(selected ? plain : tokens.dimText);
        const QRect place(area.left(), used.bottom() + 1, area.width(), painter->fontMetrics().height());
        painter->drawText(place, Qt::AlignTop,
            painter->fontMetrics().elidedText(index.data(placeRole).toString(), Qt::ElideMiddle, place.width()));
        painter->setPen(tokens.hairLine);
        painter->drawLine(option.rect.bottomLeft(), option.rect.bottomRight());
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        QStyleOptionViewItem view = option;
        const auto* list = qobject_cast<const QListWidget*>(option.widget);
        view.rect = QRect(0, 0, list ? list->viewport()->width() : 240, 1000);
        const QRect text = option.fontMetrics.boundingRect(textArea(view), Qt::TextWordWrap, index.data().toString());
        const int small
            = index.data(placeRole).toString().isEmpty() ? 0 : QFontMetrics(smallFont(option.font)).height();
        return {60, text.height() + small + 8};
    }

private:
    static QRect textArea(const QStyleOptionViewItem& option) { return option.rect.adjusted(22, 3, -4, 0); }
};

/// Where a problem is, as people call it: "Tenants, acme: Salt made by".
QString placeOf(const PlanDocument& document, const std::string& path)
{
    // The table hands out writable slots; here only the title is read.
    const Result<FieldReference> field = findField(const_cast<Plan&>(document.plan()), path);
    return field ? fromStd(field->field->title) + QStringLiteral(" · ") + QString::fromStdString(path)
                 : QString::fromStdString(path);
}

} // namespace

ProblemList::ProblemList(QWidget* parent)
    : QListWidget(parent)
{
    setItemDelegate(new ProblemDelegate(this));
    setResizeMode(QListView::Adjust);
    setWordWrap(true);
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    connect(this, &QListWidget::itemClicked, this, &ProblemList::activate);
    connect(this, &QListWidget::itemActivated, this, &ProblemList::activate);
}

void ProblemList::setProblems(const PlanDocument& document, const Diagnostics& problems)
{
    bool same = count() == static_cast<int>(problems.size());
    for (int i = 0; same && i < count(); ++i) {
        const Diagnostic& diagnostic = problems[static_cast<std::size_t>(i)];
        same = item(i)->text() == QString::fromStdString(diagnostic.message)
            && item(i)->data(pathRole).toString() == QString::fromStdString(diagnostic.path);
    }
    if (same)
        return;
    clear();
    for (const Diagnostic& diagnostic : problems) {
        auto* item = new QListWidgetItem(QString::fromStdString(diagnostic.message), this);
        item->setData(pathRole, QString::fromStdString(diagnostic.path));
        item->setData(severityRole, static_cast<int>(diagnostic.severity));
        item->setData(placeRole, placeOf(document, diagnostic.path));
        item->setToolTip(QString::fromStdString(diagnostic.id));
    }
}

void ProblemList::activate()
{
    if (const QListWidgetItem* item = currentItem())
        emit goToField(item->data(pathRole).toString());
}

void ProblemList::step(int direction)
{
    if (count() == 0)
        return;
    const int now = currentRow();
    setCurrentRow(now < 0 ? 0 : (now + direction + count()) % count());
    activate();
}

void ProblemList::changeEvent(QEvent* event)
{
    QListWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

} // namespace kvw::gui
