// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QString>
#include <QVector>

namespace kvw::gui {

/// One line of the logical view.
struct RequestRow
{
    std::uint32_t request = 0;
    const RequestTrace* trace = nullptr; ///< good until the map's state changes
    int section = 0; ///< sharing domain, in order of first appearance
    FormerBlocks former; ///< of a preempted request
};

/// A header over the rows of one sharing domain.
struct RequestSection
{
    QString title; ///< "group-1: acme, birch"
    int rows = 0;
};

/// The requests that hold or held blocks at this moment: by sharing domain, running ones in order of their block
/// tables (so that common prefixes stand together, as steps), preempted ones after them.
struct RequestRows
{
    QVector<RequestSection> sections;
    QVector<RequestRow> rows;
    int running = 0;
    int preempted = 0;
    int waiting = 0;
    std::int64_t mostTokens = 0; ///< of any row, for the axis

    static RequestRows of(const MapState& map);
};

/// The group whose blocks the bars show: the first that retains everything, else the first.
std::size_t barGroup(const EventLogHeader& header);

} // namespace kvw::gui
