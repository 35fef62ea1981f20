// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/ceilings.h"
#include "device/host_memory.h"
#include "device/worker_pool.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

using namespace kvw;

/// No figure in seconds is judged here, only what is counted.
class CeilingsTest : public QObject
{
    Q_OBJECT
private slots:
    void countsBytes_data();
    void countsBytes();
    void tooLarge();
    void workingSet();
    void median();
    void poolDoesEveryItemOnce_data();
    void poolDoesEveryItemOnce();
    void poolWaitsForItsThreads();
    void stopsWhenAsked();
};

void CeilingsTest::countsBytes_data()
{
    QTest::addColumn<int>("threads");
    QTest::addColumn<int>("repeats");
    QTest::newRow("one") << 1 << 3;
    QTest::newRow("two") << 2 << 2;
    QTest::newRow("none asked for") << 0 << 0;
}

void CeilingsTest::countsBytes()
{
    QFETCH(int, threads);
    QFETCH(int, repeats);
    constexpr std::int64_t bytes = std::int64_t {4} << 20;
    const Result<MemoryCeilings> ceilings = measureCeilings(bytes, threads, repeats);
    QVERIFY(ceilings);
    QCOMPARE(ceilings->workingSetBytes, bytes);
    QCOMPARE(ceilings->threads, std::max(threads, 1));
    QCOMPARE(ceilings->repeats, std::max(repeats, 1));
    QCOMPARE(ceilings->copy.bytes, bytes / 2.0);
    QCOMPARE(ceilings->read.bytes, bytes * 1.0);
    QCOMPARE(ceilings->write.bytes, bytes * 1.0);
    for (const Rate& rate : {ceilings->copy, ceilings->read, ceilings->write})
        QVERIFY(rate.seconds > 0);
}

void CeilingsTest::tooLarge()
{
    QCOMPARE(measureCeilings(std::int64_t {1} << 60).error().code, std::string("device.memory"));
}

void CeilingsTest::workingSet()
{
    QCOMPARE(workingSetFor(std::int64_t {2} << 20), std::int64_t {2} << 20);
    QVERIFY(workingSetFor(std::numeric_limits<std::int64_t>::max()) <= readMemInfo()->totalBytes / 8);
    QVERIFY(workingSetFor(0) > 0);
}

void CeilingsTest::median()
{
    const std::vector<Rate> rates {{9, 1}, {1, 1}, {5, 1}, {7, 1}};
    QCOMPARE(medianRate(std::span(rates).first(1)).bytes, 9.0);
    QCOMPARE(medianRate(std::span(rates).first(3)).bytes, 5.0);
    QCOMPARE(medianRate(rates).bytes, 5.0);
}

void CeilingsTest::poolDoesEveryItemOnce_data()
{
    QTest::addColumn<int>("threads");
    for (const int threads : {-1, 0, 1, 2, 5})
        QTest::addRow("%d", threads) << threads;
}

void CeilingsTest::poolDoesEveryItemOnce()
{
    QFETCH(int, threads);
    WorkerPool pool(threads);
    QCOMPARE(pool.threads(), std::max(threads, 1));
    for (const std::size_t items : {0, 1, 2, 3, 100, 1000}) {
        for (const bool parallel : {false, true}) {
            std::vector<int> done(items);
            std::vector<int> byWorker(static_cast<std::size_t>(pool.threads()));
            pool.run(items, parallel, [&](std::size_t item, int worker) {
                ++done[item];
                ++byWorker[static_cast<std::size_t>(worker)];
            });
            QVERIFY(std::all_of(done.begin(), done.end(), [](int times) { return times == 1; }));
            int sum = 0;
            for (const int part : byWorker)
                sum += part;
            QCOMPARE(sum, static_cast<int>(items));
            if (!parallel)
                QCOMPARE(byWorker[0], static_cast<int>(items));
        }
    }
}

void CeilingsTest::poolWaitsForItsThreads()
{
    WorkerPool pool(2);
    for (int i = 0; i < 20; ++i) {
        std::atomic<int> done {0};
        pool.run(2, true, [&](std::size_t, int worker) {
            std::this_thread::sleep_for(std::chrono::milliseconds(worker == 0 ? 1 : 4));
            ++done;
        });
        QCOMPARE(done.load(), 2);
    }
}

void CeilingsTest::stopsWhenAsked()
{
    int asked = 0;
    const Result<MemoryCeilings> stopped = measureCeilings(std::int64_t {1} << 20, 1, 50, [&] { return ++asked == 3; });
    QVERIFY(!stopped.ok());
    QCOMPARE(stopped.error().code, std::string("run.stopped"));
    QCOMPARE(asked, 3); // and no round after that
    asked = 0;
    QVERIFY(measureCeilings(std::int64_t {1} << 20, 1, 4, [&] { return ++asked == 99; }).ok());
    QCOMPARE(asked, 5); // the unmeasured round too
}

QTEST_GUILESS_MAIN(CeilingsTest)
#include "tst_ceilings.moc"
