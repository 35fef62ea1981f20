// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "report/document.h"
#include "report/flow.h"
#include "report/pageops.h"
#include "units/file.h"

#include <QByteArray>
#include <QString>

namespace kvw::gui {

/// The sheets as a PDF: vector text that can be selected, fonts embedded, nothing drawn as a picture. When the
/// environment sets SOURCE_DATE_EPOCH (seconds), that is the date of creation; with a fixed hash seed the same sheets
/// then give the same bytes.
/// REQUIRES a QGuiApplication.
QByteArray pdfOf(const std::vector<ReportSheet>& sheets, const QString& title, Paper paper, const ReportFonts& fonts);

/// Lays the document out and writes it atomically. Errors: report.font; io.* as writeFileAtomically, the old file stays
/// then.
Result<void> writePdf(const Document& document, Paper paper, const QString& path,
    const FileOperations& operations = systemFileOperations());

} // namespace kvw::gui
