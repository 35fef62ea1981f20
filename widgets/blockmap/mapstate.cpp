// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/mapstate.h"

#include "models/numbertext.h"

#include <algorithm>

namespace kvw::gui {

namespace {

/// At most four characters: "999", "12k", "3M", rounded down.
QString shortNumber(std::int64_t value)
{
    if (value < 1000)
        return QString::number(value);
    return value < 1'000'000 ? QStringLiteral("%1k").arg(value / 1000) : QStringLiteral("%1M").arg(value / 1'000'000);
}

} // namespace

MapState::MapState(QObject* parent)
    : QObject(parent)
{}

void MapState::setSource(std::shared_ptr<MapSource> source)
{
    if (!m_source && !source)
        return;
    const bool same = m_source && source && m_source->key == source->key;
    const bool atEnd = same && m_step >= m_source->replay->lastStep();
    m_source = std::move(source);
    m_hovered.reset();
    m_hoveredRequest.reset();
    if (!same) {
        m_selected.reset();
        m_selectedRequest.reset();
        m_filter = {};
    }
    if (m_source) {
        const std::uint32_t last = m_source->replay->lastStep();
        m_step = same && !atEnd ? std::min(m_step, last) : same ? last : mostTellingStep(*m_source->replay);
        if (m_selected
            && (m_selected->pool >= header().layout.pools.size()
                || m_selected->block >= header().layout.pools[m_selected->pool].blocks.value))
            m_selected.reset();
        m_source->replay->seek(m_step);
        m_looks.readMoment(*m_source, m_step, m_colouring, m_palette);
        if (m_filter.line >= static_cast<int>(legend().rows.size()))
            m_filter.line = -1;
        m_looks.filter(*m_source, m_filter);
    } else {
        m_looks.clear();
    }
    emit sourceChanged();
    emit changed();
    emit selectionChanged();
}

const MapSource* MapState::source() const
{
    return m_source.get();
}

const EventLogHeader& MapState::header() const
{
    return m_source->header;
}

const ReplayState& MapState::state() const
{
    return m_source->replay->state();
}

const Replay& MapState::replay() const
{
    return *m_source->replay;
}

std::uint32_t MapState::step() const
{
    return m_step;
}

void MapState::setStep(std::uint32_t step)
{
    if (!m_source)
        return;
    const std::uint32_t wanted = std::min(step, m_source->replay->lastStep());
    if (wanted == m_step)
        return;
    m_step = wanted;
    m_source->replay->seek(m_step);
    m_looks.readMoment(*m_source, m_step, m_colouring, m_palette);
    if (m_filter.line >= static_cast<int>(legend().rows.size()))
        m_filter.line = -1;
    filterAgain();
    emit selectionChanged(); // the story goes on
}

Colouring MapState::colouring() const
{
    return m_colouring;
}

void MapState::setColouring(Colouring colouring)
{
    if (m_colouring == colouring)
        return;
    m_colouring = colouring;
    m_filter.line = -1; // the legend has other lines
    if (m_source)
        m_looks.colour(*m_source, m_step, m_colouring, m_palette);
    filterAgain();
}

/// What the filter leaves out, after the looks or the filter changed.
void MapState::filterAgain()
{
    if (m_source)
        m_looks.filter(*m_source, m_filter);
    emit changed();
}

void MapState::setTenantFilter(int tenant)
{
    m_filter.tenant = tenant;
    filterAgain();
}

int MapState::tenantFilter() const
{
    return m_filter.tenant;
}

void MapState::setGroupFilter(int group)
{
    m_filter.group = group;
    filterAgain();
}

int MapState::groupFilter() const
{
    return m_filter.group;
}

void MapState::setLegendFilter(int row)
{
    m_filter.line = row;
    filterAgain();
}

int MapState::legendFilter() const
{
    return m_filter.line;
}

void MapState::setPalette(const QPalette& palette)
{
    m_palette = palette;
    if (m_source)
        m_looks.paint(*m_source, m_palette);
    filterAgain();
}

const QPalette& MapState::palette() const
{
    return m_palette;
}

const Legend& MapState::legend() const
{
    return m_looks.legend();
}

std::int64_t MapState::crossDomain() const
{
    return m_looks.crossDomain();
}

const QVector<MapVisual>& MapState::visuals() const
{
    return m_looks.visuals();
}

const std::vector<std::uint16_t>& MapState::visualsOf(std::uint32_t pool) const
{
    return m_looks.of(pool);
}

const MapVisual& MapState::legendVisual(int row) const
{
    return m_looks.legendVisual(row);
}

bool MapState::passes(const BlockRef& ref) const
{
    return (visualsOf(ref.pool)[ref.block] & fadedBit) == 0;
}

const BlockSnapshot& MapState::block(const BlockRef& ref) const
{
    return state().map.blocks()[ref.pool][ref.block];
}

TenantSet MapState::tenants(const BlockRef& ref) const
{
    return m_looks.tenants().of(ref.pool, ref.block);
}

std::int64_t MapState::blockTokens(const BlockRef& ref) const
{
    return header().layout.groups[block(ref).group].blockTokens;
}

std::optional<BlockRef> MapState::selectedBlock() const
{
    return m_selected;
}

std::optional<std::uint32_t> MapState::selectedRequest() const
{
    return m_selectedRequest;
}

void MapState::select(std::optional<BlockRef> block, std::optional<std::uint32_t> request)
{
    if (block && !request) {
        const std::vector<TableUse> uses = usesOf(header(), state(), block->pool, block->block);
        const bool keeps = m_selectedRequest && std::any_of(uses.begin(), uses.end(), [&](const TableUse& use) {
            return use.request == *m_selectedRequest;
        });
        if (keeps)
            request = m_selectedRequest;
        else if (!uses.empty())
            request = uses.front().request;
    }
    if (m_selected == block && m_selectedRequest == request)
        return;
    m_selected = block;
    m_selectedRequest = request;
    emit selectionChanged();
}

void MapState::showRequest(std::uint32_t request)
{
    if (!m_source)
        return;
    const auto here = state().requests.find(request);
    if (here == state().requests.end() || here->second.held == 0) {
        if (const std::optional<std::uint32_t> step = m_source->replay->lastGrowth(request))
            setStep(*step);
    }
    std::optional<BlockRef> first;
    const auto now = state().requests.find(request);
    if (now != state().requests.end()) {
        const auto& tables = now->second.tables;
        for (std::size_t g = 0; g < tables.size() && !first; ++g) {
            const auto at
                = std::find_if(tables[g].begin(), tables[g].end(), [](auto block) { return block != noTableBlock; });
            if (at != tables[g].end())
                first = BlockRef {header().layout.groups[g].pool, *at};
        }
    }
    select(first, request);
}

std::optional<BlockRef> MapState::hoveredBlock() const
{
    return m_hovered;
}

std::optional<std::uint32_t> MapState::hoveredRequest() const
{
    return m_hoveredRequest;
}

void MapState::hover(std::optional<BlockRef> block, std::optional<std::uint32_t> request)
{
    if (m_hovered == block && m_hoveredRequest == request)
        return;
    m_hovered = block;
    m_hoveredRequest = request;
    emit hoverChanged();
}

std::optional<BlockRef> MapState::focusBlock() const
{
    return m_hovered ? m_hovered : m_selected;
}

std::optional<std::uint32_t> MapState::focusRequest() const
{
    return m_hovered || m_hoveredRequest ? m_hoveredRequest : m_selectedRequest;
}

QString MapState::tenantName(std::uint16_t tenant) const
{
    return gui::tenantName(header(), tenant);
}

std::int64_t MapState::age(const BlockRef& ref) const
{
    return std::int64_t {m_step} - state().since[ref.pool][ref.block];
}

QString MapState::cellText(const BlockRef& ref) const
{
    const BlockSnapshot& found = block(ref);
    if (found.state != BlockState::Active && found.state != BlockState::Cached)
        return {};
    const LegendCount& line = legend().rows[m_looks.lineOf(ref)];
    switch (m_colouring) {
    case Colouring::Domain:
        return line.index < 0 ? QStringLiteral("!") : QStringLiteral("D%1").arg(line.index + 1);
    case Colouring::Group:
        return QStringLiteral("G%1").arg(line.index + 1);
    case Colouring::Age:
        return shortNumber(age(ref));
    case Colouring::State:
    case Colouring::Tenant:
    case Colouring::References:
        break;
    }
    return tenantLetters(tenants(ref));
}

QString MapState::describe(const BlockRef& ref) const
{
    const BlockSnapshot& found = block(ref);
    const QString which = QString::fromUtf8(blockClassName(blockClass(found)));
    QString out = header().layout.pools.size() > 1
        ? tr("Block %1 of pool %2, %3").arg(countText(ref.block), countText(ref.pool), which)
        : tr("Block %1, %2").arg(countText(ref.block), which);
    if (found.state == BlockState::Active)
        out += found.references == 1 ? tr(", in 1 table") : tr(", in %1 tables").arg(countText(found.references));
    if (found.state == BlockState::Active || found.state == BlockState::Cached)
        out += tr(", %1 of %2 tokens").arg(countText(found.tokens), countText(blockTokens(ref)));
    if (found.state == BlockState::Free || found.state == BlockState::Held)
        return out;
    if (m_colouring == Colouring::Age)
        out += tr(", %1 steps old").arg(countText(age(ref)));
    else if (m_colouring == Colouring::Group)
        out += QStringLiteral(", ") + QString::fromStdString(header().layout.groups[found.group].id);
    else if (m_colouring == Colouring::Domain && found.tenant < m_source->domains.size())
        out += QStringLiteral(", ") + domainName(m_source->domains[found.tenant]);
    return out;
}

} // namespace kvw::gui
