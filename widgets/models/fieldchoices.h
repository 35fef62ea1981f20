// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "plan/field_table.h"

#include <QStringList>

namespace kvw::gui {

/// The values of a choice field, by value: as files have them, and as people read them.
struct FieldChoices
{
    QStringList names; ///< "", "mutual_tls": what an edit sets
    QStringList titles; ///< "not stated", "mutual TLS subject": what a list shows
};

/// The choices of `field`, made once and kept for good; null where the field is no choice. For the window's thread.
const FieldChoices* choicesOf(const Field& field);

} // namespace kvw::gui
