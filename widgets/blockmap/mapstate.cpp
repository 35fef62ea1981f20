// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/mapstate.h"

#include "models/numbertext.h"
#include "style/tokens.h"

#include <QRegularExpression>

#include <algorithm>
#include <bit>

namespace kvw::gui {

namespace {

constexpr std::uint8_t mostVisuals = 100; ///< combinations of tenants beyond share the last look

std::uint16_t firstTenant(TenantSet tenants)
{
    return static_cast<std::uint16_t>(std::countr_zero(tenants));
}

} // namespace

std::shared_ptr<MapSource> makeMapSource(const QString& key, const QString& title, std::shared_ptr<const EventLog> log,
    const std::vector<SharingDomain>& domains, bool grows)
{
    auto out = std::make_shared<MapSource>();
    out->key = key;
    out->title = title;
    out->header = log->header();
    out->domains = domains;
    out->digests = log->digests();
    std::span<const Event> events = log->events();
    if (grows) {
        out->copy.assign(events.begin(), events.end());
        events = out->copy;
    } else {
        out->log = std::move(log);
    }
    out->replay = std::make_unique<Replay>(out->header, events);
    return out;
}

MapState::MapState(QObject* parent)
    : QObject(parent)
{}

namespace {

/// Where a log is opened: at its end while something is active there, else where most was: an empty map tells nothing.
std::uint32_t mostTellingStep(const Replay& replay)
{
    const std::vector<StepCounts>& steps = replay.steps();
    if (steps.empty() || steps.back().active > 0)
        return replay.lastStep();
    const auto most = std::max_element(
        steps.begin(), steps.end(), [](const StepCounts& a, const StepCounts& b) { return a.active < b.active; });
    return most->step;
}

} // namespace

void MapState::setSource(std::shared_ptr<MapSource> source)
{
    const bool same = m_source && source && m_source->key == source->key;
    const bool atEnd = same && m_step >= m_source->replay->lastStep();
    m_source = std::move(source);
    m_hovered.reset();
    m_hoveredRequest.reset();
    if (!same) {
        m_selected.reset();
        m_selectedRequest.reset();
        m_tenant = m_group = m_row = -1;
    }
    if (m_source) {
        const std::uint32_t last = m_source->replay->lastStep();
        m_step = same && !atEnd ? std::min(m_step, last) : same ? last : mostTellingStep(*m_source->replay);
        if (m_selected
            && (m_selected->pool >= header().layout.pools.size()
                || m_selected->block >= header().layout.pools[m_selected->pool].blocks.value))
            m_selected.reset();
        m_source->replay->seek(m_step);
    }
    refresh();
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
    refresh();
    emit changed();
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
    m_row = -1; // the legend has other lines
    refresh();
    emit changed();
}

void MapState::setTenantFilter(int tenant)
{
    m_tenant = tenant;
    refresh();
    emit changed();
}

int MapState::tenantFilter() const
{
    return m_tenant;
}

void MapState::setGroupFilter(int group)
{
    m_group = group;
    refresh();
    emit changed();
}

int MapState::groupFilter() const
{
    return m_group;
}

void MapState::setLegendFilter(int row)
{
    m_row = row;
    refresh();
    emit changed();
}

int MapState::legendFilter() const
{
    return m_row;
}

void MapState::setPalette(const QPalette& palette)
{
    m_palette = palette;
    refresh();
    emit changed();
}

const QPalette& MapState::palette() const
{
    return m_palette;
}

const Legend& MapState::legend() const
{
    return m_legend;
}

std::int64_t MapState::crossDomain() const
{
    return m_crossDomain;
}

const QVector<MapVisual>& MapState::visuals() const
{
    return m_visuals;
}

const std::vector<std::uint8_t>& MapState::visualsOf(std::uint32_t pool) const
{
    return m_byBlock[pool];
}

const MapVisual& MapState::legendVisual(int row) const
{
    return m_visuals[m_legendVisuals[row]];
}

bool MapState::passes(const BlockRef& ref) const
{
    return (m_byBlock[ref.pool][ref.block] & fadedBit) == 0;
}

const BlockSnapshot& MapState::block(const BlockRef& ref) const
{
    return state().map.blocks()[ref.pool][ref.block];
}

TenantSet MapState::tenants(const BlockRef& ref) const
{
    return m_tenants[ref.pool][ref.block];
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

bool MapState::find(const QString& text)
{
    if (!m_source)
        return false;
    const QString wanted = text.trimmed().toLower();
    static const QRegularExpression requestName(QStringLiteral("^r(\\d+)$"));
    static const QRegularExpression blockName(QStringLiteral("^(?:b|(\\d+):)(\\d+)$"));
    if (const QRegularExpressionMatch match = requestName.match(wanted); match.hasMatch()) {
        const std::uint32_t request = match.captured(1).toUInt();
        if (!m_source->replay->lastGrowth(request))
            return false;
        showRequest(request);
        return true;
    }
    if (const QRegularExpressionMatch match = blockName.match(wanted); match.hasMatch()) {
        const BlockRef ref {match.captured(1).toUInt(), match.captured(2).toUInt()};
        if (ref.pool >= m_byBlock.size() || ref.block >= m_byBlock[ref.pool].size())
            return false;
        select(ref);
        return true;
    }
    for (std::uint16_t t = 0; t < header().tenants.size(); ++t) {
        if (tenantName(t).toLower() == wanted) {
            setTenantFilter(t);
            return true;
        }
    }
    return findDigest(wanted);
}

/// Selects the indexed block whose identity begins so.
bool MapState::findDigest(const QString& digits)
{
    if (digits.size() < 4)
        return false;
    for (const Event& event : m_source->replay->events()) {
        if (event.step > m_step)
            break;
        if (event.kind != EventKind::Index || event.value >= m_source->digests.size())
            continue;
        const BlockRef ref {header().layout.groups[event.group].pool, event.block};
        const BlockStory story = block(ref).indexed
                && QStringLiteral("%1")
                       .arg(m_source->digests[event.value].high, 16, 16, QLatin1Char('0'))
                       .startsWith(digits)
            ? blockStory(header(), m_source->replay->events(), ref.pool, ref.block, m_step)
            : BlockStory {};
        if (story.digest == event.value) {
            select(ref);
            return true;
        }
    }
    return false;
}

QString MapState::tenantLetter(std::uint16_t tenant)
{
    // From the ninth on, the colours repeat with a second letter.
    QString out(QChar(u'A' + tenant % 8));
    if (tenant >= 8)
        out += QChar(u'a' + (tenant / 8 - 1) % 26);
    return out;
}

QString MapState::tenantName(std::uint16_t tenant) const
{
    const std::vector<std::string>& names = header().tenants;
    return tenant < names.size() ? QString::fromStdString(names[tenant]) : QStringLiteral("#%1").arg(tenant);
}

QString MapState::tenantsText(TenantSet tenants) const
{
    QStringList letters;
    for (std::uint16_t t = 0; t < 64; ++t) {
        if (tenants >> t & 1)
            letters.push_back(tenantLetter(t));
    }
    return letters.size() > 3 ? tr("%1 and %2 more").arg(letters.front(), countText(letters.size() - 1))
                              : letters.join(QLatin1Char('+'));
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
    return out;
}

QColor MapState::tenantColor(std::uint16_t tenant) const
{
    const Tokens& tokens = tokensFor(m_palette);
    return tokens.tenants[tenant % tokens.tenants.size()];
}

MapVisual MapState::makeVisual(BlockClass what, TenantSet tenants) const
{
    const Tokens& tokens = tokensFor(m_palette);
    MapVisual out;
    if (m_source && !m_source->domains.empty() && crossesDomains(tenants, m_source->domains)) {
        out.fill = tokens.differs;
        out.pattern = MapVisual::Alarm;
        out.line = m_palette.color(QPalette::Base);
        out.letter = QStringLiteral("!");
        return out;
    }
    if (tenants != 0)
        out.letter = tenantsText(tenants);
    switch (what) {
    case BlockClass::Free:
        out.fill = tokens.blockFree;
        return out;
    case BlockClass::Held:
        out.fill = tokens.blockHeld;
        out.pattern = MapVisual::Cross;
        out.line = m_palette.color(QPalette::Base);
        return out;
    case BlockClass::Shared:
        out.fill = tokens.blockShared;
        break;
    case BlockClass::Private:
        out.fill = tokens.blockPrivate;
        out.fills = true;
        break;
    case BlockClass::Cached:
        out.fill = tokens.blockCached;
        out.pattern = MapVisual::Diagonals;
        out.line = tokens.blockCachedLine;
        break;
    }
    if (m_colouring == Colouring::Tenant && tenants != 0) {
        out.fill = tenantColor(firstTenant(tenants));
        const TenantSet rest = tenants & (tenants - 1);
        if (rest != 0)
            out.lower = (rest & (rest - 1)) == 0 ? tenantColor(firstTenant(rest)) : tokens.text;
        if (what == BlockClass::Cached) {
            out.pattern = MapVisual::WideDiagonals;
            out.line = m_palette.color(QPalette::Base);
        }
    }
    return out;
}

std::uint8_t MapState::visualFor(BlockClass what, TenantSet tenants)
{
    const auto found = m_known.find({what, tenants});
    if (found != m_known.end())
        return found->second;
    if (m_visuals.size() >= mostVisuals)
        return mostVisuals - 1;
    m_visuals.push_back(makeVisual(what, tenants));
    const auto index = static_cast<std::uint8_t>(m_visuals.size() - 1);
    m_known.emplace(std::pair {what, tenants}, index);
    return index;
}

void MapState::refresh()
{
    m_visuals.clear();
    m_known.clear();
    m_legendVisuals.clear();
    m_byBlock.clear();
    m_legend = {};
    m_crossDomain = 0;
    if (!m_source)
        return;
    const bool byTenant = m_colouring == Colouring::Tenant;
    m_tenants = tenantSets(header(), state());
    m_legend = byTenant ? legendByTenant(header(), state()) : legendByState(header(), state());
    if (!m_source->domains.empty())
        m_crossDomain = crossDomainBlocks(m_tenants, m_source->domains);
    for (const LegendCount& row : m_legend.rows)
        m_legendVisuals.push_back(visualFor(row.what, row.tenants));
    if (m_row >= static_cast<int>(m_legend.rows.size()))
        m_row = -1;
    const TenantSet wanted = m_tenant < 0 ? 0 : tenantBit(static_cast<std::uint16_t>(m_tenant));
    for (std::size_t p = 0; p < state().map.blocks().size(); ++p) {
        const std::vector<BlockSnapshot>& blocks = state().map.blocks()[p];
        std::vector<std::uint8_t>& out = m_byBlock.emplace_back(blocks.size());
        // Neighbours are mostly alike: ask for a look only when it changes.
        std::optional<std::pair<BlockClass, TenantSet>> last;
        std::uint8_t index = 0;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
            const BlockSnapshot& block = blocks[b];
            const BlockClass what = blockClass(block);
            const TenantSet tenants = m_tenants[p][b];
            if (!last || last->first != what || last->second != tenants) {
                last = {what, tenants};
                const BlockClass drawn = byTenant && what == BlockClass::Shared ? BlockClass::Private : what;
                index = visualFor(drawn, tenants);
            }
            const bool owned = what != BlockClass::Free && what != BlockClass::Held;
            bool in = m_tenant < 0 || (tenants & wanted) != 0;
            in = in && (m_group < 0 || (owned && block.group == m_group));
            if (m_row >= 0) {
                const LegendCount& row = m_legend.rows[static_cast<std::size_t>(m_row)];
                const BlockClass asked = byTenant && what == BlockClass::Shared ? BlockClass::Private : what;
                in = in && asked == row.what && (!byTenant || tenants == row.tenants);
            }
            out[b] = static_cast<std::uint8_t>(index | (in ? 0 : fadedBit));
        }
    }
}

} // namespace kvw::gui
