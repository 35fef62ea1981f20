// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "shell/page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace kvw::gui {

Page::Page(const QString& id, const QString& name, const QString& purpose, QWidget* parent)
    : QWidget(parent)
    , m_name(name)
    , m_headline(new QLabel(this))
    , m_actions(new QHBoxLayout)
    , m_content(new QVBoxLayout)
{
    setObjectName(id);
    auto* title = new QLabel(name, this);
    QFont strong = title->font();
    strong.setPointSizeF(strong.pointSizeF() * 1.25);
    strong.setWeight(QFont::DemiBold);
    title->setFont(strong);
    auto* about = new QLabel(purpose, this);
    about->setForegroundRole(QPalette::PlaceholderText);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);

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

QHBoxLayout* Page::headerActions() const
{
    return m_actions;
}

void Page::setHeadline(const QString& text)
{
    m_headline->setText(text);
}

QLabel* Page::paneTitle(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(text, parent);
    QFont strong = label->font();
    strong.setWeight(QFont::DemiBold);
    label->setFont(strong);
    label->setMinimumHeight(23);
    return label;
}

} // namespace kvw::gui
