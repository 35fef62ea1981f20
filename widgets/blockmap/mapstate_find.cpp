// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "blockmap/mapstate.h"

#include <QRegularExpression>

namespace kvw::gui {

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
        if (ref.pool >= m_looks.pools() || ref.block >= visualsOf(ref.pool).size())
            return false;
        select(ref);
        return true;
    }
    for (std::size_t t = 0; t < header().tenants.size(); ++t) {
        if (tenantName(static_cast<std::uint16_t>(t)).toLower() == wanted) {
            setTenantFilter(static_cast<int>(t));
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

} // namespace kvw::gui
