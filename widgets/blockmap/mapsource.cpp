// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/mapsource.h"

#include "models/numbertext.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>

namespace kvw::gui {

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

std::uint32_t mostTellingStep(const Replay& replay)
{
    const std::vector<StepCounts>& steps = replay.steps();
    if (steps.empty() || steps.back().active > 0)
        return replay.lastStep();
    const auto most = std::max_element(
        steps.begin(), steps.end(), [](const StepCounts& a, const StepCounts& b) { return a.active < b.active; });
    return most->step;
}

QString tenantLetter(std::uint16_t tenant)
{
    QString out(QChar(u'A' + tenant % 8));
    if (tenant >= 8)
        out += QChar(u'a' + (tenant / 8 - 1) % 26);
    return out;
}

QString tenantLetters(TenantSet tenants)
{
    QStringList letters;
    for (std::uint16_t t = 0; t < 64; ++t) {
        if (tenants >> t & 1)
            letters.push_back(tenantLetter(t));
    }
    return letters.size() > 3
        ? QCoreApplication::translate("BlockMap", "%1 and %2 more").arg(letters.front(), countText(letters.size() - 1))
        : letters.join(QLatin1Char('+'));
}

QString tenantName(const EventLogHeader& header, std::uint16_t tenant)
{
    const std::vector<std::string>& names = header.tenants;
    return tenant < names.size() ? QString::fromStdString(names[tenant]) : QStringLiteral("#%1").arg(tenant);
}

QString domainName(const SharingDomain& domain)
{
    return QString::fromStdString(domain.key).section(QLatin1Char(':'), 1);
}

} // namespace kvw::gui
