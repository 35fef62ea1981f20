// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/host_device.h"
#include "evidence/reconcile.h"
#include "support/example_plans.h"
#include "support/sabotage_device.h"

#include <QTest>

#include <algorithm>

using namespace kvw;
using kvw::test::Sabotage;
using kvw::test::SabotageDevice;

namespace {

/// Passes everything on, but one verify() is told another block: a table entry that leads to a block of another domain.
class ForeignTableEntry final : public Device
{
public:
    explicit ForeignTableEntry(Device& inner)
        : m_inner(inner)
    {}

    bool done() const { return m_done; }

    DeviceInfo info() const override { return m_inner.info(); }
    Result<void> reserve(const PoolLayout& layout) override { return m_inner.reserve(layout); }
    void release() override { m_inner.release(); }
    Result<void> append(std::span<const EntrySpan> spans) override
    {
        for (const EntrySpan& span : spans)
            m_owner[span.block] = span.domain;
        return m_inner.append(spans);
    }
    Result<VerifyCount> verify(std::span<const EntrySpan> spans) override
    {
        std::vector<EntrySpan> changed(spans.begin(), spans.end());
        for (EntrySpan& span : changed) {
            const auto foreign = std::find_if(
                m_owner.begin(), m_owner.end(), [&](const auto& owner) { return owner.second != span.domain; });
            if (m_done || foreign == m_owner.end())
                continue;
            span.block = foreign->first;
            m_done = true;
        }
        return m_inner.verify(changed);
    }
    Result<void> copyBlocks(std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs) override
    {
        return m_inner.copyBlocks(pool, pairs);
    }
    Result<std::vector<std::optional<EntryTag>>> readTags(std::uint32_t group, std::uint32_t block) const override
    {
        return m_inner.readTags(group, block);
    }
    Result<void> countAndPoisonAll() override { return m_inner.countAndPoisonAll(); }
    DeviceCounts counts() const override { return m_inner.counts(); }
    Result<MemoryReading> memory() const override { return m_inner.memory(); }
    bool holdsBytes() const override { return true; }
    Rate appendRate() const override { return m_inner.appendRate(); }
    Rate verifyRate() const override { return m_inner.verifyRate(); }

private:
    Device& m_inner;
    std::map<std::uint32_t, std::uint16_t> m_owner; // block → domain of its last content
    bool m_done = false;
};

struct Outcomes
{
    RunSetup setup;
    RunRecord prediction;
    LiveRun live;
    std::vector<EvidenceRow> rows;

    Verdict verdict(const std::string& id) const
    {
        const auto found = std::find_if(rows.begin(), rows.end(), [&](const EvidenceRow& row) { return row.id == id; });
        return found == rows.end() ? Verdict::NotComparable : found->verdict;
    }

    QString differing() const
    {
        QString out;
        for (const EvidenceRow& row : rows) {
            if (row.verdict == Verdict::Differs)
                out += QString::fromStdString(row.id) + " ";
        }
        return out;
    }
};

Outcomes probe(const Plan& plan, Device& device)
{
    Outcomes out;
    out.setup = *setUpRun(plan, 1);
    out.prediction = *predict(out.setup, {});
    out.live = *runLive(out.setup, device, out.prediction.peakStep(), false, {});
    const Plan scaled = planForEvidence(plan, out.setup);
    out.rows = reconcile(*estimate(scaled), out.setup, out.prediction, &out.live);
    return out;
}

} // namespace

class tst_Verdicts : public QObject
{
    Q_OBJECT

private slots:
    void honestRunAgrees_data();
    void honestRunAgrees();
    void sabotageTurnsVerdicts_data();
    void sabotageTurnsVerdicts();
    void foreignTableEntryTurnsVerdicts();
    void poolOnePageShortTurnsVerdict();
    void sharingChangesHitsKeysAndBytes();
    void preemptionsGetNoVerdict();
    void whatDidNotHappenGetsNoVerdict();
};

void tst_Verdicts::honestRunAgrees_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("value");
    QTest::newRow("as it is") << ""
                              << "";
    QTest::newRow("tight pool: preemptions") << "budget.kvBytesPerRank"
                                             << "1200KiB";
    QTest::newRow("no prefix cache") << "reuse.prefixCaching"
                                     << "off";
    QTest::newRow("wait") << "admission.whenExhausted"
                          << "wait";
    QTest::newRow("reject") << "admission.whenExhausted"
                            << "reject";
    QTest::newRow("whole output reserved") << "admission.reservation"
                                           << "full_output";
    QTest::newRow("8-bit elements") << "cache.elementType"
                                    << "fp8_e4m3";
    QTest::newRow("two ranks") << "deployment.tp"
                               << "2";
    QTest::newRow("one at a time") << "engine.maxSequences"
                                   << "1";
    QTest::newRow("blocks of 32") << "engine.blockTokens"
                                  << "32";
    QTest::newRow("no engine") << "engine.name"
                               << "none";
}

void tst_Verdicts::honestRunAgrees()
{
    QFETCH(QString, path);
    QFETCH(QString, value);
    Plan plan = test::smallPlan();
    if (!path.isEmpty())
        plan = test::with(plan, {{path.toStdString(), value.toStdString()}});
    HostDevice device;
    const Outcomes outcomes = probe(plan, device);
    QVERIFY(outcomes.live.status.ok());
    QCOMPARE(outcomes.differing(), QString());
    QCOMPARE_EQ(outcomes.verdict("pool_bytes"), Verdict::Agrees);
    QCOMPARE_EQ(outcomes.verdict("appended_bytes"), Verdict::Agrees);
    QCOMPARE_EQ(outcomes.verdict("content_mismatches"), Verdict::Agrees);
    QCOMPARE_EQ(outcomes.verdict("entries_read_back"), Verdict::Agrees);
    // Without a prefix cache there are no hits to put to the test.
    QCOMPARE_EQ(
        outcomes.verdict("hit_tokens.acme"), path == "reuse.prefixCaching" ? Verdict::NotTested : Verdict::Agrees);
    QVERIFY(outcomes.prediction.readBackEntries > 0);
    const auto counts = outcomes.prediction.outcomes();
    QCOMPARE(counts[0] + counts[1] + counts[2] + counts[3] + counts[4], 40);
    if (path == "budget.kvBytesPerRank")
        QVERIFY(outcomes.prediction.preemptions > 0); // or the row would show nothing
}

void tst_Verdicts::sabotageTurnsVerdicts_data()
{
    QTest::addColumn<Sabotage::Kind>("kind");
    QTest::addColumn<QStringList>("turned");
    QTest::newRow("wrong slot") << Sabotage::Kind::WrongSlot << QStringList {"content_mismatches"};
    QTest::newRow("appended twice") << Sabotage::Kind::AppendTwice << QStringList {"appended_bytes"};
    QTest::newRow("another domain") << Sabotage::Kind::ForeignDomain
                                    << QStringList {"content_mismatches", "cross_domain_entries"};
    QTest::newRow("skipped") << Sabotage::Kind::SkippedAppend << QStringList {"content_mismatches", "appended_bytes"};
}

void tst_Verdicts::sabotageTurnsVerdicts()
{
    QFETCH(Sabotage::Kind, kind);
    QFETCH(QStringList, turned);
    // Room to spare: the last block stays unused, so that a second copy there hits nobody.
    const Plan plan = test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "32MiB"}});
    HostDevice host;
    Sabotage sabotage;
    sabotage.kind = kind;
    sabotage.afterSpans = 5;
    sabotage.otherDomain = 7;
    sabotage.otherBlock = static_cast<std::uint32_t>(setUpRun(plan, 1)->layout.pools[0].blocks.value - 1);
    SabotageDevice device(host, sabotage);
    const Outcomes outcomes = probe(plan, device);
    QVERIFY(device.hit().has_value());
    for (const QString& id : turned)
        QVERIFY2(outcomes.verdict(id.toStdString()) == Verdict::Differs,
            qPrintable(id + "; differs: " + outcomes.differing()));
}

void tst_Verdicts::foreignTableEntryTurnsVerdicts()
{
    HostDevice host;
    ForeignTableEntry device(host);
    const Outcomes outcomes = probe(test::smallPlan(), device);
    QVERIFY(device.done());
    QCOMPARE_EQ(outcomes.verdict("content_mismatches"), Verdict::Differs);
    QCOMPARE_EQ(outcomes.verdict("cross_domain_entries"), Verdict::Differs);
}

void tst_Verdicts::poolOnePageShortTurnsVerdict()
{
    HostDeviceOptions options;
    options.unmappedTailBytes = 4096;
    HostDevice device(options);
    const Plan plan = test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "32MiB"}});
    const Outcomes outcomes = probe(plan, device);
    QVERIFY(outcomes.live.status.ok());
    QCOMPARE_EQ(outcomes.verdict("pool_bytes"), Verdict::Differs);
}

void tst_Verdicts::sharingChangesHitsKeysAndBytes()
{
    const Plan apart = test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "32MiB"}});
    const Plan together = test::with(apart, {{"tenants.birch.sharingGroup", "group-1"}});
    HostDevice first;
    HostDevice second;
    const Outcomes a = probe(apart, first);
    const Outcomes b = probe(together, second);
    QCOMPARE(a.differing() + b.differing(), QString());
    // Predicted hits and blocks.
    QVERIFY(b.prediction.tenants[1].hitTokens > a.prediction.tenants[1].hitTokens);
    QVERIFY(b.prediction.finalCached < a.prediction.finalCached);
    // The keys in use, and what the pool holds: one domain's content instead of two.
    QVERIFY(a.setup.domains[0].key != a.setup.domains[1].key);
    QCOMPARE(b.setup.domains[0].key, b.setup.domains[1].key);
    QCOMPARE(a.live.readings.last->domains.size(), std::size_t {2});
    QCOMPARE(b.live.readings.last->domains.size(), std::size_t {1});
    // The bytes that were written, and read back through tables that now share blocks.
    QVERIFY(b.live.readings.counts.nonPoisonBytes < a.live.readings.counts.nonPoisonBytes);
    QCOMPARE(b.live.readings.verified.mismatched, 0);
    QCOMPARE(a.live.readings.verified.bytesRead, b.live.readings.verified.bytesRead);
}

void tst_Verdicts::preemptionsGetNoVerdict()
{
    HostDevice device;
    const Outcomes outcomes = probe(test::smallPlan(), device);
    QCOMPARE_EQ(outcomes.verdict("preemptions"), Verdict::SameCounter);
    QCOMPARE_EQ(outcomes.verdict("append_rate"), Verdict::NotComparable);
    for (const EvidenceRow& row : outcomes.rows) {
        QVERIFY2(!row.instrument.empty(), row.id.c_str());
        QVERIFY2(row.verdict == Verdict::NotComparable || row.verdict == Verdict::SameCounter
                || !row.toleranceReason.empty(),
            row.id.c_str());
    }
}

/// A pool in which everything fits evicts nothing and computes nothing twice: zero against zero is no agreement.
void tst_Verdicts::whatDidNotHappenGetsNoVerdict()
{
    const Plan roomy = test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "64MiB"}, {"workload.requests", "4"}});
    HostDevice device;
    const Outcomes outcomes = probe(roomy, device);
    for (const char* id : {"evictions", "recomputed_tokens"}) {
        const auto row = std::find_if(
            outcomes.rows.begin(), outcomes.rows.end(), [&](const EvidenceRow& one) { return one.id == id; });
        QVERIFY2(row != outcomes.rows.end(), id);
        QCOMPARE(toDouble(row->measured.value()), 0.0);
        QCOMPARE_EQ(row->verdict, Verdict::NotTested);
        QVERIFY(!row->reason.empty());
    }
    const VerdictCounts counts = countVerdicts(outcomes.rows);
    QVERIFY(counts.notTested >= 2);
    QCOMPARE(counts.judged() + counts.withoutVerdict(), static_cast<std::int64_t>(outcomes.rows.size()));
    // Stored and read back it is the same; people read it with its sign.
    const std::vector<EvidenceRow> back = rowsOf(summaries(outcomes.rows, "run1"));
    QCOMPARE(countVerdicts(back).notTested, counts.notTested);
    QCOMPARE(verdictText("not put to the test"), std::string("– no verdict: not put to the test"));
    QCOMPARE(verdictText("agrees"), std::string("✓ agrees"));
}

QTEST_GUILESS_MAIN(tst_Verdicts)
#include "tst_verdicts.moc"
