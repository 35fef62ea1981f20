// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "export_command.h"

#include "document/plandocument.h"
#include "report/pdfwriter.h"
#include "report/reportsource.h"

#include <fmt/format.h>

#include <cstdio>

namespace kvw::gui {

namespace {

enum Exit : int {
    ok = 0,
    usage = 2,
    refusedInput = 3,
    writeFailed = 5,
};

int fail(const std::string& sentence, int code)
{
    fmt::print(stderr, "kvworkbench: {}\n", sentence);
    return code;
}

} // namespace

int runExport(const ExportRequest& request)
{
    const bool letter = request.paper.compare(QLatin1String("letter"), Qt::CaseInsensitive) == 0;
    if (!letter && request.paper.compare(QLatin1String("a4"), Qt::CaseInsensitive) != 0)
        return fail(fmt::format("--paper is A4 or Letter, not \"{}\"", request.paper.toStdString()), usage);
    if (request.file.isEmpty())
        return fail("--export needs the plan or model file to export", usage);
    PlanDocument document;
    if (const Result<void> opened = document.open(request.file); !opened)
        return fail(opened.error().text(), refusedInput);
    const Document report = reportOf(sourceOf(document.plan()));
    const Result<void> written = writePdf(report, letter ? Paper::Letter : Paper::A4, request.target);
    if (!written)
        return fail(written.error().text(), writeFailed);
    return ok;
}

} // namespace kvw::gui
