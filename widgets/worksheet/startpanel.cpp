// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "worksheet/startpanel.h"

#include "document/plandocument.h"
#include "style/elidedlabel.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace kvw::gui {

namespace {

constexpr int columnWidth = 560;
constexpr int mostRecent = 5;

QLabel* heading(const QString& text, QWidget* parent)
{
    auto* out = new QLabel(text, parent);
    out->setFont(strongFont(out->font()));
    return out;
}

} // namespace

StartPanel::StartPanel(QWidget* parent)
    : QWidget(parent)
    , m_recent(new QVBoxLayout)
{
    setObjectName(QStringLiteral("start"));
    auto* inside = new QWidget(this);
    inside->setFixedWidth(columnWidth);
    auto* column = new QVBoxLayout(inside);
    column->setSpacing(8);
    auto* sentence = new QLabel(tr("Choose a model of the library, open a model file or a plan, start from an example, "
                                   "or enter a layer group."),
        inside);
    sentence->setWordWrap(true);
    column->addWidget(sentence);
    auto* open = new QHBoxLayout;
    const auto button = [&](const QString& text, void (StartPanel::*signal)()) {
        auto* out = new QPushButton(text, inside);
        connect(out, &QPushButton::clicked, this, signal);
        open->addWidget(out);
        return out;
    };
    button(tr("Library…"), &StartPanel::libraryRequested)->setObjectName(QStringLiteral("startLibrary"));
    button(tr("Open…"), &StartPanel::openRequested)->setObjectName(QStringLiteral("startOpen"));
    button(tr("Open folder…"), &StartPanel::folderRequested);
    button(tr("Enter a layer group"), &StartPanel::groupRequested);
    open->addStretch(1);
    column->addLayout(open);
    column->addSpacing(8);
    column->addWidget(heading(tr("Examples"), inside));
    for (const auto& [name, title] : PlanDocument::examples()) {
        auto* example = new QPushButton(title, inside);
        example->setObjectName(QStringLiteral("example-") + name);
        connect(example, &QPushButton::clicked, this, [this, name = name] { emit exampleRequested(name); });
        auto* line = new QHBoxLayout;
        line->addWidget(example);
        line->addStretch(1);
        column->addLayout(line);
    }
    m_recent->setSpacing(4);
    column->addLayout(m_recent);
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(inside);
    row->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->addStretch(2);
    layout->addLayout(row);
    layout->addStretch(3);
}

void StartPanel::setRecent(const QStringList& files)
{
    while (QLayoutItem* item = m_recent->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    QStringList there;
    for (const QString& file : files) {
        if (there.size() < mostRecent && QFileInfo::exists(file))
            there.push_back(file);
    }
    if (there.isEmpty())
        return;
    m_recent->addSpacing(8);
    m_recent->addWidget(heading(tr("Recent"), this));
    for (const QString& file : std::as_const(there)) {
        auto* link = new QPushButton(fontMetrics().elidedText(file, Qt::ElideMiddle, columnWidth - 40), this);
        link->setToolTip(file);
        link->setFlat(true);
        connect(link, &QPushButton::clicked, this, [this, file] { emit recentRequested(file); });
        m_recent->addWidget(link, 0, Qt::AlignLeft);
    }
}

} // namespace kvw::gui
