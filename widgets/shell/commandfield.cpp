// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/commandfield.h"

#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QApplication>
#include <QKeyEvent>
#include <QListWidget>
#include <QPainter>
#include <QPointer>
#include <QStyledItemDelegate>

#include <algorithm>

namespace kvw::gui {

namespace {

constexpr int commandRole = Qt::UserRole + 1;
constexpr int detailRole = Qt::UserRole + 2;
constexpr int kindRole = Qt::UserRole + 3;
constexpr int mostListed = 200; // what is beyond nobody reads; more words find it
constexpr int rowsShown = 14;

class CommandDelegate final : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override
    {
        const bool selected = option.state.testFlag(QStyle::State_Selected);
        const Tokens& tokens = tokensFor(option.palette);
        painter->save();
        if (selected)
            painter->fillRect(option.rect, option.palette.color(QPalette::Highlight));
        const bool enabled = index.flags().testFlag(Qt::ItemIsEnabled);
        const QColor ink = selected ? option.palette.color(QPalette::HighlightedText)
            : enabled               ? option.palette.color(QPalette::Text)
                                    : tokens.dimText;
        const QFont small = smallFont(option.font);
        const QRect area = option.rect.adjusted(8, 0, -8, 0);
        painter->setFont(small);
        painter->setPen(selected ? ink : tokens.dimText);
        const int kindWidth = QFontMetrics(small).horizontalAdvance(QStringLiteral("command")) + 10;
        painter->drawText(area, Qt::AlignLeft | Qt::AlignVCenter, index.data(kindRole).toString());
        const QString detail
            = QFontMetrics(small).elidedText(index.data(detailRole).toString(), Qt::ElideMiddle, area.width() * 2 / 5);
        painter->drawText(area, Qt::AlignRight | Qt::AlignVCenter, detail);
        const int used = QFontMetrics(small).horizontalAdvance(detail) + 10;
        painter->setFont(option.font);
        painter->setPen(ink);
        const QRect name = area.adjusted(kindWidth, 0, -used, 0);
        painter->drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
            option.fontMetrics.elidedText(index.data(Qt::DisplayRole).toString(), Qt::ElideRight, name.width()));
        painter->restore();
    }

    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const override
    {
        return {100, option.fontMetrics.height() + 8};
    }
};

int rank(const Command& command)
{
    static const QStringList order {QStringLiteral("command"), QStringLiteral("page"), QStringLiteral("field")};
    const auto at = order.indexOf(command.kind);
    return at < 0 ? static_cast<int>(order.size()) : static_cast<int>(at);
}

} // namespace

QVector<int> matchCommands(const QVector<Command>& commands, const QString& words)
{
    const QStringList parts = words.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    QVector<std::pair<int, int>> found; // how good, position
    for (int i = 0; i < commands.size(); ++i) {
        const Command& command = commands[i];
        const QString all = command.name + QLatin1Char(' ') + command.kind + QLatin1Char(' ') + command.keywords
            + QLatin1Char(' ') + command.otherWords;
        const bool matches = std::all_of(
            parts.begin(), parts.end(), [&](const QString& part) { return all.contains(part, Qt::CaseInsensitive); });
        if (!matches)
            continue;
        const bool starts = !parts.isEmpty() && command.name.startsWith(parts.front(), Qt::CaseInsensitive);
        const bool inName = !parts.isEmpty() && command.name.contains(parts.front(), Qt::CaseInsensitive);
        const bool whole = command.keywords.compare(words.trimmed(), Qt::CaseInsensitive) == 0 && !parts.isEmpty();
        found.push_back({whole ? -1 : (starts ? 0 : inName ? 10 : 20) + rank(command), i});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    QVector<int> out;
    for (const auto& [good, position] : found)
        out.push_back(position);
    return out;
}

CommandField::CommandField(QWidget* parent)
    : QLineEdit(parent)
    , m_list(new QListWidget)
{
    setObjectName(QStringLiteral("commandField"));
    setPlaceholderText(tr("Command or number…"));
    setAccessibleName(tr("Find a command, page, field or number"));
    setClearButtonEnabled(false);
    m_list->setObjectName(QStringLiteral("commandList"));
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setItemDelegate(new CommandDelegate(m_list));
    m_list->setUniformItemSizes(true);
    m_list->setFrameShape(QFrame::Box);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->hide();
    connect(this, &QLineEdit::textEdited, this, &CommandField::filter);
    connect(m_list, &QListWidget::itemClicked, this, [this](QListWidgetItem* item) {
        m_list->setCurrentItem(item);
        accept();
    });
}

CommandField::~CommandField()
{
    if (!m_list->parent())
        delete m_list;
}

void CommandField::setSource(std::function<QVector<Command>()> source)
{
    m_source = std::move(source);
}

QStringList CommandField::listed() const
{
    QStringList out;
    for (int row = 0; row < m_list->count(); ++row) {
        if (m_list->item(row)->flags() != Qt::NoItemFlags) // "Nothing found" is no command
            out.push_back(m_list->item(row)->text());
    }
    return out;
}

void CommandField::focusInEvent(QFocusEvent* event)
{
    QLineEdit::focusInEvent(event);
    if (event->reason() == Qt::PopupFocusReason || event->reason() == Qt::ActiveWindowFocusReason)
        return;
    m_commands = m_source ? m_source() : QVector<Command>();
    m_list->setParent(window()); // over the page, not a window of its own: it never steals the focus
    place();
    filter();
    m_list->show();
    m_list->raise();
}

void CommandField::focusOutEvent(QFocusEvent* event)
{
    QLineEdit::focusOutEvent(event);
    if (event->reason() == Qt::PopupFocusReason)
        return;
    m_list->hide();
    clear();
}

void CommandField::place()
{
    const QPoint below = mapTo(window(), QPoint(0, height()));
    const int width = std::min(std::max(480, this->width()), window()->width() - 16);
    const int row = m_list->fontMetrics().height() + 8;
    const int height = std::min(rowsShown * row + 4, window()->height() - below.y() - 8);
    m_list->setGeometry(std::max(8, below.x() + this->width() - width), below.y() + 1, width, height);
}

void CommandField::filter()
{
    m_list->clear();
    const QVector<int> found = matchCommands(m_commands, text());
    for (int i = 0; i < found.size() && i < mostListed; ++i) {
        const Command& command = m_commands[found[i]];
        auto* item = new QListWidgetItem(command.name, m_list);
        item->setData(commandRole, found[i]);
        item->setData(kindRole, command.kind);
        item->setData(detailRole, command.detail);
        if (!command.enabled)
            item->setFlags(item->flags() & ~Qt::ItemIsEnabled);
    }
    if (found.isEmpty()) {
        auto* nothing = new QListWidgetItem(tr("Nothing found"), m_list);
        nothing->setFlags(Qt::NoItemFlags);
        nothing->setData(detailRole, tr("fewer or other words may find it"));
    }
    m_list->setCurrentRow(0);
}

void CommandField::accept()
{
    const QListWidgetItem* item = m_list->currentItem();
    if (!item || !item->flags().testFlag(Qt::ItemIsEnabled))
        return;
    const std::function<void()> run = m_commands[item->data(commandRole).toInt()].run;
    leave();
    run();
}

void CommandField::leave()
{
    m_list->hide();
    clear();
    clearFocus();
}

void CommandField::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Escape:
        leave();
        return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        accept();
        return;
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
        QApplication::sendEvent(m_list, event);
        return;
    default:
        QLineEdit::keyPressEvent(event);
    }
}

void CommandField::paintEvent(QPaintEvent* event)
{
    QLineEdit::paintEvent(event);
    if (!text().isEmpty())
        return;
    QPainter painter(this);
    painter.setFont(smallFont(font()));
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(rect().adjusted(0, 0, -8, 0), Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("Ctrl+K"));
}

} // namespace kvw::gui
