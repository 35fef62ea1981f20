// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QSize>
#include <QString>

namespace kvw::gui {

class MainWindow;

/// Shows every page of the window at `size` and grabs each into `folder`, as "worksheet-<suffix>.png". Returns how many
/// were written; −1 when one could not be.
int takeScreenshots(MainWindow& window, const QString& folder, QSize size, const QString& suffix);

} // namespace kvw::gui
