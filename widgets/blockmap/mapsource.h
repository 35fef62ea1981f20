// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "cache/map_colouring.h"
#include "cache/replay.h"

#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace kvw::gui {

/// An event log to draw, and what is needed to name things in it. Immutable but for the replay's position.
struct MapSource
{
    QString key; ///< "prediction" or the id of a run
    QString title;
    std::shared_ptr<const EventLog> log; ///< keeps header and events alive; null when they are copies
    EventLogHeader header;
    std::vector<Event> copy; ///< of a log that still grows
    std::vector<BlockKey> digests;
    std::vector<SharingDomain> domains; ///< by tenant; empty when not known
    QString rule; ///< whose cache rules the run followed; empty when not known
    std::unique_ptr<Replay> replay;
};
/// Reads the whole log once. `grows`: others still add to it, so that it is copied first.
std::shared_ptr<MapSource> makeMapSource(const QString& key, const QString& title, std::shared_ptr<const EventLog> log,
    const std::vector<SharingDomain>& domains, bool grows);

/// Where a log is opened: at its end while something is active there, else where most was: an empty map tells nothing.
std::uint32_t mostTellingStep(const Replay& replay);

/// A block of one pool.
struct BlockRef
{
    std::uint32_t pool = 0;
    std::uint32_t block = 0;

    bool operator==(const BlockRef&) const = default;
};

/// "A" … "H"; from the ninth tenant on with a second letter, as the colours repeat.
QString tenantLetter(std::uint16_t tenant);
/// "A+B", or "A and 4 more".
QString tenantLetters(TenantSet tenants);
/// The tenant's name in the log.
QString tenantName(const EventLogHeader& header, std::uint16_t tenant);
/// The key of a sharing domain without the word before it: "group-1" of "group:group-1". Empty when it has none.
QString domainName(const SharingDomain& domain);

} // namespace kvw::gui
