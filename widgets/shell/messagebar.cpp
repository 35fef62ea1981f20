// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/messagebar.h"

#include "style/tokens.h"

#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace kvw::gui {

MessageBar::MessageBar(QWidget* parent)
    : QWidget(parent)
    , m_text(new QLabel(this))
    , m_action(new QPushButton(this))
{
    setObjectName(QStringLiteral("messageBar"));
    setAutoFillBackground(true);
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* close = new QToolButton(this);
    close->setText(QStringLiteral("×"));
    close->setAutoRaise(true);
    close->setAccessibleName(tr("Close the message"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(10, 2, 6, 2);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_action);
    layout->addWidget(close);
    connect(close, &QToolButton::clicked, this, &MessageBar::dismiss);
    connect(m_action, &QPushButton::clicked, this, &MessageBar::actionTriggered);
    hide();
}

void MessageBar::show(const QString& sentence, const QString& action)
{
    refreshGround();
    m_text->setText(QStringLiteral("!  ") + sentence);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    setVisible(true);
}

QString MessageBar::text() const
{
    return isVisible() ? m_text->text() : QString();
}

void MessageBar::refreshGround()
{
    const QColor ground = tokensFor(QApplication::palette()).staleGround;
    if (palette().color(QPalette::Window) == ground)
        return;
    QPalette own; // the other roles stay the application's
    own.setColor(QPalette::Window, ground);
    setPalette(own);
}

void MessageBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::ApplicationPaletteChange)
        refreshGround();
}

void MessageBar::dismiss()
{
    hide();
}

} // namespace kvw::gui
