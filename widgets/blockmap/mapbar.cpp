// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/mapbar.h"

#include "blockmap/poolview.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace kvw::gui {

MapBar::MapBar(MapState& map, PoolView& pool, QWidget* parent)
    : QWidget(parent)
    , m_map(map)
    , m_colours(new QButtonGroup(this))
    , m_tenants(new QComboBox(this))
    , m_groups(new QComboBox(this))
    , m_hover(new QLabel(this))
    , m_search(new QLineEdit(this))
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    addColours(*layout);
    layout->addSpacing(8);
    addFilters(*layout);
    layout->addSpacing(8);
    m_hover->setForegroundRole(QPalette::PlaceholderText);
    m_hover->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred); // its text never moves a pane
    layout->addWidget(m_hover, 1);
    addSearch(*layout);
    addZoom(*layout, pool);
    connect(&map, &MapState::sourceChanged, this, &MapBar::refreshFilters);
    connect(&map, &MapState::sourceChanged, this, &MapBar::refreshHover);
    connect(&map, &MapState::hoverChanged, this, &MapBar::refreshHover);
}

void MapBar::addColours(QHBoxLayout& layout)
{
    layout.addWidget(new QLabel(tr("Colour"), this));
    const QList<std::tuple<Colouring, QString, QString>> colourings {
        {Colouring::State, tr("State"), tr("In tables, cached, free or held")},
        {Colouring::Tenant, tr("Tenant"), tr("Whose tables name the block, or who kept it")},
        {Colouring::Domain, tr("Domain"), tr("Within which tenants it may be shared")},
        {Colouring::Group, tr("Group"), tr("The layer group whose state it holds")},
        {Colouring::Age, tr("Age"), tr("Steps since it was allocated for what it holds, log scale")},
        {Colouring::References, tr("References"), tr("How many tables name it")}};
    for (const auto& [colouring, name, note] : colourings) {
        auto* button = new QToolButton(this);
        button->setText(name);
        button->setCheckable(true);
        button->setChecked(colouring == Colouring::State);
        button->setToolTip(tr("%1 (key %2)").arg(note).arg(static_cast<int>(colouring) + 1));
        button->setMinimumHeight(24);
        m_colours->addButton(button, static_cast<int>(colouring));
        layout.addWidget(button);
    }
    connect(
        m_colours, &QButtonGroup::idClicked, this, [this](int id) { m_map.setColouring(static_cast<Colouring>(id)); });
}

void MapBar::addFilters(QHBoxLayout& layout)
{
    for (QComboBox* box : {m_tenants, m_groups}) {
        box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        layout.addWidget(box);
    }
    m_tenants->setAccessibleName(tr("Show blocks of this tenant"));
    m_groups->setAccessibleName(tr("Show blocks of this layer group"));
    m_tenants->setToolTip(m_tenants->accessibleName());
    m_groups->setToolTip(m_groups->accessibleName());
    connect(m_tenants, &QComboBox::activated, this, [this](int row) { m_map.setTenantFilter(row - 1); });
    connect(m_groups, &QComboBox::activated, this, [this](int row) { m_map.setGroupFilter(row - 1); });
}

void MapBar::addSearch(QHBoxLayout& layout)
{
    m_search->setPlaceholderText(tr("Request, block, tenant or digest"));
    m_search->setToolTip(tr("r12, b176, a tenant's name, or the first digits of an identity; Enter goes there"));
    m_search->setAccessibleName(tr("Find in the map"));
    m_search->setClearButtonEnabled(true);
    m_search->setMinimumWidth(120);
    m_search->setMaximumWidth(220);
    connect(m_search, &QLineEdit::returnPressed, this, [this] {
        if (m_map.find(m_search->text()))
            refreshFilters();
        else
            emit notFound(m_search->text());
    });
    layout.addWidget(m_search, 2);
}

void MapBar::addZoom(QHBoxLayout& layout, PoolView& pool)
{
    const QList<std::tuple<QString, QString, void (PoolView::*)()>> zooms {
        {QStringLiteral("−"), tr("Zoom out (−)"), &PoolView::zoomOut},
        {tr("Fit"), tr("Whole pool (0)"), &PoolView::zoomFit},
        {QStringLiteral("+"), tr("Zoom in (+)"), &PoolView::zoomIn}};
    for (const auto& [text, tip, slot] : zooms) {
        auto* button = new QToolButton(this);
        button->setText(text);
        button->setToolTip(tip);
        button->setAccessibleName(tip);
        button->setAutoRaise(true);
        connect(button, &QToolButton::clicked, &pool, slot);
        layout.addWidget(button);
    }
}

void MapBar::chooseColouring(Colouring colouring)
{
    m_colours->button(static_cast<int>(colouring))->click();
}

void MapBar::refreshFilters()
{
    m_tenants->clear();
    m_groups->clear();
    m_tenants->addItem(tr("All tenants"));
    m_groups->addItem(tr("All groups"));
    if (!m_map.source())
        return;
    for (std::uint16_t t = 0; t < m_map.header().tenants.size(); ++t)
        m_tenants->addItem(QStringLiteral("%1 %2").arg(tenantLetter(t), m_map.tenantName(t)));
    for (const GroupLayout& group : m_map.header().layout.groups)
        m_groups->addItem(QString::fromStdString(group.id));
    m_tenants->setCurrentIndex(m_map.tenantFilter() + 1);
    m_groups->setCurrentIndex(m_map.groupFilter() + 1);
}

void MapBar::refreshHover()
{
    QStringList parts;
    if (m_map.source()) {
        if (const std::optional<std::uint32_t> request = m_map.hoveredRequest())
            parts.push_back(QStringLiteral("r%1").arg(*request));
        if (const std::optional<BlockRef> block = m_map.hoveredBlock())
            parts.push_back(m_map.describe(*block));
    }
    m_hover->setText(parts.join(QStringLiteral(" · ")));
}

} // namespace kvw::gui
