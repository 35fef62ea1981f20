// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report/pdfwriter.h"

#include "models/numbertext.h"
#include "report/pagelayout.h"
#include "units/version.h"

#include <QBuffer>
#include <QDateTime>
#include <QPainter>
#include <QPdfWriter>

namespace kvw::gui {

namespace {

/// Replaces the date that Qt writes, for builds that must repeat.
void setCreationDate(QByteArray& pdf, qint64 seconds)
{
    const QByteArray before("/CreationDate (D:");
    const auto at = pdf.indexOf(before);
    const auto end = at < 0 ? -1 : pdf.indexOf(')', at);
    if (end < 0)
        return;
    const auto from = at + before.size();
    QByteArray date
        = QDateTime::fromSecsSinceEpoch(seconds, Qt::UTC).toString(QStringLiteral("yyyyMMddHHmmss")).toLatin1();
    // As long as what Qt writes ("Z", or the zone's distance), so that the offsets in the file hold.
    date += end - from == date.size() + 1 ? "Z" : "+00'00'";
    if (date.size() == end - from)
        pdf.replace(from, end - from, date);
}

} // namespace

QByteArray pdfOf(const std::vector<ReportSheet>& sheets, const QString& title, Paper paper, const ReportFonts& fonts)
{
    QByteArray out;
    QBuffer buffer(&out);
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setResolution(static_cast<int>(unitsPerInch));
        writer.setPageSize(QPageSize(paper == Paper::A4 ? QPageSize::A4 : QPageSize::Letter));
        writer.setPageMargins(QMarginsF(0, 0, 0, 0));
        writer.setTitle(title);
        writer.setCreator(QStringLiteral("KV Workbench ") + QString::fromUtf8(version()));
        QPainter painter(&writer);
        painter.setRenderHint(QPainter::LosslessImageRendering);
        for (std::size_t i = 0; i < sheets.size(); ++i) {
            if (i > 0)
                writer.newPage();
            paintOps(painter, sheets[i].ops, fonts);
        }
    }
    bool given = false;
    const qint64 seconds = qEnvironmentVariable("SOURCE_DATE_EPOCH").toLongLong(&given);
    if (given)
        setCreationDate(out, seconds);
    return out;
}

Result<void> writePdf(const Document& document, Paper paper, const QString& path, const FileOperations& operations)
{
    const Result<ReportFonts> fonts = ReportFonts::find();
    if (!fonts)
        return fonts.error();
    const std::vector<ReportSheet> sheets = layOutReport(document, paper, *fonts);
    const QByteArray pdf = pdfOf(sheets, fromStd(document.title), paper, *fonts);
    return writeFileAtomically(
        path.toStdString(), std::string_view(pdf.constData(), static_cast<std::size_t>(pdf.size())), operations);
}

} // namespace kvw::gui
