// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "live/devicepane.h"
#include "live/evidencemodel.h"
#include "live/liveprobepage.h"
#include "live/phasestrip.h"
#include "live/runsmodel.h"
#include "models/roles.h"
#include "shell/mainwindow.h"
#include "shell/messagebar.h"
#include "support/example_plans.h"
#include "units/format.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QCheckBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <csignal>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

constexpr int longTime = 60'000;

/// What `kvw probe --json` says of the plan.
nlohmann::json commandLine(const QString& file)
{
    QProcess process;
    process.start(QString::fromLocal8Bit(std::getenv("KVW_BINARY")),
        {QStringLiteral("probe"), file, QStringLiteral("--json"), QStringLiteral("--no-ceilings"),
            QStringLiteral("--record"), file + QStringLiteral(".jsonl")});
    process.waitForFinished(longTime);
    return nlohmann::json::parse(process.readAllStandardOutput().toStdString(), nullptr, false);
}

/// A whole window on a plan file, with the page in front.
struct Bench
{
    explicit Bench(const Plan& plan, bool ceilings = false)
        : file(folder.filePath(QStringLiteral("small.kvplan")))
    {
        if (!savePlan(plan, file.toStdString()))
            qFatal("the plan cannot be written");
        window.resize(1280, 720);
        window.show();
        window.openPath(file);
        window.showPage(QStringLiteral("liveprobe"));
        page = qobject_cast<LiveProbePage*>(window.page(QStringLiteral("liveprobe")));
        evidence = page->findChild<EvidenceModel*>();
        runs = page->findChild<RunsModel*>();
        tester.reset(new QAbstractItemModelTester(evidence, QAbstractItemModelTester::FailureReportingMode::Fatal));
        runsTester.reset(new QAbstractItemModelTester(runs, QAbstractItemModelTester::FailureReportingMode::Fatal));
        if (!ceilings)
            page->findChild<QCheckBox*>()->click();
    }

    bool isReady()
    {
        return QTest::qWaitFor([&] { return evidence->rowCount() > 0; }, longTime);
    }
    bool ends()
    {
        return QTest::qWaitFor([&] { return !page->controller().isRunning(); }, longTime);
    }
    bool reachesStep(std::int64_t step)
    {
        return QTest::qWaitFor(
            [&] {
                const auto progress = page->controller().client().progress();
                return progress && progress->step >= step;
            },
            longTime);
    }
    /// Whether a label of the page begins so.
    bool says(const QString& text) const
    {
        const QList<QLabel*> labels = page->findChildren<QLabel*>();
        return std::any_of(labels.begin(), labels.end(),
            [&](const QLabel* label) { return label->isVisible() && label->text().startsWith(text); });
    }
    QString verdict(int row) const { return evidence->index(row, EvidenceModel::VerdictColumn).data().toString(); }
    QString result(int row) const { return runs->index(row, RunsModel::ResultColumn).data().toString(); }
    std::shared_ptr<const LiveResult> last() { return window.document().runs().back(); }

    QTemporaryDir folder;
    QString file;
    MainWindow window;
    LiveProbePage* page = nullptr;
    EvidenceModel* evidence = nullptr;
    RunsModel* runs = nullptr;
    std::unique_ptr<QAbstractItemModelTester> tester;
    std::unique_ptr<QAbstractItemModelTester> runsTester;
};

Plan longPlan()
{
    return with(smallPlan(), {{"workload.requests", "400"}});
}

} // namespace

class LiveProbeTest : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void beforeTheRun();
    void runCancelRunAgain();
    void numbersOfTheCommandLine();
    void evidenceGoesIntoThePlan();
    void editedWhileItRuns();
    void anotherDocumentWhileItRuns();
    void killed();
    void sizeOfTheRun();
    void tooLargeForTheDevice();
    void planThatCannotRun();
    void windowClosesDuringARun();
};

void LiveProbeTest::initTestCase()
{
    const char* binary = std::getenv("KVW_BINARY");
    if (!binary || !*binary)
        QSKIP("the program kvw is not built");
}

void LiveProbeTest::beforeTheRun()
{
    Bench bench(smallPlan());
    QVERIFY(bench.isReady());
    const nlohmann::json expected = commandLine(bench.file);
    // What will be reserved, before anything is.
    const auto& pool = expected.at("layout").at("pools").at(0);
    const QString bytes = QString::fromStdString(
        format(Bytes(pool.at("blocks").get<std::int64_t>() * pool.at("blockBytes").get<std::int64_t>())));
    QVERIFY(bench.page->findChild<PhaseStrip*>()
                ->texts()
                .join(QLatin1Char('|'))
                .contains(QStringLiteral("○ Reserve %1|").arg(bytes)));
    const auto facts = [&] { return bench.page->findChild<DevicePane*>()->facts(); };
    QVERIFY2(facts().contains(QStringLiteral("Will reserve: ") + bytes), qPrintable(facts().join(QLatin1Char('\n'))));
    QVERIFY(facts().contains(QStringLiteral("Does not run: weights, projections")));
    // The worker tells of its devices.
    QTRY_VERIFY_WITH_TIMEOUT(facts().join(QLatin1Char('\n')).contains(QStringLiteral("\nLimit: ")), longTime);
    // Estimate and prediction of every row that will come, nothing measured.
    QCOMPARE(bench.evidence->rowCount(), static_cast<int>(expected.at("evidence").size()));
    for (int i = 0; i < bench.evidence->rowCount(); ++i) {
        QCOMPARE(bench.evidence->index(i, EvidenceModel::Measured).data().toString(), QStringLiteral("–"));
        QCOMPARE(bench.verdict(i), QStringLiteral("not run"));
    }
    QVERIFY(bench.page->runAction()->isEnabled());
    QVERIFY(!bench.page->stopAction()->isEnabled());
    QVERIFY(bench.window.document().runs().empty());
    QVERIFY(!bench.window.document().isModified());
}

void LiveProbeTest::runCancelRunAgain()
{
    Bench bench(longPlan());
    QVERIFY(bench.isReady());
    const QSignalSpy changes(&bench.window.document(), &PlanDocument::runsChanged);
    QElapsedTimer timer;
    timer.start();
    bench.page->findChild<QPushButton*>(QStringLiteral("runLive"))->click();
    QVERIFY(bench.page->controller().isRunning());
    QCOMPARE(bench.page->badge(), QStringLiteral("▶"));
    QVERIFY(!bench.page->runAction()->isEnabled());
    QVERIFY(bench.reachesStep(1));
    QCOMPARE(bench.verdict(0), QStringLiteral("… running"));
    QVERIFY(!bench.last()->samples.empty());
    QVERIFY(
        bench.window.findChild<QLabel*>(QStringLiteral("workerStatus"))->text().contains(QStringLiteral("busy, host")));
    QTest::keyClick(&bench.window, Qt::Key_Escape);
    QVERIFY(bench.page->controller().isCancelling());
    QVERIFY(bench.ends());
    QVERIFY2(changes.size() <= timer.elapsed() / 100 + 5, qPrintable(QString::number(changes.size())));
    const QString steps = QString::fromStdString(std::to_string(
        bench.page->controller().progressOf(QStringLiteral("run1"))->predictedSteps)); // fewer than 1,000 or grouped
    QVERIFY2(QRegularExpression(QStringLiteral("^cancelled at step [\\d,]+ of [\\d,]+$"))
                 .match(bench.last()->state)
                 .hasMatch(),
        qPrintable(bench.last()->state));
    QVERIFY(QString(bench.last()->state).remove(QLatin1Char(',')).endsWith(QStringLiteral(" of ") + steps));
    // One wording: in the strip, in the header and over the evidence.
    QVERIFY(bench.page->findChild<PhaseStrip*>()
                ->texts()
                .join(QLatin1Char('|'))
                .contains(QStringLiteral("✗ Step run ") + bench.last()->state));
    QVERIFY(bench.says(QStringLiteral("run 1 ") + bench.last()->state));
    QVERIFY(bench.says(QStringLiteral("run 1, ") + bench.last()->state));
    QCOMPARE(bench.result(0), QStringLiteral("cancelled"));
    QVERIFY(!bench.last()->rows.empty());
    QVERIFY(bench.window.document().plan().evidence.empty()); // part of a run proves nothing
    QCOMPARE(bench.window.messageBar()->text(), QString());
    // The event log of the part that ran.
    QTRY_VERIFY_WITH_TIMEOUT(bench.last()->events != nullptr, longTime);
    QVERIFY(!bench.last()->events->events().empty());

    QTest::keyClick(&bench.window, Qt::Key_F6);
    QVERIFY(bench.page->controller().isRunning());
    QVERIFY(bench.ends());
    QCOMPARE(bench.last()->id, QStringLiteral("run2"));
    QCOMPARE(bench.last()->state, QStringLiteral("done"));
    QVERIFY(bench.result(0).startsWith(QStringLiteral("✓ ")));
    QCOMPARE(bench.result(1), QStringLiteral("cancelled"));
    QCOMPARE(bench.page->shownRun(), QStringLiteral("run2"));
    QVERIFY(bench.last()->eventsFile.endsWith(QStringLiteral(".kvev")));
    QTRY_VERIFY_WITH_TIMEOUT(bench.last()->events != nullptr, longTime);
    QVERIFY(bench.last()->events->complete());
    // The earlier run can be looked at.
    bench.page->showRun(QStringLiteral("run1"));
    QCOMPARE(bench.page->shownRun(), QStringLiteral("run1"));
    QVERIFY(bench.verdict(bench.evidence->rowCount() - 1).startsWith(QStringLiteral("–")));
}

void LiveProbeTest::numbersOfTheCommandLine()
{
    Bench bench(smallPlan());
    QVERIFY(bench.isReady());
    bench.page->runAction()->trigger();
    QVERIFY(bench.ends());
    const nlohmann::json expected = commandLine(bench.file);
    std::map<std::string, nlohmann::json> rows;
    for (const auto& row : expected.at("evidence"))
        rows[row.at("id").get<std::string>()] = row;
    QCOMPARE(bench.evidence->rowCount(), static_cast<int>(rows.size()));
    int compared = 0;
    for (int i = 0; i < bench.evidence->rowCount(); ++i) {
        const EvidenceRow& row = bench.evidence->rows()[static_cast<std::size_t>(i)];
        const nlohmann::json& other = rows.at(row.id);
        const bool rate = row.unit == Unit::BytesPerSecond;
        for (const auto& [column, key] : {std::pair {EvidenceModel::Estimate, "estimated"},
                 std::pair {EvidenceModel::Prediction, "predicted"}, std::pair {EvidenceModel::Measured, "measured"}}) {
            const QModelIndex cell = bench.evidence->index(i, column);
            if (other.at(key).is_null()) {
                QCOMPARE(cell.data().toString(), QStringLiteral("–"));
            } else if (!rate) {
                // The exact number that the cell tells, against the command line's.
                QString exact = cell.data(ExactRole).toString().section(QLatin1Char(' '), 0, 0);
                exact.remove(QLatin1Char(','));
                QCOMPARE(exact, QString::fromStdString(other.at(key).dump()));
                ++compared;
            }
        }
        const QString verdict = QString::fromStdString(other.at("verdict").get<std::string>());
        QVERIFY2(verdict == QLatin1String("agrees") ? bench.verdict(i) == QStringLiteral("✓ agrees")
                                                    : bench.verdict(i).startsWith(QStringLiteral("– no verdict")),
            qPrintable(bench.verdict(i)));
    }
    QVERIFY(compared > 30);
    const auto& verdicts = expected.at("verdicts");
    QCOMPARE(verdictCountText(bench.evidence->rows()),
        QStringLiteral("✓ %1 agree · ✗ 0 differ · – %2 without verdict")
            .arg(verdicts.at("agrees").get<int>())
            .arg(verdicts.at("notComparable").get<int>() + verdicts.at("sameCounter").get<int>()));
}

void LiveProbeTest::evidenceGoesIntoThePlan()
{
    Bench bench(smallPlan());
    PlanDocument& document = bench.window.document();
    QVERIFY(bench.isReady());
    bench.page->runAction()->trigger();
    QVERIFY(bench.ends());
    QCOMPARE(document.plan().evidence.size(), bench.last()->rows.size());
    QCOMPARE(document.plan().runs.size(), std::size_t(1));
    QCOMPARE(document.plan().runs[0].planHash, document.hash());
    QVERIFY(document.isModified());
    QVERIFY(!document.isStale(*bench.last()));
    const QString counts = bench.result(0);

    // An edit makes it stale, undoing the edit does not leave it so.
    QVERIFY(document.setField(QStringLiteral("limits.maxModelLen"), QStringLiteral("2048")).ok());
    QVERIFY(
        bench.evidence->headerData(EvidenceModel::Measured, Qt::Horizontal).toString().startsWith(QLatin1Char('~')));
    QCOMPARE(bench.result(0), QStringLiteral("~ ") + counts);
    document.undoStack()->undo();
    QVERIFY(
        bench.evidence->headerData(EvidenceModel::Measured, Qt::Horizontal).toString().startsWith(QStringLiteral("●")));
    QCOMPARE(bench.result(0), counts);

    // From the file it is the same.
    const std::vector<EvidenceRow> before = bench.last()->rows;
    QVERIFY(bench.window.saveTo(bench.file));
    QVERIFY(bench.window.openPath(bench.file));
    QVERIFY(document.runs().empty());
    QCOMPARE(bench.runs->rowCount(), 1);
    QCOMPARE(bench.result(0), counts);
    bench.page->showRun(QStringLiteral("run1"));
    QCOMPARE(bench.evidence->rowCount(), static_cast<int>(before.size()));
    QCOMPARE(verdictCountText(bench.evidence->rows()), verdictCountText(before));
    QVERIFY(
        bench.evidence->headerData(EvidenceModel::Measured, Qt::Horizontal).toString().startsWith(QStringLiteral("●")));
    // The next run gets the next number.
    QTRY_VERIFY_WITH_TIMEOUT(bench.page->runAction()->isEnabled(), longTime);
    bench.page->runAction()->trigger();
    QVERIFY(bench.ends());
    QCOMPARE(bench.last()->id, QStringLiteral("run2"));
}

void LiveProbeTest::editedWhileItRuns()
{
    Bench bench(longPlan());
    PlanDocument& document = bench.window.document();
    QVERIFY(bench.isReady());
    bench.page->runAction()->trigger();
    QVERIFY(bench.reachesStep(1));
    const auto predicted = [&] {
        QStringList out;
        for (int i = 0; i < bench.evidence->rowCount(); ++i)
            out.push_back(bench.evidence->index(i, EvidenceModel::Prediction).data(ExactRole).toString());
        return out;
    };
    const QStringList before = predicted();
    QVERIFY(document.setField(QStringLiteral("limits.maxModelLen"), QStringLiteral("2048")).ok());
    QVERIFY(document.setField(QStringLiteral("workload.requests"), QStringLiteral("7")).ok());
    // It keeps the columns of its own plan, and says that it is of that one.
    QVERIFY(bench.page->controller().isRunning());
    QVERIFY(bench.says(QStringLiteral("~ run 1 is of an earlier plan")));
    QTest::qWait(400); // a preview of the edited plan has come, or the run is over
    if (bench.page->controller().isRunning())
        QCOMPARE(predicted(), before);
    QVERIFY(bench.ends());
    QCOMPARE(bench.last()->state, QStringLiteral("done"));
    QVERIFY(document.isStale(*bench.last()));
    QVERIFY(document.plan().evidence.empty());
    QVERIFY2(bench.window.messageBar()->text().contains(QStringLiteral("earlier plan")),
        qPrintable(bench.window.messageBar()->text()));
}

void LiveProbeTest::anotherDocumentWhileItRuns()
{
    Bench bench(longPlan());
    PlanDocument& document = bench.window.document();
    QVERIFY(bench.isReady());
    bench.page->runAction()->trigger();
    QVERIFY(bench.reachesStep(1));
    const QString other = bench.folder.filePath(QStringLiteral("other.kvplan"));
    QVERIFY(savePlan(smallPlan(), other.toStdString()).ok());
    QVERIFY(bench.window.openPath(other));
    QVERIFY(bench.ends());
    QVERIFY(document.runs().empty());
    QVERIFY(document.plan().evidence.empty());
    QTRY_VERIFY_WITH_TIMEOUT(bench.page->runAction()->isEnabled(), longTime);
    bench.page->runAction()->trigger();
    QVERIFY(bench.ends());
    QCOMPARE(bench.last()->state, QStringLiteral("done"));
}

void LiveProbeTest::killed()
{
    Bench bench(longPlan());
    PlanDocument& document = bench.window.document();
    const std::string plan = planToJson(document.plan());
    QVERIFY(bench.isReady());
    bench.page->runAction()->trigger();
    QVERIFY(bench.reachesStep(3));
    ::kill(static_cast<pid_t>(bench.page->controller().client().processId()), SIGKILL);
    QVERIFY(bench.ends());
    const QString message = bench.window.messageBar()->text();
    QVERIFY2(message.contains(QStringLiteral("The worker was killed (signal 9) at step ")), qPrintable(message));
    QCOMPARE(bench.result(0), QStringLiteral("✗ stopped"));
    QVERIFY(bench.last()->state.startsWith(QStringLiteral("The worker was killed (signal 9)")));
    QVERIFY(!bench.last()->samples.empty());
    QVERIFY(bench.last()->rows.empty());
    QTRY_VERIFY_WITH_TIMEOUT(bench.last()->events != nullptr, longTime);
    QVERIFY(!bench.last()->events->complete());
    QVERIFY(
        bench.page->findChild<PhaseStrip*>()->texts().join(QLatin1Char('|')).contains(QStringLiteral("✗ Step run")));
    QCOMPARE(planToJson(document.plan()), plan); // untouched
    QVERIFY(!document.isModified());
    bench.page->runAction()->trigger();
    QCOMPARE(bench.window.messageBar()->text(), QString());
    QVERIFY(bench.ends());
    QCOMPARE(bench.last()->state, QStringLiteral("done"));
}

void LiveProbeTest::sizeOfTheRun()
{
    Bench bench(smallPlan());
    QVERIFY(bench.isReady());
    auto* pane = bench.page->findChild<DevicePane*>();
    auto* size = pane->findChild<QLineEdit*>(QStringLiteral("runSize"));
    QCOMPARE(size->text(), QStringLiteral("512.00 MiB")); // as kvw probe
    const auto enter = [&](const char* text) {
        size->selectAll();
        QTest::keyClicks(size, QString::fromLatin1(text));
        QTest::keyClick(size, Qt::Key_Return);
    };
    enter("1 MiB");
    QCOMPARE(pane->options().maximumBytes, std::int64_t(1 << 20));
    enter("much");
    QCOMPARE(pane->options().maximumBytes, std::int64_t(1 << 20));
    QCOMPARE(size->text(), QStringLiteral("much")); // what was typed stays, with the reason
    bool told = false;
    for (const QLabel* label : pane->findChildren<QLabel*>())
        told = told || (label->isVisible() && label->text().startsWith(QStringLiteral("✗ A size is wanted")));
    QVERIFY(told);
    enter("1MiB");
    bench.page->runAction()->trigger();
    QVERIFY(bench.ends());
    QVERIFY(bench.last()->setup.layout.totalBytes().value().value <= 1 << 20);
    QVERIFY(bench.last()->setup.poolFraction < 1);
    QCOMPARE(bench.last()->state, QStringLiteral("done"));
}

void LiveProbeTest::tooLargeForTheDevice()
{
    // A pool of 6 TiB.
    Bench bench(with(examplePlan("reference.kvplan"), {{"budget.kvBytesPerRank", "6TiB"}}));
    auto* pane = bench.page->findChild<DevicePane*>();
    auto* size = pane->findChild<QLineEdit*>(QStringLiteral("runSize"));
    QTRY_VERIFY_WITH_TIMEOUT(!bench.page->controller().client().devices().empty(), longTime);
    size->selectAll();
    QTest::keyClicks(size, QStringLiteral("5TiB"));
    QTest::keyClick(size, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(!bench.page->runAction()->isEnabled(), longTime);
    QVERIFY2(bench.page->runAction()->toolTip().contains(QStringLiteral("are more than the limit of")),
        qPrintable(bench.page->runAction()->toolTip()));
    size->selectAll();
    QTest::keyClicks(size, QStringLiteral("64MiB"));
    QTest::keyClick(size, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(bench.page->runAction()->isEnabled(), longTime);
}

void LiveProbeTest::planThatCannotRun()
{
    Plan plan = smallPlan();
    plan.worksheet.groups.clear();
    Bench bench(plan);
    QTRY_VERIFY_WITH_TIMEOUT(!bench.page->runAction()->isEnabled(), longTime);
    QVERIFY(!bench.page->runAction()->toolTip().isEmpty());
    QCOMPARE(bench.evidence->rowCount(), 0);
}

void LiveProbeTest::windowClosesDuringARun()
{
    qint64 process = 0;
    {
        Bench bench(longPlan());
        QVERIFY(bench.isReady());
        bench.page->runAction()->trigger();
        QVERIFY(bench.reachesStep(1));
        process = bench.page->controller().client().processId();
    }
    QCOMPARE(::kill(static_cast<pid_t>(process), 0), -1);
}

QTEST_MAIN(LiveProbeTest)
#include "tst_live_probe.moc"
