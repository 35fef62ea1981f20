// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include <QString>

namespace kvw::gui {

/// `kvworkbench --export OUT.pdf FILE`: writes the report of a plan or model file without a window.
struct ExportRequest
{
    QString file; ///< plan, config.json or model folder
    QString target;
    QString paper; ///< "A4" or "Letter"
};

/// Returns the exit status, as of kvw: 0 written; 2 usage; 3 the file was refused; 5 the PDF could not be written (an
/// older one stays). Errors go to stderr, one sentence each. REQUIRES a QGuiApplication.
int runExport(const ExportRequest& request);

} // namespace kvw::gui
