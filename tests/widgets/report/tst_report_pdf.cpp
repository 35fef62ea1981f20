// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "report_fixtures.h"

#include "estimate/estimate.h"
#include "evidence/reconcile.h"
#include "report/json_output.h"
#include "report/pdfwriter.h"
#include "report/reportsource.h"
#include "worker/device_source.h"
#include "worker/probe_job.h"

#include <nlohmann/json.hpp>

#include <QFile>
#include <QRegularExpression>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>

#include <cerrno>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

QString workbench()
{
    return qEnvironmentVariable("KVW_WORKBENCH");
}

struct Exit
{
    int code = -1;
    QByteArray errors;
};

/// Runs the program without a display; `before` is put before it in a shell.
Exit runWorkbench(const QStringList& arguments, const QString& before = {})
{
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
        environment.remove(QString::fromLatin1(name));
    process.setProcessEnvironment(environment);
    if (before.isEmpty())
        process.start(workbench(), arguments);
    else
        process.start(QStringLiteral("bash"),
            QStringList {QStringLiteral("-c"), before + QStringLiteral("; exec \"$0\" \"$@\""), workbench()}
                + arguments);
    if (!process.waitForFinished(120'000) || process.exitStatus() != QProcess::NormalExit)
        return {-1, process.readAllStandardError()};
    return {process.exitCode(), process.readAllStandardError()};
}

QByteArray contentOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void collectNumbers(const OrderedJson& json, QSet<QString>& out)
{
    if (json.is_number())
        out.insert(QString::fromStdString(json.dump()));
    else if (json.is_structured())
        for (const auto& element : json)
            collectNumbers(element, out);
}

/// The plan after a live run on host memory.
Plan probedPlan()
{
    Plan plan = smallPlan();
    ProbeOptions options;
    options.ceilings = false;
    ProbeSink nobody;
    const Probe probe = runProbeJob(plan, options, HostDevices(), nobody).value();
    plan.evidence = summaries(probe.rows, "run1");
    RunReference run;
    run.id = "run1";
    run.kind = "live run";
    run.device = "host";
    run.planHash = planHash(plan);
    run.poolFraction = probe.setup.poolFraction;
    plan.runs = {run};
    return plan;
}

} // namespace

class ReportPdfTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void holdsEveryText_data();
    void holdsEveryText();
    void refusedArguments();
    void failingSaveKeepsTheOldFile();
    void everyFailureIsToldApart_data();
    void everyFailureIsToldApart();
    void sameDocumentSameBytes();

private:
    QTemporaryDir m_folder;
};

void ReportPdfTest::initTestCase()
{
    QVERIFY2(!workbench().isEmpty(), "KVW_WORKBENCH names no program");
    QVERIFY(m_folder.isValid());
    QVERIFY(savePlan(probedPlan(), m_folder.filePath(QStringLiteral("probed.kvplan")).toStdString()));
    QVERIFY(savePlan(strainingPlan(12), m_folder.filePath(QStringLiteral("straining.kvplan")).toStdString()));
}

void ReportPdfTest::holdsEveryText_data()
{
    QTest::addColumn<QString>("plan");
    QTest::addColumn<QString>("paper");
    QTest::addColumn<QByteArray>("size");
    std::vector<std::string> paths = examplePaths();
    for (const char* name : {"probed.kvplan", "straining.kvplan"})
        paths.push_back(m_folder.filePath(QString::fromLatin1(name)).toStdString());
    for (const std::string& path : paths) {
        const std::string name = path.substr(path.rfind('/') + 1);
        QTest::newRow((name + ", A4").c_str()) << QString::fromStdString(path) << "A4" << QByteArray("595 x 842");
        QTest::newRow((name + ", Letter").c_str())
            << QString::fromStdString(path) << "Letter" << QByteArray("612 x 792");
    }
}

void ReportPdfTest::holdsEveryText()
{
    QFETCH(QString, plan);
    QFETCH(QString, paper);
    QFETCH(QByteArray, size);
    const QString pdf = m_folder.filePath(QStringLiteral("out.pdf"));
    const Exit exit = runWorkbench({QStringLiteral("--export"), pdf, plan, QStringLiteral("--paper"), paper});
    QVERIFY2(exit.code == 0, exit.errors.constData());

    QString text = QString::fromUtf8(
        outputOf(QStringLiteral("pdftotext"), {QStringLiteral("-layout"), pdf, QStringLiteral("-")}));
    text.replace(QChar(0x00A0), QLatin1Char(' '));
    QVERIFY2(!text.isEmpty(), "pdftotext gave nothing");
    const QString squeezed = QString(text).remove(QRegularExpression(QStringLiteral("\\s")));
    const QStringList found = text.split(QRegularExpression(QStringLiteral("\\s+")), Qt::SkipEmptyParts);
    const QSet<QString> words(found.begin(), found.end());

    const Plan read = loadPlan(plan.toStdString()).value();
    const Document document = reportOf(sourceOf(read));
    for (const QString& whole : textsOf(document)) {
        for (const QString& word : whole.split(QRegularExpression(QStringLiteral("\\s+")), Qt::SkipEmptyParts)) {
            // A word that is longer than its cell goes on in the next line: its beginning must be there.
            const bool there = words.contains(word) || squeezed.contains(word)
                || (word.size() > 24 && squeezed.contains(word.left(12)));
            QVERIFY2(there, qPrintable(QStringLiteral("\"%1\" of \"%2\"").arg(word, whole)));
        }
    }

    // Every number of `kvw estimate --json`.
    const Estimate figures = estimate(read).value();
    QSet<QString> wanted;
    collectNumbers(estimateJson(read, figures), wanted);
    QVERIFY(wanted.size() > 10);
    const QSet<QString> shown = numbersOf(text);
    for (const QString& number : wanted)
        QVERIFY2(shown.contains(number)
                || shown.contains(QString(number).remove(QRegularExpression(QStringLiteral("\\.0$")))),
            qPrintable(number));

    const QByteArray info = outputOf(QStringLiteral("pdfinfo"), {pdf});
    QVERIFY2(info.contains(size), info.constData());
    const auto pages
        = QRegularExpression(QStringLiteral("Pages:\\s+(\\d+)")).match(QString::fromUtf8(info)).captured(1);
    QVERIFY(pages.toInt() >= 8);
    for (int page = 1; page <= pages.toInt(); ++page)
        QVERIFY(text.contains(QStringLiteral("%1 of %2").arg(page).arg(pages)));

    // No word goes beyond the margins of 18.8 mm, 53.3 pt; the reader's own measure of the glyphs that are embedded.
    const QString boxes
        = QString::fromUtf8(outputOf(QStringLiteral("pdftotext"), {QStringLiteral("-bbox"), pdf, QStringLiteral("-")}));
    static const QRegularExpression box(QStringLiteral("<word xMin=\"([\\d.]+)\".*xMax=\"([\\d.]+)\".*>(.*)</word>"));
    const double width = size.split(' ').first().toDouble();
    int measured = 0;
    for (auto each = box.globalMatch(boxes); each.hasNext(); ++measured) {
        const QRegularExpressionMatch word = each.next();
        QVERIFY2(word.captured(1).toDouble() > 52.5, qPrintable(word.captured(3)));
        QVERIFY2(word.captured(2).toDouble() < width - 52.5, qPrintable(word.captured(3)));
    }
    QVERIFY(measured > 1000);

    // Two lines of heading, then a line for each font: embedded, a subset or not, with its characters named.
    const QStringList fonts
        = QString::fromUtf8(outputOf(QStringLiteral("pdffonts"), {pdf})).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QVERIFY2(fonts.size() >= 5, "regular, bold and monospaced");
    for (qsizetype i = 2; i < fonts.size(); ++i)
        QVERIFY2(fonts[i].contains(QRegularExpression(QStringLiteral("\\syes\\s+(yes|no)\\s+yes\\s"))),
            qPrintable(fonts[i]));
    const QByteArray images = outputOf(QStringLiteral("pdfimages"), {QStringLiteral("-list"), pdf});
    QCOMPARE(images.count('\n'), 2);
}

void ReportPdfTest::refusedArguments()
{
    const QString target = m_folder.filePath(QStringLiteral("refused.pdf"));
    const QString plan = m_folder.filePath(QStringLiteral("probed.kvplan"));
    Exit exit = runWorkbench({QStringLiteral("--export"), target});
    QCOMPARE(exit.code, 2);
    exit = runWorkbench({QStringLiteral("--export"), target, plan, QStringLiteral("--paper"), QStringLiteral("A5")});
    QCOMPARE(exit.code, 2);
    QVERIFY2(exit.errors.contains("A5"), exit.errors.constData());
    exit = runWorkbench({QStringLiteral("--export"), target, m_folder.filePath(QStringLiteral("absent.kvplan"))});
    QCOMPARE(exit.code, 3);
    QVERIFY2(exit.errors.contains("absent.kvplan"), exit.errors.constData());
    QVERIFY(!QFile::exists(target));
}

void ReportPdfTest::failingSaveKeepsTheOldFile()
{
    const QString target = m_folder.filePath(QStringLiteral("kept.pdf"));
    const QString plan = m_folder.filePath(QStringLiteral("probed.kvplan"));
    QCOMPARE(runWorkbench({QStringLiteral("--export"), target, plan}).code, 0);
    const QByteArray old = contentOf(target);
    QVERIFY(old.startsWith("%PDF-"));
    // No file may grow beyond 16 KiB: as on a full disk, half of the PDF can be written.
    const Exit exit = runWorkbench({QStringLiteral("--export"), target, plan}, QStringLiteral("ulimit -f 16"));
    QCOMPARE(exit.code, 5);
    QVERIFY2(exit.errors.contains("kept.pdf"), exit.errors.constData());
    QCOMPARE(contentOf(target), old);
    const Exit nowhere
        = runWorkbench({QStringLiteral("--export"), m_folder.filePath(QStringLiteral("no/such/folder.pdf")), plan});
    QCOMPARE(nowhere.code, 5);
}

void ReportPdfTest::everyFailureIsToldApart_data()
{
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("code");
    QTest::newRow("write") << 0 << "io.write";
    QTest::newRow("sync") << 1 << "io.sync";
    QTest::newRow("rename") << 2 << "io.rename";
}

void ReportPdfTest::everyFailureIsToldApart()
{
    QFETCH(int, which);
    QFETCH(QString, code);
    const QString target = m_folder.filePath(QStringLiteral("injected.pdf"));
    {
        QFile file(target);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("old");
    }
    FileOperations operations = systemFileOperations();
    if (which == 0)
        operations.write = [](int, const void*, std::size_t) -> long {
            errno = ENOSPC;
            return -1;
        };
    else if (which == 1)
        operations.sync = [](int) {
            errno = EIO;
            return -1;
        };
    else
        operations.rename = [](const char*, const char*) {
            errno = EROFS;
            return -1;
        };
    const Document document = reportOf(ReportSource {smallPlan(), {}, "not asked for.", false, {}});
    const Result<void> written = writePdf(document, Paper::A4, target, operations);
    QVERIFY(!written);
    QCOMPARE(QString::fromStdString(written.error().code), code);
    QCOMPARE(contentOf(target), QByteArray("old"));
}

void ReportPdfTest::sameDocumentSameBytes()
{
    const QString plan = m_folder.filePath(QStringLiteral("probed.kvplan"));
    QList<QByteArray> made;
    for (const char* name : {"a.pdf", "b.pdf"}) {
        const QString target = m_folder.filePath(QString::fromLatin1(name));
        QCOMPARE(runWorkbench(
                     {QStringLiteral("--export"), target, plan}, QStringLiteral("export SOURCE_DATE_EPOCH=1700000000"))
                     .code,
            0);
        made.push_back(contentOf(target));
        QTest::qWait(1100); // the clock moves on by a second
    }
    QCOMPARE(made[0], made[1]);
    QVERIFY(made[0].contains("20231114221320"));
}

QTEST_MAIN(ReportPdfTest)
#include "tst_report_pdf.moc"
