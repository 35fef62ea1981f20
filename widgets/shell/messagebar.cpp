// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/messagebar.h"

#include "style/elidedlabel.h"
#include "style/tokens.h"

#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QPushButton>
#include <QToolButton>

namespace kvw::gui {

MessageBar::MessageBar(QWidget* parent)
    : QWidget(parent)
    , m_text(new ElidedLabel({}, this))
    , m_action(new QPushButton(this))
    , m_details(new QToolButton(this))
{
    setObjectName(QStringLiteral("messageBar"));
    setAutoFillBackground(true);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // takes the room of what it stands over
    auto* close = new QToolButton(this);
    close->setText(QStringLiteral("×"));
    close->setAutoRaise(true);
    close->setFocusPolicy(Qt::TabFocus);
    close->setAccessibleName(tr("Close the message"));
    m_details->setText(tr("Details"));
    m_details->setFocusPolicy(Qt::TabFocus);
    m_details->setToolTip(tr("The whole message, to read and to copy"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(6, 0, 2, 0);
    layout->setSpacing(6);
    layout->addWidget(m_text, 1);
    layout->addWidget(m_details);
    layout->addWidget(m_action);
    layout->addWidget(close);
    connect(close, &QToolButton::clicked, this, &MessageBar::dismiss);
    connect(m_action, &QPushButton::clicked, this, &MessageBar::actionTriggered);
    connect(m_details, &QToolButton::clicked, this, &MessageBar::showWhole);
    hide();
}

void MessageBar::show(const QString& sentence, const QString& action, const QString& cause)
{
    put(QStringLiteral("!  ") + sentence, action, cause);
}

void MessageBar::showDone(const QString& sentence)
{
    put(QStringLiteral("✓  ") + sentence, {}, {});
}

void MessageBar::put(const QString& text, const QString& action, const QString& cause)
{
    refreshGround();
    m_text->setText(text);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    m_cause = cause;
    m_shown = true;
    refreshDetails();
    emit shownChanged();
}

QString MessageBar::text() const
{
    return m_shown ? m_text->text() : QString();
}

bool MessageBar::isShown() const
{
    return m_shown;
}

void MessageBar::dismiss()
{
    if (!m_shown)
        return;
    m_shown = false;
    m_cause.clear();
    emit shownChanged();
}

void MessageBar::dismissCause(const QString& cause)
{
    if (!cause.isEmpty() && cause == m_cause)
        dismiss();
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

void MessageBar::refreshDetails()
{
    // Without its own button, the sentence may fit.
    const int room = width() - (m_action->isHidden() ? 0 : m_action->sizeHint().width() + 6) - 36;
    m_details->setVisible(m_text->sizeHint().width() > room);
}

void MessageBar::showWhole()
{
    auto* box = new QMessageBox(QMessageBox::NoIcon, tr("Message"), m_text->text(), QMessageBox::Close, window());
    box->setTextFormat(Qt::PlainText);
    box->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setModal(false);
    box->QWidget::show();
}

void MessageBar::changeEvent(QEvent* event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange || event->type() == QEvent::ApplicationPaletteChange)
        refreshGround();
}

void MessageBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    refreshDetails();
}

} // namespace kvw::gui
