// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/page.h"

#include "style/elidedlabel.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QComboBox>
#include <QEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QStackedLayout>
#include <QTextDocumentFragment>
#include <QVBoxLayout>

#include <algorithm>

namespace kvw::gui {

Page::Page(const QString& id, const QString& name, const QString& purpose, QWidget* parent)
    : QWidget(parent)
    , m_name(name)
    , m_purpose(purpose)
    , m_head(new QStackedLayout)
    , m_headline(new QLabel(this))
    , m_actions(new QHBoxLayout)
    , m_content(new QVBoxLayout)
{
    setObjectName(id);
    auto* names = new QWidget(this);
    auto* title = new QLabel(name, names);
    title->setFont(strongFont(font(), 1.25));
    auto* about = new ElidedLabel(purpose, names);
    about->setInk(QPalette::PlaceholderText);
    about->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed); // gives way to the headline
    auto* line = new QHBoxLayout(names);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(8);
    line->addWidget(title);
    line->addWidget(about, 1);
    m_head->addWidget(names);
    m_headline->setTextFormat(Qt::RichText);
    m_headline->setMinimumWidth(1); // it never widens the window
    m_headline->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    m_headline->hide();
    connect(m_headline, &QLabel::linkActivated, this, [this] { emit figureSelected(m_headlineFigure); });

    auto* header = new QHBoxLayout;
    header->setSpacing(8);
    header->addLayout(m_head, 1);
    header->addWidget(m_headline);
    header->addLayout(m_actions);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 8, 10, 8);
    layout->setSpacing(8);
    layout->addLayout(header);
    title->setMinimumHeight(fontMetrics().height() + 10); // of a button, with or without one
    m_content->setSpacing(8);
    layout->addLayout(m_content, 1);
}

QString Page::id() const
{
    return objectName();
}

QString Page::name() const
{
    return m_name;
}

QStringList Page::fieldPrefixes() const
{
    return {};
}

bool Page::showField(const QString&)
{
    return false;
}

QString Page::badge() const
{
    return {};
}

QString Page::sourceText() const
{
    return {};
}

QVBoxLayout* Page::content() const
{
    return m_content;
}

bool Page::showFigure(const QString&)
{
    return false;
}

QWidget* Page::side() const
{
    return nullptr;
}

QString Page::sideTitle() const
{
    return {};
}

QString Page::purpose() const
{
    return m_purpose;
}

QHBoxLayout* Page::headerActions() const
{
    return m_actions;
}

void Page::setHeadline(const QString& text, const QString& figure)
{
    if (text != m_headline->text()) {
        m_headline->setText(text);
        m_headline->setVisible(!text.isEmpty() && !m_messageShown);
        const bool opens = text.contains(QLatin1String("<a "));
        m_headline->setTextInteractionFlags(opens
                ? Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard
                : Qt::TextInteractionFlags(Qt::TextSelectableByMouse));
        m_headline->setToolTip(QTextDocumentFragment::fromHtml(text).toPlainText());
    }
    m_headlineFigure = figure;
}

bool Page::isBusy() const
{
    return false;
}

void Page::predict() {}

QWidget* Page::mainView() const
{
    QWidgetList shown = tabOrder();
    shown.erase(std::remove_if(shown.begin(), shown.end(),
                    [this](const QWidget* widget) {
                        return !widget->isVisibleTo(this) || !widget->isEnabled() || widget == m_headline
                            || m_actions->indexOf(widget) >= 0;
                    }),
        shown.end());
    const auto first = [&](const auto& is) {
        const auto found = std::find_if(shown.begin(), shown.end(), is);
        return found == shown.end() ? nullptr : *found;
    };
    if (QWidget* table = first([](const QWidget* widget) { return qobject_cast<const QAbstractItemView*>(widget); }))
        return table;
    const auto isControl = [](const QWidget* widget) {
        return qobject_cast<const QAbstractButton*>(widget) || qobject_cast<const QComboBox*>(widget)
            || qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QScrollArea*>(widget);
    };
    if (QWidget* picture = first([&](const QWidget* widget) { return !isControl(widget); }))
        return picture;
    return shown.isEmpty() ? nullptr : shown.front();
}

QWidgetList Page::tabOrder() const
{
    QWidgetList all;
    for (QWidget* at = nextInFocusChain(); at && at != this; at = at->nextInFocusChain()) {
        if (isAncestorOf(at) && (at->focusPolicy() & Qt::TabFocus) != 0)
            all.push_back(at);
    }
    // The header's first; the rest as the page made them.
    QWidgetList out;
    if (all.removeOne(m_headline))
        out.push_back(m_headline);
    for (int i = 0; i < m_actions->count(); ++i) {
        if (QWidget* action = m_actions->itemAt(i)->widget(); action && all.removeOne(action))
            out.push_back(action);
    }
    return out + all;
}

void Page::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() != QEvent::PaletteChange)
        return;
    const QString text = m_headline->text(); // a link takes its ink when it is set
    m_headline->clear();
    m_headline->setText(text);
}

void Page::hostMessage(QWidget* bar)
{
    if (m_head->indexOf(bar) < 0)
        m_head->addWidget(bar);
}

void Page::showMessage(bool shown)
{
    m_head->setCurrentIndex(shown && m_head->count() > 1 ? 1 : 0);
    m_messageShown = shown;
    m_headline->setVisible(!shown && !m_headline->text().isEmpty()); // it has all the room that there is
}

QLabel* Page::paneTitle(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    label->setFont(strongFont(label->font()));
    label->setMinimumHeight(label->fontMetrics().height() + 8);
    return label;
}

QWidget* Page::pane(const QString& title, QWidget* about, QWidget* main, QWidget* note)
{
    auto* out = new QFrame(this);
    out->setFrameShape(QFrame::StyledPanel);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(8, 0, 8, 0);
    head->setSpacing(8);
    head->addWidget(paneTitle(title, out));
    if (about) {
        if (auto* label = qobject_cast<ElidedLabel*>(about))
            label->setInk(QPalette::PlaceholderText);
        head->addWidget(about, 1);
    } else {
        head->addStretch(1);
    }
    auto* layout = new QVBoxLayout(out);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(head);
    layout->addWidget(main, 1);
    if (note)
        layout->addWidget(note);
    return out;
}

} // namespace kvw::gui
