// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/maplog.h"

#include "blockmap/blockmappage.h"
#include "live/livecontroller.h"
#include "report/report_words.h"

namespace kvw::gui {

std::shared_ptr<MapSource> MapLog::read() const
{
    std::shared_ptr<MapSource> out = makeMapSource(key, title, events, domains, grows);
    out->rule = rule;
    out->header.tenants = tenants;
    return out;
}

QString predictionLogKey()
{
    return QStringLiteral("prediction");
}

QStringList mapLogKeys(const PlanDocument& document)
{
    QStringList out;
    if (document.prediction())
        out.push_back(predictionLogKey());
    for (const std::shared_ptr<const LiveResult>& run : document.runs()) {
        if (run->events)
            out.push_back(run->id);
    }
    return out;
}

MapLog mapLog(const PlanDocument& document, const QString& key)
{
    MapLog out;
    out.key = key;
    const auto take = [&](const RunSetup& setup, const std::shared_ptr<const EventLog>& events) {
        out.events = events;
        out.domains = setup.domains;
        for (const std::string& id : events ? events->header().tenants : std::vector<std::string>()) {
            out.tenants.push_back(tenantName(&document.plan(), id));
            for (SharingDomain& domain : out.domains) {
                if (domain.key == "tenant:" + id)
                    domain.key = "tenant:" + out.tenants.back();
            }
        }
        out.rule = QString::fromStdString(setup.behaviour.rule);
    };
    if (key == predictionLogKey() && document.prediction()) {
        out.title = document.isPredictionStale() ? BlockMapPage::tr("~ Prediction (earlier plan)")
                                                 : BlockMapPage::tr("Prediction");
        take(document.prediction()->setup, document.prediction()->events);
        return out;
    }
    for (const std::shared_ptr<const LiveResult>& run : document.runs()) {
        if (run->id != key || !run->events)
            continue;
        out.title = BlockMapPage::tr("%1%2 on %3")
                        .arg(document.isStale(*run) ? QStringLiteral("~ ") : QString(), runTitle(run->id), run->device);
        take(run->setup, run->events);
        out.grows = run->state == QLatin1String("running");
    }
    return out;
}

} // namespace kvw::gui
