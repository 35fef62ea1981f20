// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

class QWidget;

namespace kvw::gui {

/// Prints "ready" on standard output once `window` has been painted and the event loop has nothing left to do (it can
/// be used from then on), and ends the program. For measuring how long a start takes; call before show().
void endWhenReady(QWidget& window);

} // namespace kvw::gui
