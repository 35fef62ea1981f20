// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/legendtext.h"

#include "blockmap/legendview.h"
#include "models/numbertext.h"

#include <QStringList>

#include <bit>

namespace kvw::gui {

namespace {

QString className(BlockClass what)
{
    switch (what) {
    case BlockClass::Free:
        return LegendView::tr("Free");
    case BlockClass::Shared:
        return LegendView::tr("Shared");
    case BlockClass::Private:
        return LegendView::tr("Private tail");
    case BlockClass::Cached:
        return LegendView::tr("Cached");
    case BlockClass::Held:
        return LegendView::tr("Held");
    }
    return {};
}

QString classNote(BlockClass what)
{
    switch (what) {
    case BlockClass::Free:
        return LegendView::tr("Nobody's; its content means nothing");
    case BlockClass::Shared:
        return LegendView::tr("In two tables or more");
    case BlockClass::Private:
        return LegendView::tr("In one table");
    case BlockClass::Cached:
        return LegendView::tr("In no table, still findable");
    case BlockClass::Held:
        return LegendView::tr("Null, dummy or padding: never given away");
    }
    return {};
}

/// "3–4", "≥ 17".
QString range(const LegendCount& line)
{
    if (line.to < 0)
        return LegendView::tr("≥ %1").arg(countText(line.from));
    if (line.from == line.to)
        return countText(line.from);
    return LegendView::tr("%1–%2").arg(countText(line.from), countText(line.to));
}

QString tenantsName(const MapState& map, TenantSet tenants)
{
    const bool one = (tenants & (tenants - 1)) == 0;
    const QString who
        = one ? map.tenantName(static_cast<std::uint16_t>(std::countr_zero(tenants))) : LegendView::tr("together");
    return QStringLiteral("%1 %2").arg(tenantLetters(tenants), who);
}

QString domainText(const MapState& map, const LegendCount& line)
{
    if (line.index < 0)
        return LegendView::tr("Cross-domain");
    const std::vector<MapDomain> domains = mapDomains(map.header(), map.source()->domains);
    const MapDomain& domain = domains[static_cast<std::size_t>(line.index)];
    QString out = QStringLiteral("D%1 ").arg(line.index + 1);
    if (map.source()->domains.empty())
        return out + LegendView::tr("domains not known");
    QStringList names;
    for (std::uint16_t t = 0; t < 64 && t < map.header().tenants.size(); ++t) {
        if (domain.tenants >> t & 1)
            names.push_back(map.tenantName(t));
    }
    const QString key = domainName(domain.domain);
    const QString list = names.join(QStringLiteral(", "));
    return key.isEmpty() || key == list ? out + list : out + QStringLiteral("%1: %2").arg(key, list);
}

QString ownedName(const MapState& map, const LegendCount& line)
{
    switch (map.colouring()) {
    case Colouring::Tenant:
        return line.tenants == 0 ? className(line.what) : tenantsName(map, line.tenants);
    case Colouring::Domain:
        return domainText(map, line);
    case Colouring::Group:
        return QStringLiteral("G%1 %2")
            .arg(line.index + 1)
            .arg(QString::fromStdString(map.header().layout.groups[static_cast<std::size_t>(line.index)].id));
    case Colouring::Age:
        return LegendView::tr("%1 steps").arg(range(line));
    case Colouring::References:
        if (line.index < 0)
            return className(line.what);
        return line.to == 1 ? LegendView::tr("In 1 table") : LegendView::tr("In %1 tables").arg(range(line));
    case Colouring::State:
        break;
    }
    return className(line.what);
}

} // namespace

QString legendName(const MapState& map, const LegendCount& line)
{
    if (line.what == BlockClass::Free || line.what == BlockClass::Held)
        return className(line.what);
    const QString name = ownedName(map, line);
    const bool kept = line.what == BlockClass::Cached && (line.tenants != 0 || line.index >= 0);
    return kept ? LegendView::tr("%1, cached").arg(name) : name;
}

QString legendNote(const MapState& map, const LegendCount& line)
{
    const bool owned = line.what == BlockClass::Private || line.what == BlockClass::Cached;
    if (owned && map.colouring() == Colouring::Age)
        return LegendView::tr("In a table, or cached with lines; steps since it was allocated for what it holds");
    if (owned && map.colouring() == Colouring::References && line.index >= 0)
        return LegendView::tr("Block tables that name it");
    if (owned && map.colouring() == Colouring::Domain && line.index < 0)
        return LegendView::tr("In tables of several sharing domains: must not occur");
    if (line.what == BlockClass::Private && map.colouring() != Colouring::State)
        return LegendView::tr("In one table or more");
    return classNote(line.what);
}

QString legendTitle(Colouring colouring)
{
    switch (colouring) {
    case Colouring::Tenant:
        return LegendView::tr("Legend: tenant");
    case Colouring::Domain:
        return LegendView::tr("Legend: sharing domain");
    case Colouring::Group:
        return LegendView::tr("Legend: layer group");
    case Colouring::Age:
        return LegendView::tr("Legend: age");
    case Colouring::References:
        return LegendView::tr("Legend: references");
    case Colouring::State:
        break;
    }
    return LegendView::tr("Legend: state");
}

} // namespace kvw::gui
