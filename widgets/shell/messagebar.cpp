// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/messagebar.h"

#include "style/tokens.h"

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
    QPalette ground = parentWidget() ? parentWidget()->palette() : palette();
    const Tokens& tokens = tokensFor(ground);
    ground.setColor(QPalette::Window, tokens.staleGround);
    setPalette(ground);
    m_text->setText(QStringLiteral("!  ") + sentence);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    setVisible(true);
}

QString MessageBar::text() const
{
    return isVisible() ? m_text->text() : QString();
}

void MessageBar::dismiss()
{
    hide();
}

} // namespace kvw::gui
