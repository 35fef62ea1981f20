// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapsource.h"
#include "document/plandocument.h"

#include <QStringList>

namespace kvw::gui {

/// What a source is made from.
struct MapLog
{
    QString key;
    QString title;
    std::shared_ptr<const EventLog> events; ///< null: the document has no such log
    std::vector<SharingDomain> domains;
    std::vector<std::string> tenants; ///< what the log's tenants are called, in their order
    QString rule;
    bool grows = false; ///< a run still adds to it

    std::shared_ptr<MapSource> read() const; ///< REQUIRES events
};

/// The key of the prediction's log; runs have their id.
QString predictionLogKey();
/// Keys of the logs that the document has.
QStringList mapLogKeys(const PlanDocument& document);
MapLog mapLog(const PlanDocument& document, const QString& key);

} // namespace kvw::gui
