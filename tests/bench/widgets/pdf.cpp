// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What the PDF of a plan costs, part by part: document (with the estimate), pages, PDF. The prediction is made once and
// timed on its own.
//   QT_QPA_PLATFORM=offscreen bench_pdf PLAN [repeats = 9]

#include "plan/plan_json.h"
#include "report/pagelayout.h"
#include "report/pdfwriter.h"
#include "report/reportsource.h"

#include <QGuiApplication>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

using namespace kvw;
using namespace kvw::gui;

namespace {

/// Median milliseconds of `repeats` calls.
template <typename Work>
double medianOf(int repeats, const Work& work)
{
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        work();
        times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

} // namespace

int main(int argc, char** argv)
{
    QGuiApplication app(argc, argv);
    if (argc < 2) {
        fmt::print(stderr, "bench_pdf PLAN [repeats]\n");
        return 2;
    }
    const Result<Plan> plan = loadPlan(argv[1]);
    const Result<ReportFonts> fonts = ReportFonts::find();
    if (!plan || !fonts) {
        fmt::print(stderr, "{}\n", plan ? fonts.error().text() : plan.error().text());
        return 3;
    }
    const int repeats = argc > 2 ? std::max(1, std::atoi(argv[2])) : 9;
    ReportSource source;
    const double predicted = medianOf(1, [&] { source = sourceOf(*plan); });
    Document document;
    const double documented = medianOf(repeats, [&] { document = reportOf(source); });
    std::vector<ReportSheet> sheets;
    const double laidOut = medianOf(repeats, [&] { sheets = layOutReport(document, Paper::A4, *fonts); });
    QByteArray pdf;
    const double written = medianOf(repeats, [&] { pdf = pdfOf(sheets, QString(), Paper::A4, *fonts); });
    fmt::print("{} pages, {} bytes\nprediction {:.1f} ms (once)\ndocument {:.1f} ms\npages {:.1f} ms\nPDF {:.1f} ms\n"
               "together without the prediction {:.1f} ms (medians of {})\n",
        sheets.size(), pdf.size(), predicted, documented, laidOut, written, documented + laidOut + written, repeats);
    return 0;
}
