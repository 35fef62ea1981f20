// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QIcon>
#include <QString>

namespace kvw::gui {

/// The built-in icon of this name ("predict"), drawn in the text colour of the palette in force at each painting. An
/// unknown name gives a null icon.
QIcon icon(const QString& name);

} // namespace kvw::gui
