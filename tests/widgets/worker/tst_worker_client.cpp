// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "client_fixture.h"

#include "cache/event_log.h"
#include "worker/endings.h"
#include "worker/sampletrace.h"

#include <QFile>
#include <QTemporaryDir>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace kvw;
using namespace kvw::gui;
using namespace kvw::test;

namespace {

using S = WorkerState;

/// The lines of a run record by type; nothing when one of them is not whole.
std::optional<std::map<std::string, std::vector<nlohmann::json>>> recordLines(const std::string& path)
{
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::ReadOnly))
        return std::nullopt;
    std::map<std::string, std::vector<nlohmann::json>> out;
    while (!file.atEnd()) {
        const auto line = nlohmann::json::parse(file.readLine().toStdString(), nullptr, false);
        if (!line.is_object())
            return std::nullopt;
        out[line.at("type").get<std::string>()].push_back(line);
    }
    return out;
}

} // namespace

class WorkerClientTest : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void table();
    void devices();
    void runsToTheEnd();
    void spoolIsWhatTheWorkerWrites();
    void cancelAndRunAgain();
    void cancelBeforeTheWorkerIsThere();
    void cancelInAnEarlyPhase();
    void stopEndsWorkerAndRun();
    void runAskedForWhileStopping();
    void aRefusedPlanCostsOnlyItself();
    void noFolderForTheRun();
    void killedAtTwentyMoments();
    void killedWhileIdle();
    void endOfTheProgram();
    void traceIsBounded();
    void sentences();

private:
    QTemporaryDir m_folder;
};

void WorkerClientTest::initTestCase()
{
    const char* binary = std::getenv("KVW_BINARY");
    if (!binary || !*binary)
        QSKIP("the program kvw is not built");
    QVERIFY(m_folder.isValid());
    QVERIFY(workerProgram().endsWith(QStringLiteral("/kvw")));
}

void WorkerClientTest::table()
{
    // Written down once more, by hand.
    const std::set<std::pair<S, S>> allowed {{S::Dead, S::Starting}, {S::Starting, S::Handshake},
        {S::Handshake, S::Idle}, {S::Idle, S::Busy}, {S::Busy, S::Idle}, {S::Handshake, S::Stopping},
        {S::Idle, S::Stopping}, {S::Busy, S::Stopping}, {S::Starting, S::Dead}, {S::Handshake, S::Dead},
        {S::Idle, S::Dead}, {S::Busy, S::Dead}, {S::Stopping, S::Dead}};
    for (int from = 0; from < 6; ++from) {
        for (int to = 0; to < 6; ++to) {
            const std::pair pair {static_cast<S>(from), static_cast<S>(to)};
            QCOMPARE(mayFollow(pair.first, pair.second), allowed.count(pair) == 1);
        }
    }
}

void WorkerClientTest::devices()
{
    Watched watched(m_folder.path());
    QVERIFY(watched.client().devices().empty());
    const QSignalSpy told(&watched.client(), &WorkerClient::devicesChanged);
    watched.client().askDevices();
    QTRY_COMPARE_WITH_TIMEOUT(told.size(), 1, longTime);
    QCOMPARE(watched.client().devices().at(0).info.id, std::string("host"));
    QVERIFY(watched.client().devices().at(0).limitBytes > 0);
    QCOMPARE(watched.states, (std::vector<S> {S::Dead, S::Starting, S::Handshake, S::Idle}));
    QVERIFY(watched.client().processId() > 0);
}

void WorkerClientTest::runsToTheEnd()
{
    Watched watched(m_folder.path());
    const auto end = watched.run(orderOf(longPlan(), QStringLiteral("run1")));
    QVERIFY(end);
    QVERIFY2(end->how == RunEnd::How::Done && end->complete, qPrintable(end->sentence));
    QCOMPARE(end->sentence, QString());
    QVERIFY(watched.reaches(S::Idle)); // told after the run's end
    QCOMPARE(watched.states, (std::vector<S> {S::Dead, S::Starting, S::Handshake, S::Idle, S::Busy, S::Idle}));
    QVERIFY(watched.news >= 1);
    QCOMPARE(end->progress.phases.size(), std::size_t(6)); // no ceilings
    for (const PhaseStatus& phase : end->progress.phases)
        QVERIFY(phase.state == PhaseStatus::State::Done);
    QVERIFY(countVerdicts(end->rows).agrees > 10);
    QCOMPARE(countVerdicts(end->rows).differs, std::int64_t(0));
    QCOMPARE(end->outcome->live.outcomes()[static_cast<std::size_t>(Outcome::Completed)], std::int64_t(400));
    QCOMPARE(end->progress.step, end->progress.samples.back().step);
    // What was set up here is what the worker did.
    QCOMPARE(end->outcome->live.planHash, end->progress.setup->planHash);
    QCOMPARE(end->outcome->live.workloadHash, end->progress.setup->workload.sha256());
}

void WorkerClientTest::spoolIsWhatTheWorkerWrites()
{
    Watched watched(m_folder.path());
    RunOrder order = orderOf(smallPlan(), QStringLiteral("run2"));
    order.options.eventsFile = m_folder.filePath("theirs.kvev").toStdString();
    order.options.recordFile = m_folder.filePath("theirs.jsonl").toStdString();
    const auto end = watched.run(order);
    QVERIFY(end && end->complete && end->hasLog);
    const auto mine = EventLog::open(end->files->events);
    const auto theirs = EventLog::open(order.options.eventsFile);
    QVERIFY2(mine.ok(), mine ? "" : mine.error().text().c_str());
    QVERIFY((*mine)->complete());
    QVERIFY((*mine)->events() == (*theirs)->events());
    QVERIFY((*mine)->digests() == (*theirs)->digests());
    QVERIFY(!(*mine)->events().empty());
    auto kept = recordLines(end->files->record);
    auto written = recordLines(order.options.recordFile);
    QVERIFY(kept && written);
    QCOMPARE(nlohmann::json(kept->at("run")).dump(), nlohmann::json(written->at("run")).dump());
    QCOMPARE(nlohmann::json(kept->at("step")).dump(), nlohmann::json(written->at("step")).dump());
    QCOMPARE(nlohmann::json(kept->at("end")).dump(), nlohmann::json(written->at("end")).dump());
    const auto byId = [](const nlohmann::json& a, const nlohmann::json& b) { return a.at("id") < b.at("id"); };
    std::sort(written->at("request").begin(), written->at("request").end(), byId); // the worker's: as they ended
    QCOMPARE(nlohmann::json(kept->at("request")).dump(), nlohmann::json(written->at("request")).dump());
    QVERIFY(QFile::exists(QString::fromStdString(end->files->result)));
}

void WorkerClientTest::cancelAndRunAgain()
{
    Watched watched(m_folder.path());
    watched.client().run(orderOf(longPlan(), QStringLiteral("run3")));
    QVERIFY(QTest::qWaitFor([&] { return watched.last && watched.last->step > 0; }, longTime));
    watched.client().cancel();
    const auto end = watched.end();
    QVERIFY(end);
    QVERIFY(end->how == RunEnd::How::Cancelled);
    QVERIFY(!end->complete);
    QVERIFY2(end->sentence.startsWith(QStringLiteral("Cancelled after step ")), qPrintable(end->sentence));
    QVERIFY(!end->rows.empty());
    QCOMPARE(countVerdicts(end->rows).differs, std::int64_t(0));
    QVERIFY(watched.reaches(S::Idle));
    const qint64 process = watched.client().processId();
    const auto again = watched.run(orderOf(smallPlan(), QStringLiteral("run4")));
    QVERIFY(again && again->complete);
    QCOMPARE(watched.client().processId(), process); // the same worker
    QVERIFY(watched.legal);
    watched.client().cancel(); // nothing runs: no error
}

void WorkerClientTest::cancelBeforeTheWorkerIsThere()
{
    Watched watched(m_folder.path());
    watched.client().run(orderOf(smallPlan(), QStringLiteral("run5")));
    watched.client().cancel();
    const auto end = watched.end();
    QVERIFY(end && end->how == RunEnd::How::Cancelled);
    QCOMPARE(end->progress.id, QStringLiteral("run5"));
    QVERIFY(end->rows.empty());
    QVERIFY(watched.reaches(S::Idle));
}

void WorkerClientTest::cancelInAnEarlyPhase()
{
    Watched watched(m_folder.path());
    watched.client().run(orderOf(longPlan(), QStringLiteral("run6")));
    QVERIFY(watched.reaches(S::Busy));
    watched.client().cancel();
    const auto end = watched.end();
    QVERIFY(end && end->how == RunEnd::How::Cancelled);
    QVERIFY2(end->sentence.startsWith(QStringLiteral("Cancelled")), qPrintable(end->sentence));
}

void WorkerClientTest::stopEndsWorkerAndRun()
{
    Watched watched(m_folder.path());
    watched.client().run(orderOf(longPlan(), QStringLiteral("run7")));
    QVERIFY(QTest::qWaitFor([&] { return watched.last && watched.last->step > 0; }, longTime));
    watched.client().stop();
    const auto end = watched.end();
    QVERIFY(end && end->how == RunEnd::How::Cancelled);
    QVERIFY(!end->rows.empty());
    QVERIFY(watched.reaches(S::Dead));
    QCOMPARE(watched.client().sentence(), QStringLiteral("The worker was stopped."));
    QCOMPARE(watched.states.at(watched.states.size() - 2), S::Stopping);
    QVERIFY(watched.legal);
}

void WorkerClientTest::runAskedForWhileStopping()
{
    Watched watched(m_folder.path());
    watched.client().askDevices();
    QVERIFY(watched.reaches(S::Idle));
    const qint64 process = watched.client().processId();
    watched.client().stop();
    const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("run8")));
    QVERIFY(end && end->complete);
    QVERIFY(watched.client().processId() != process);
    QVERIFY(watched.legal);
}

void WorkerClientTest::aRefusedPlanCostsOnlyItself()
{
    Watched watched(m_folder.path());
    Plan plan = smallPlan();
    plan.worksheet.groups.clear();
    const auto end = watched.run(orderOf(plan, QStringLiteral("run9")));
    QVERIFY(end && end->how == RunEnd::How::Failed);
    QVERIFY(!end->sentence.isEmpty());
    RunOrder order = orderOf(smallPlan(), QStringLiteral("run10"));
    order.options.device = "cuda:3";
    const auto unknown = watched.run(order);
    QVERIFY(unknown && unknown->how == RunEnd::How::Failed);
    QVERIFY2(unknown->sentence.contains(QStringLiteral("cuda:3")), qPrintable(unknown->sentence));
    QVERIFY(watched.reaches(S::Idle));
    const auto next = watched.run(orderOf(smallPlan(), QStringLiteral("run11")));
    QVERIFY(next && next->complete);
}

void WorkerClientTest::noFolderForTheRun()
{
    QFile file(m_folder.filePath("a file"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    Watched watched(file.fileName() + QStringLiteral("/runs"));
    const auto end = watched.run(orderOf(smallPlan(), QStringLiteral("run1")));
    QVERIFY(end && end->how == RunEnd::How::Failed);
    QVERIFY2(end->sentence.contains(QStringLiteral("folder")), qPrintable(end->sentence));
    QVERIFY(watched.reaches(S::Idle));
}

void WorkerClientTest::killedAtTwentyMoments()
{
    Watched watched(m_folder.path());
    // What a run does when nobody kills the worker.
    const auto whole = watched.run(orderOf(longPlan(), QStringLiteral("whole")));
    QVERIFY(whole && whole->complete);
    const std::int64_t steps = whole->progress.predictedSteps;
    const auto log = EventLog::open(whole->files->events);
    QVERIFY(log.ok());

    std::set<QString> places;
    int died = 0;
    for (int moment = 0; moment < 20; ++moment) {
        const bool ceilings = moment >= 16; // these die while this machine's rates are measured
        watched.client().run(orderOf(longPlan(), QStringLiteral("kill%1").arg(moment), ceilings));
        QVERIFY(watched.reaches(S::Busy));
        // The first ones die by the clock, the next ones at a step, the last ones in a phase that takes seconds.
        const std::int64_t step = steps * (moment - 4) / 14;
        const auto reached = [&] {
            const std::shared_ptr<const RunProgress> now = watched.client().progress();
            if (!watched.client().isRunning())
                return true;
            if (ceilings)
                return now && runningPhase(*now) == ProbePhase::Ceilings;
            return now && now->step >= step && runningPhase(*now) == ProbePhase::Steps;
        };
        if (moment < 4)
            QTest::qWait(10 * moment);
        else
            QVERIFY(QTest::qWaitFor(reached, longTime));
        if (ceilings)
            QTest::qWait(60 * (moment - 16));
        watched.kill();
        const auto end = watched.end();
        QVERIFY(end);
        QVERIFY(watched.reaches(S::Dead));
        if (end->how == RunEnd::How::Died) {
            ++died;
            QCOMPARE(watched.client().sentence(), end->sentence);
            const QRegularExpression form(QStringLiteral("^The worker was killed \\(signal 9\\)( at step ([\\d,]+) of "
                                                         "[\\d,]+| in the phase \"([\\w ]+)\")?\\.$"));
            const QRegularExpressionMatch match = form.match(end->sentence);
            QVERIFY2(match.hasMatch(), qPrintable(end->sentence));
            places.insert(!match.captured(3).isEmpty() ? match.captured(3)
                    : match.captured(2).isEmpty()      ? QStringLiteral("before")
                                                       : QStringLiteral("steps"));
            QVERIFY(!end->complete);
            const auto lines = recordLines(end->files->record);
            QVERIFY(lines);
            QCOMPARE(lines->count("run"), std::size_t(1));
            if (!match.captured(2).isEmpty() && lines->count("step"))
                QCOMPARE(lines->at("step").back().at("step").get<std::int64_t>(), end->progress.step);
            if (end->hasLog) {
                const auto partial = EventLog::open(end->files->events);
                QVERIFY2(partial.ok(), partial ? "" : partial.error().text().c_str());
                QVERIFY(!(*partial)->complete());
                const std::vector<Event>& events = (*partial)->events();
                QCOMPARE(static_cast<std::int64_t>(events.size()), end->progress.events);
                QVERIFY(events.size() <= (*log)->events().size());
                QVERIFY(std::equal(events.begin(), events.end(), (*log)->events().begin()));
                const auto counts = kvwOutput({QStringLiteral("events"), QString::fromStdString(end->files->events)});
                QVERIFY(counts && !counts->isEmpty());
            }
        }
        const auto next = watched.run(orderOf(smallPlan(), QStringLiteral("after%1").arg(moment)));
        QVERIFY(next && next->complete);
    }
    qInfo("%d of 20 died in: %s", died, qPrintable(QStringList(places.begin(), places.end()).join(QLatin1Char(' '))));
    QVERIFY2(died >= 16, qPrintable(QString::number(died)));
    QVERIFY2(places.size() >= 3 && places.contains(QStringLiteral("Memory rates"))
            && places.contains(QStringLiteral("steps")),
        qPrintable(QStringList(places.begin(), places.end()).join(QLatin1Char(' '))));
    QVERIFY(watched.legal);
}

void WorkerClientTest::killedWhileIdle()
{
    Watched watched(m_folder.path());
    watched.client().askDevices();
    QVERIFY(watched.reaches(S::Idle));
    watched.kill();
    QVERIFY(watched.reaches(S::Dead));
    QCOMPARE(watched.client().sentence(), QStringLiteral("The worker was killed (signal 9)."));
    QVERIFY(watched.ends.empty());
    const auto next = watched.run(orderOf(smallPlan(), QStringLiteral("run12")));
    QVERIFY(next && next->complete);
}

void WorkerClientTest::endOfTheProgram()
{
    qint64 process = 0;
    QElapsedTimer timer;
    {
        Watched watched(m_folder.path());
        watched.client().run(orderOf(longPlan(), QStringLiteral("last")));
        QVERIFY(QTest::qWaitFor([&] { return watched.last && watched.last->step > 0; }, longTime));
        process = watched.client().processId();
        timer.start();
    }
    QVERIFY(timer.elapsed() < 10'000);
    QCOMPARE(::kill(static_cast<pid_t>(process), 0), -1); // no worker is left behind
}

void WorkerClientTest::traceIsBounded()
{
    SampleTrace trace(8);
    std::vector<std::int64_t> naive;
    for (std::int64_t i = 0; i < 1000; ++i) {
        StepSample sample;
        sample.step = i;
        trace.add(sample);
        const std::vector<StepSample> samples = trace.samples();
        QVERIFY(samples.size() <= 9);
        QCOMPARE(samples.front().step, std::int64_t(0));
        QCOMPARE(samples.back().step, i);
        const auto stride = static_cast<std::int64_t>(trace.stride());
        for (std::size_t k = 0; k + 1 < samples.size(); ++k)
            QCOMPARE(samples[k].step, static_cast<std::int64_t>(k) * stride);
        QVERIFY(i < 8 ? stride == 1 && samples.size() == static_cast<std::size_t>(i) + 1 : samples.size() >= 4);
    }
    QCOMPARE(trace.total(), std::size_t(1000));
}

void WorkerClientTest::sentences()
{
    RunProgress progress;
    progress.phases = {{ProbePhase::Steps, PhaseStatus::State::Running, 0}};
    progress.step = 512;
    progress.predictedSteps = 900;
    QCOMPARE(endingSentence(QProcess::CrashExit, 9, {}, whereText(progress)),
        QStringLiteral("The worker was killed (signal 9) at step 512 of 900."));
    progress.phases = {{ProbePhase::Reserve, PhaseStatus::State::Running, 0}};
    QCOMPARE(endingSentence(QProcess::CrashExit, 11, {}, whereText(progress)),
        QStringLiteral("The worker crashed (signal 11) in the phase \"Reserve\"."));
    QCOMPARE(
        endingSentence(QProcess::NormalExit, 12, Error {"worker.watchdog", "nothing was heard for 30 seconds"}, {}),
        QStringLiteral(
            "The worker heard nothing of this program for too long and ended: nothing was heard for 30 seconds."));
    QCOMPARE(endingSentence(QProcess::NormalExit, 99, {}, {}), QStringLiteral("The worker ended with exit code 99."));
}

QTEST_MAIN(WorkerClientTest)
#include "tst_worker_client.moc"
