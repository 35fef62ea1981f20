// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What a plan and its runs may lose, and who is asked: with a worker of its own where a run is going.

#include "bench.h"

#include "live/liveprobepage.h"
#include "plan/field_table.h"

#include <QCheckBox>
#include <QDir>
#include <QDropEvent>
#include <QMimeData>
#include <QSettings>

using namespace kvw;
using namespace kvw::gui;

class TestLiveWindow : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void opensAFolder();
    void newPlanIsClean();
    void evidenceIsNamed();
    void closingDuringARunAsks();
    void openingDuringARunAsks();
};

void TestLiveWindow::initTestCase()
{
    QCoreApplication::setOrganizationName(QStringLiteral("kvworkbench"));
    QCoreApplication::setApplicationName(QStringLiteral("tst_live_window"));
    QVERIFY2(!qEnvironmentVariableIsEmpty("KVW_BINARY"), "the program kvw is not built");
}

void TestLiveWindow::init()
{
    QSettings().clear();
}

void TestLiveWindow::opensAFolder()
{
    Bench bench;
    const QString folder = bench.folder.filePath("model");
    QVERIFY(QDir().mkpath(folder));
    QVERIFY(!bench.window.openPath(folder)); // nothing in it
    QVERIFY2(bench.message().contains("config.json"), qPrintable(bench.message()));
    QCOMPARE(bench.document().plan().worksheet.groups.front().layers, std::int64_t(32)); // what was open stays
    QVERIFY(QFile::copy(
        qEnvironmentVariable("KVW_SOURCE_DIR") + "/tests/data/import/llama_3_1_8b.json", folder + "/config.json"));
    QVERIFY(bench.window.openPath(folder));
    const Plan& plan = bench.document().plan();
    QCOMPARE(plan.worksheet.groups.size(), std::size_t(1));
    QCOMPARE(plan.worksheet.groups[0].layers, std::int64_t(32));
    QCOMPARE(plan.worksheet.groups[0].tensors[0].heads, std::int64_t(8));
    QVERIFY(bench.document().path().isEmpty()); // a plan of its own
}

namespace {

LiveResult finishedRun(const PlanDocument& document, const char* id)
{
    LiveResult run;
    run.id = QString::fromLatin1(id);
    run.device = QStringLiteral("host");
    run.state = QStringLiteral("done");
    run.planHash = document.hash();
    return run;
}

} // namespace

void TestLiveWindow::newPlanIsClean()
{
    Bench bench;
    bench.document().storeEvidence(finishedRun(bench.document(), "run1"), "2026-11-30T10:00:00Z");
    QVERIFY(bench.document().isModified());
    QVERIFY(!bench.document().isEdited());
    QVERIFY(bench.window.isWindowModified());
    QVERIFY(bench.window.openPath(example("gpt-oss-120b.kvplan")));
    QVERIFY(!bench.document().isModified());
    QVERIFY(!bench.window.isWindowModified());
}

void TestLiveWindow::evidenceIsNamed()
{
    Bench bench;
    bench.document().storeEvidence(finishedRun(bench.document(), "run1"), "2026-11-30T10:00:00Z");
    {
        Answer answer("Cancel");
        QVERIFY(!bench.window.close());
        QCOMPARE(answer.text, QStringLiteral("Evidence of run 1 is not saved."));
    }
    // A run that ends while the question stands is asked about too.
    QTimer::singleShot(60, &bench.window, [&] {
        bench.document().storeEvidence(finishedRun(bench.document(), "run2"), "2026-11-30T10:01:00Z");
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        QVERIFY(box);
        box->button(QMessageBox::Discard)->click();
        QTimer::singleShot(60, &bench.window, [] {
            auto* again = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            QVERIFY(again);
            QVERIFY(again->text().contains("run 1, run 2"));
            again->reject();
        });
    });
    QVERIFY(!bench.window.close());
    QVERIFY(bench.window.saveTo(bench.path));
    QVERIFY(bench.window.close());
}

namespace {

/// Starts a live run that takes a while, and waits until the device has done some of it.
LiveProbePage* startLongRun(Bench& bench)
{
    PlanDocument& document = bench.document();
    if (!document.setFields("a long run",
            {{"workload.requests", "400"}, {"workload.outputTokensMin", "500"}, {"workload.outputTokensMax", "600"}}))
        return nullptr;
    if (!bench.window.saveTo(bench.path))
        return nullptr;
    auto* live = qobject_cast<LiveProbePage*>(bench.window.page("liveprobe"));
    bench.window.showPage("liveprobe");
    live->findChild<QCheckBox*>()->setChecked(false); // no rates first
    if (!QTest::qWaitFor([&] { return live->runAction()->isEnabled(); }, 60'000))
        return nullptr;
    live->runAction()->trigger();
    const auto going = [&] {
        return live->controller().isRunning() && !document.runs().empty() && !document.runs().back()->samples.empty();
    };
    return QTest::qWaitFor(going, 120'000) ? live : nullptr;
}

} // namespace

void TestLiveWindow::closingDuringARunAsks()
{
    Bench bench;
    LiveProbePage* live = startLongRun(bench);
    QVERIFY(live);
    {
        Answer answer("Cancel");
        QVERIFY(!bench.window.close());
        QVERIFY2(answer.text.contains("A live run is going"), qPrintable(answer.text));
    }
    QVERIFY(live->controller().isRunning());
    Answer answer("Stop the run");
    QVERIFY(bench.window.close());
    QVERIFY(answer.text.contains("its evidence is not kept")); // the worker ends with the window
    QCOMPARE(bench.saved().runs.size(), std::size_t(0));
}

void TestLiveWindow::openingDuringARunAsks()
{
    Bench bench;
    LiveProbePage* live = startLongRun(bench);
    QVERIFY(live);
    const std::string before = bench.document().hash();
    const auto openOther = [&] {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(example("gpt-oss-120b.kvplan"))});
        QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&bench.window, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(10, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(&bench.window, &drop);
    };
    {
        Answer answer("Cancel");
        openOther();
        QTRY_VERIFY(!answer.text.isEmpty());
        QVERIFY2(answer.text.contains("A live run is going"), qPrintable(answer.text));
    }
    QCOMPARE(bench.document().hash(), before);
    QVERIFY(live->controller().isRunning());
    {
        Answer answer("Stop the run");
        openOther();
        QTRY_VERIFY(!answer.text.isEmpty());
    }
    QTRY_VERIFY_WITH_TIMEOUT(!live->controller().isRunning(), 60'000);
    QCOMPARE(bench.document().plan().worksheet.groups.size(), std::size_t(2));
    QVERIFY(bench.document().runs().empty()); // the run of the other plan is not this one's
    QVERIFY(!bench.document().isModified());
}

QTEST_MAIN(TestLiveWindow)
#include "tst_live_window.moc"
