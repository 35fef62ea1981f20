// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/reconcile.h"
#include "serving/shown_samples.h"
#include "support/example_plans.h"

#include <QTest>

#include <algorithm>

using namespace kvw;

/// Rates with their spread and their ceiling, and the samples that a picture shows.
class RatesTest : public QObject
{
    Q_OBJECT

private slots:
    void spreadOfARun();
    void tooShortForASpread();
    void longRunsAreThinned();
    void spreadAndCeilingInTheEvidence();
    void toleranceOfAStoredRow();
    void shownSamplesKeepPeaks();
};

void RatesTest::spreadOfARun()
{
    RateMarks marks;
    // 100 bytes in each step: ten steps of 1 s, ten of 2 s, ten of 4 s.
    Rate total;
    for (const double seconds : {1.0, 2.0, 4.0}) {
        for (int i = 0; i < 10; ++i) {
            total.bytes += 100;
            total.seconds += seconds;
            marks.note(total);
        }
    }
    const std::optional<RateSpread> spread = marks.spread(10);
    QVERIFY(spread);
    QCOMPARE(spread->parts, 10); // of three steps each
    QCOMPARE(spread->fastest, 100.0); // the first, 300 B in 3 s
    QCOMPARE(spread->slowest, 25.0); // the last, 300 B in 12 s
}

void RatesTest::tooShortForASpread()
{
    RateMarks marks;
    QVERIFY(!marks.spread(10));
    marks.note({100, 1});
    QVERIFY(!marks.spread(10)); // one part has no spread
    marks.note({100, 2}); // nothing moved
    QVERIFY(!marks.spread(10));
}

void RatesTest::longRunsAreThinned()
{
    RateMarks marks;
    Rate total;
    for (int i = 0; i < 100'000; ++i) {
        total.bytes += 10;
        total.seconds += i < 50'000 ? 1 : 10;
        marks.note(total);
    }
    const std::optional<RateSpread> spread = marks.spread(10);
    QVERIFY(spread && spread->parts >= 9);
    QCOMPARE(spread->fastest, 10.0);
    QCOMPARE(spread->slowest, 1.0);
}

void RatesTest::spreadAndCeilingInTheEvidence()
{
    const Plan plan = test::smallPlan();
    const Result<RunSetup> setup = setUpRun(plan, 1);
    QVERIFY(setup.ok());
    const Result<RunRecord> prediction = predict(*setup, {});
    QVERIFY(prediction.ok());
    LiveRun live;
    live.record = *prediction;
    live.readings.written.resize(setup->workload.requests.size());
    live.readings.append = {3e9, 1};
    live.readings.appendSpread = RateSpread {2e9, 4e9, 10};
    live.readings.verify = {8e9, 1};
    live.readings.ceilings = MemoryCeilings {{9e9, 1}, {6e9, 1}, {5e9, 1}, 1 << 20, 1, 9};
    const Result<Estimate> numbers = estimate(plan);
    QVERIFY(numbers.ok());
    const std::vector<EvidenceRow> rows = reconcile(*numbers, *setup, *prediction, &live);
    const auto row = [&](const char* id) {
        return *std::find_if(rows.begin(), rows.end(), [&](const EvidenceRow& one) { return one.id == id; });
    };
    const EvidenceRow append = row("append_rate");
    QCOMPARE(append.below, 1e9);
    QCOMPARE(append.above, 1e9);
    QVERIFY(append.toleranceReason.find("2.00 GB/s to 4.00 GB/s") != std::string::npos);
    QVERIFY(append.instrument.find("ceiling, plain write in this run: 5.00 GB/s") != std::string::npos);
    QVERIFY(append.reason.find("disturbed") == std::string::npos);
    QVERIFY(append.verdict == Verdict::NotComparable);
    const EvidenceRow read = row("read_rate");
    QVERIFY(read.toleranceReason.empty());
    QVERIFY(read.instrument.find("ceiling, plain read in this run: 6.00 GB/s") != std::string::npos);
    QVERIFY(read.reason.find("the ceiling was disturbed") != std::string::npos); // 8 GB/s are more than 6
}

void RatesTest::toleranceOfAStoredRow()
{
    EvidenceRow row;
    row.id = "pool_bytes";
    row.title = "Pool bytes reserved";
    row.unit = Unit::Byte;
    row.measured = std::int64_t {4096};
    row.above = 4095;
    row.toleranceReason = "whole pages: never less";
    const std::vector<EvidenceRow> back = rowsOf(summaries({row}, "run1"));
    QCOMPARE(back.size(), std::size_t(1));
    QCOMPARE(back[0].below, 0.0);
    QCOMPARE(back[0].above, 4095.0);
    QCOMPARE(back[0].toleranceReason, row.toleranceReason);
    row.toleranceReason.clear();
    QVERIFY(rowsOf(summaries({row}, "run1"))[0].toleranceReason.empty());
}

void RatesTest::shownSamplesKeepPeaks()
{
    const std::vector<double> heights {1, 9, 2, 3, 0, 4, 7, 7};
    const auto height = [&](std::size_t i) { return heights[i]; };
    using Indices = std::vector<std::size_t>;
    QCOMPARE(shownSamples(8, 100, height), (Indices {0, 1, 2, 3, 4, 5, 6, 7})); // room for all
    QCOMPARE(shownSamples(8, 4, height), (Indices {1, 3, 5, 6})); // of equal ones the first
    QCOMPARE(shownSamples(8, 3, height), (Indices {1, 5, 6})); // 3, 3 and 2
    QCOMPARE(shownSamples(0, 3, height), Indices());
    QCOMPARE(shownSamples(8, 0, height), Indices {1});
}

QTEST_GUILESS_MAIN(RatesTest)
#include "tst_rates.moc"
