// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/page.h"

#include "style/elidedlabel.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace kvw::gui {

Page::Page(const QString& id, const QString& name, const QString& purpose, QWidget* parent)
    : QWidget(parent)
    , m_name(name)
    , m_purpose(purpose)
    , m_headline(new QLabel(this))
    , m_actions(new QHBoxLayout)
    , m_content(new QVBoxLayout)
{
    setObjectName(id);
    auto* title = new QLabel(name, this);
    title->setFont(strongFont(font(), 1.25));
    auto* about = new ElidedLabel(purpose, this);
    about->setInk(QPalette::PlaceholderText);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse);
    connect(m_headline, &QLabel::linkActivated, this, [this] { emit figureSelected(m_headlineFigure); });

    auto* header = new QHBoxLayout;
    header->setSpacing(8);
    header->addWidget(title);
    header->addWidget(about, 1);
    header->addWidget(m_headline);
    header->addLayout(m_actions);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(10, 8, 10, 8);
    layout->setSpacing(8);
    layout->addLayout(header);
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
    if (text != m_headline->text())
        m_headline->setText(text);
    m_headlineFigure = figure;
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
