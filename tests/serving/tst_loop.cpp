// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/modelled_device.h"
#include "evidence/runs.h"
#include "serving/loop.h"
#include "support/example_plans.h"

#include <QTest>

#include <numeric>
#include <random>

using namespace kvw;

namespace {

RunSetup setupOf(const Plan& plan)
{
    return *setUpRun(plan, 1);
}

RunRecord run(const RunSetup& setup, std::unique_ptr<EventLog>* log = nullptr)
{
    return *predict(setup, {}, log);
}

/// Steps that a request needs when it is alone: its prompt in batches, then one token a step.
std::int64_t aloneSteps(std::int64_t toCompute, std::int64_t output, std::int64_t batch)
{
    return (toCompute + batch - 1) / batch + output - 1;
}

} // namespace

class tst_Loop : public QObject
{
    Q_OBJECT

private slots:
    void oneRequestAlone_data();
    void oneRequestAlone();
    void secondIdenticalRequestHits();
    void nothingIsDropped_data();
    void nothingIsDropped();
    void samplesFollowTheEventLog();
    void sameSeedSameEvents();
    void longWaitsAreRejected();
    void tooLargeIsRejectedWithNumbers();
    void cancellationGivesBlocksBack();
    void deadlockFailsOne();
    void fullOutputNeverPreempts();
    void batchIsNeverExceeded();
};

void tst_Loop::oneRequestAlone_data()
{
    QTest::addColumn<qint64>("prompt");
    QTest::addColumn<qint64>("output");
    QTest::addColumn<qint64>("batch");
    QTest::newRow("short") << qint64 {10} << qint64 {3} << qint64 {256};
    QTest::newRow("one token out") << qint64 {10} << qint64 {1} << qint64 {256};
    QTest::newRow("prompt in parts") << qint64 {700} << qint64 {20} << qint64 {256};
    QTest::newRow("exact batch") << qint64 {512} << qint64 {2} << qint64 {256};
    QTest::newRow("one token a step") << qint64 {33} << qint64 {5} << qint64 {1};
}

void tst_Loop::oneRequestAlone()
{
    QFETCH(qint64, prompt);
    QFETCH(qint64, output);
    QFETCH(qint64, batch);
    RunSetup setup = setupOf(test::smallPlan());
    setup.scheduler.maxBatchedTokens = batch;
    Request request;
    request.prompt = {{77, 0, static_cast<std::uint64_t>(prompt)}};
    request.outputTokens = output;
    request.outputStream = 78;
    setup.workload.requests = {request};
    const RunRecord record = run(setup);
    const RequestRecord& done = record.requests.front();
    QCOMPARE_EQ(done.outcome, Outcome::Completed);
    QCOMPARE(done.outputTokens, output);
    QCOMPARE(done.endStep, aloneSteps(prompt, output, batch) - 1);
    QCOMPARE(done.firstTokenStep, (prompt + batch - 1) / batch - 1);
    QCOMPARE(record.computedTokens, prompt + output - 1); // the last generated token is never computed
    QCOMPARE(done.mostBlocks, (prompt + output - 1 + 15) / 16);
    QCOMPARE(done.hitTokens, 0);
}

void tst_Loop::secondIdenticalRequestHits()
{
    RunSetup setup = setupOf(test::smallPlan());
    for (const std::int64_t prompt : {15, 16, 17, 160, 161}) {
        Request request;
        request.prompt = {{5, 0, static_cast<std::uint64_t>(prompt)}};
        request.outputTokens = 1;
        request.outputStream = 9;
        Request again = request;
        again.id = 1;
        again.arrivalStep = 100;
        setup.workload.requests = {request, again};
        const RunRecord record = run(setup);
        // Whole blocks only, and at least one token is computed again.
        QCOMPARE(record.requests[1].hitTokens, (prompt - 1) / 16 * 16);
        QCOMPARE(record.requests[1].warm, prompt > 16);
    }
}

void tst_Loop::nothingIsDropped_data()
{
    QTest::addColumn<QString>("outcome");
    QTest::addColumn<QString>("reservation");
    for (const char* outcome : {"wait", "reject", "preempt_recompute"}) {
        for (const char* reservation : {"on_demand", "full_output"})
            QTest::addRow("%s, %s", outcome, reservation) << outcome << reservation;
    }
}

void tst_Loop::nothingIsDropped()
{
    QFETCH(QString, outcome);
    QFETCH(QString, reservation);
    std::mt19937 random(7);
    for (int i = 0; i < 12; ++i) {
        const auto number = [&](int least, int most) {
            return std::to_string(std::uniform_int_distribution<int>(least, most)(random));
        };
        const Plan plan = test::with(test::smallPlan(),
            {{"admission.whenExhausted", outcome.toStdString()}, {"admission.reservation", reservation.toStdString()},
                {"workload.seed", number(1, 100000)}, {"budget.kvBytesPerRank", number(200, 2000) + "KiB"},
                {"engine.maxBatchedTokens", number(16, 400)}, {"workload.burstRequests", number(1, 40)},
                {"reuse.prefixCaching", i % 3 == 0 ? "off" : "on"}, {"engine.name", i % 4 == 0 ? "none" : "vllm"},
                {"limits.concurrentSequences", number(1, 6)}, {"engine.maxSequences", number(1, 12)}});
        std::unique_ptr<EventLog> log;
        const RunRecord record = run(setupOf(plan), &log);
        QVERIFY(record.complete);
        const auto counts = record.outcomes();
        QCOMPARE(std::accumulate(counts.begin(), counts.end(), std::int64_t {0}), 40);
        QCOMPARE(counts[static_cast<std::size_t>(Outcome::Unfinished)], 0);
        QCOMPARE(record.finalActive, 0); // every request gave everything back
        for (const RequestRecord& request : record.requests) {
            if (request.outcome == Outcome::Completed)
                QVERIFY(request.admitStep >= request.arrivalStep && request.firstTokenStep >= request.admitStep
                    && request.endStep >= request.firstTokenStep);
            else
                QVERIFY2(!request.reason.empty(), "an end without a reason");
        }
        QVERIFY(log->finalState().ok()); // the log can be replayed without contradiction
    }
}

void tst_Loop::samplesFollowTheEventLog()
{
    std::unique_ptr<EventLog> log;
    const RunSetup setup = setupOf(test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "900KiB"}}));
    const RunRecord record = run(setup, &log);
    QVERIFY(record.preemptions > 0 && record.evictions > 0);
    for (const StepSample& sample : record.samples) {
        const Result<BlockMap> map = log->stateAfter(static_cast<std::uint32_t>(sample.step));
        QVERIFY(map.ok());
        std::int64_t active = 0;
        std::int64_t cached = 0;
        std::int64_t free = 0;
        for (const BlockSnapshot& block : map->blocks().front()) {
            active += block.state == BlockState::Active;
            cached += block.state == BlockState::Cached;
            free += block.state == BlockState::Free;
        }
        QCOMPARE(active, sample.active);
        QCOMPARE(cached, sample.cached);
        QCOMPARE(free, sample.free);
    }
}

void tst_Loop::sameSeedSameEvents()
{
    const RunSetup setup = setupOf(test::smallPlan());
    std::unique_ptr<EventLog> first;
    std::unique_ptr<EventLog> second;
    run(setup, &first);
    run(setup, &second);
    QVERIFY(!first->events().empty());
    QVERIFY(first->events() == second->events());
}

void tst_Loop::longWaitsAreRejected()
{
    const Plan plan = test::with(test::smallPlan(),
        {{"admission.whenExhausted", "wait"}, {"admission.maxWaitSteps", "3"}, {"budget.kvBytesPerRank", "600KiB"},
            {"workload.burstRequests", "40"}, {"admission.reservation", "full_output"}});
    const RunRecord record = run(setupOf(plan));
    int rejected = 0;
    for (const RequestRecord& request : record.requests) {
        if (request.outcome == Outcome::Rejected && request.reason.find("waited") != std::string::npos) {
            QVERIFY(request.endStep - request.arrivalStep > 3);
            ++rejected;
        }
    }
    QVERIFY(rejected > 0);
}

void tst_Loop::tooLargeIsRejectedWithNumbers()
{
    RunSetup setup = setupOf(test::smallPlan());
    Request request;
    request.prompt = {{5, 0, 100'000}};
    request.outputTokens = 1;
    setup.workload.requests = {request};
    const RunRecord tooLong = run(setup);
    QCOMPARE_EQ(tooLong.requests[0].outcome, Outcome::Rejected);
    QVERIFY(tooLong.requests[0].reason.find("100001 tokens") != std::string::npos);
    setup.scheduler.maxLength.reset(); // no maximum: then the pool is too small
    const RunRecord record = run(setup);
    QCOMPARE_EQ(record.requests[0].outcome, Outcome::Rejected);
    QVERIFY2(record.requests[0].reason.find("6250 blocks") != std::string::npos, record.requests[0].reason.c_str());
}

void tst_Loop::cancellationGivesBlocksBack()
{
    RunSetup setup = setupOf(test::smallPlan());
    setup.behaviour.prefixCaching = false;
    Request request;
    request.prompt = {{5, 0, 64}};
    request.outputTokens = 500;
    request.outputStream = 6;
    request.cancelStep = 10;
    setup.workload.requests = {request};
    const RunRecord record = run(setup);
    QCOMPARE_EQ(record.requests[0].outcome, Outcome::Cancelled);
    QCOMPARE(record.requests[0].endStep, 10);
    QCOMPARE(record.requests[0].outputTokens, 10);
    QCOMPARE(record.finalFree + record.finalHeld, setup.layout.pools[0].blocks.value);
}

void tst_Loop::deadlockFailsOne()
{
    // Two requests that together need more than the pool, and neither may be preempted.
    RunSetup setup = setupOf(test::smallPlan());
    setup.layout.pools[0].blocks = Blocks(9); // 8 usable
    setup.scheduler.whenExhausted = WhenExhausted::Wait;
    setup.workload.requests.clear();
    for (std::uint32_t id = 0; id < 2; ++id) {
        Request request;
        request.id = id;
        request.prompt = {{50 + id, 0, 63}};
        request.outputTokens = 40;
        request.outputStream = 60 + id;
        setup.workload.requests.push_back(request);
    }
    const RunRecord record = run(setup);
    QVERIFY(record.complete);
    QCOMPARE_EQ(record.requests[0].outcome, Outcome::Completed);
    QCOMPARE_EQ(record.requests[1].outcome, Outcome::Failed);
    QVERIFY(!record.requests[1].reason.empty());
}

void tst_Loop::fullOutputNeverPreempts()
{
    const Plan plan = test::with(test::smallPlan(),
        {{"admission.reservation", "full_output"}, {"budget.kvBytesPerRank", "700KiB"},
            {"workload.burstRequests", "40"}});
    const RunRecord reserved = run(setupOf(plan));
    const RunRecord onDemand = run(setupOf(test::with(plan, {{"admission.reservation", "on_demand"}})));
    QVERIFY(onDemand.preemptions > 0);
    QCOMPARE(reserved.preemptions, 0);
    for (const StepSample& sample : reserved.samples)
        QVERIFY(sample.reservedBytes >= sample.activeBytes);
}

void tst_Loop::batchIsNeverExceeded()
{
    const RunSetup setup
        = setupOf(test::with(test::smallPlan(), {{"engine.maxBatchedTokens", "100"}, {"engine.maxSequences", "5"}}));
    const RunRecord record = run(setup);
    std::int64_t scheduled = 0;
    for (const StepSample& sample : record.samples) {
        QVERIFY(sample.scheduledTokens <= 100);
        QVERIFY(sample.running <= 5);
        scheduled += sample.scheduledTokens;
    }
    QCOMPARE(scheduled, record.computedTokens);
}

QTEST_GUILESS_MAIN(tst_Loop)
#include "tst_loop.moc"
