// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/requestrows.h"

#include <QStringList>

#include <algorithm>

namespace kvw::gui {

namespace {

/// Sections in order of tenants, and the section of each tenant.
QVector<int> makeSections(const MapSource& source, QVector<RequestSection>& sections, const MapState& map)
{
    QVector<int> out;
    std::map<std::uint32_t, int> known;
    const auto tenants = static_cast<std::uint16_t>(source.header.tenants.size());
    QVector<QStringList> names;
    for (std::uint16_t t = 0; t < tenants; ++t) {
        if (t >= source.domains.size()) {
            if (sections.isEmpty()) {
                sections.push_back({MapState::tr("All tenants"), 0});
                names.push_back({});
            }
            out.push_back(0);
            continue;
        }
        const auto [at, fresh] = known.emplace(source.domains[t].id, static_cast<int>(sections.size()));
        if (fresh) {
            sections.push_back({domainName(source.domains[t]), 0});
            names.push_back({});
        }
        names[at->second].push_back(map.tenantName(t));
        out.push_back(at->second);
    }
    for (int s = 0; s < sections.size(); ++s) {
        const QString list = names[s].join(QStringLiteral(", "));
        if (!list.isEmpty() && list != sections[s].title)
            sections[s].title += QStringLiteral(": ") + list;
    }
    return out;
}

} // namespace

std::size_t barGroup(const EventLogHeader& header)
{
    for (std::size_t g = 0; g < header.layout.groups.size(); ++g) {
        if (!header.layout.groups[g].window)
            return g;
    }
    return 0;
}

RequestRows RequestRows::of(const MapState& map)
{
    RequestRows out;
    if (!map.source())
        return out;
    const QVector<int> sectionOf = makeSections(*map.source(), out.sections, map);
    const std::vector<GroupLayout>& groups = map.header().layout.groups;
    const std::size_t bar = barGroup(map.header());
    for (const auto& [id, request] : map.state().requests) {
        if (request.phase == RequestPhase::Waiting)
            ++out.waiting;
        const bool preempted = request.phase == RequestPhase::Preempted;
        if (!preempted && (request.phase != RequestPhase::Running || request.tables.empty()))
            continue;
        ++(preempted ? out.preempted : out.running);
        RequestRow row {id, &request, sectionOf.value(request.tenant), {}};
        if (preempted)
            row.former = formerBlocks(map.header(), map.state(), request);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const std::size_t blocks
                = preempted ? (g < request.former.size() ? request.former[g].size() : 0) : request.tables[g].size();
            out.mostTokens = std::max(out.mostTokens, static_cast<std::int64_t>(blocks) * groups[g].blockTokens);
        }
        out.rows.push_back(row);
    }
    std::stable_sort(out.rows.begin(), out.rows.end(), [bar](const RequestRow& a, const RequestRow& b) {
        const bool later = a.trace->phase == RequestPhase::Preempted;
        if (a.section != b.section)
            return a.section < b.section;
        if (later != (b.trace->phase == RequestPhase::Preempted))
            return !later;
        return !later && a.trace->tables[bar] < b.trace->tables[bar];
    });
    for (const RequestRow& row : std::as_const(out.rows))
        ++out.sections[row.section].rows;
    return out;
}

} // namespace kvw::gui
