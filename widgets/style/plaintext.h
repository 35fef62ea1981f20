// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

namespace kvw::gui {

/// From now on every label and tooltip of the application shows its text as it is: what somebody typed is never taken
/// for markup. A label that is meant to have markup says so with setTextFormat(Qt::RichText). Calling it again does
/// nothing.
void showTextPlain();

} // namespace kvw::gui
