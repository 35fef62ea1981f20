// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "blockmap/mapstate.h"

#include <QTextBrowser>

namespace kvw::gui {

/// The life of the selected block, from the event log alone: what it holds, who uses it, what happened to it and what
/// happens next. Requests in it are links that select them, steps are links that go there.
class StoryView : public QTextBrowser
{
    Q_OBJECT

public:
    explicit StoryView(MapState& map, QWidget* parent = nullptr);

    QSize sizeHint() const override;

private:
    void refresh();
    QString facts(const BlockRef& ref, const BlockStory& story) const;
    QString life(const BlockStory& story) const;
    QString line(std::uint32_t step, const QString& what, const QString& note = {}) const;
    QString request(std::uint32_t id, std::uint16_t tenant) const;
    QString happening(const Event& event) const;
    QString rule(const BlockSnapshot& block) const;
    void follow(const QUrl& link);

    MapState& m_map;
};

} // namespace kvw::gui
