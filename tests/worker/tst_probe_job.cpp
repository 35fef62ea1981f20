// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_log.h"
#include "device/host_device.h"
#include "support/example_plans.h"
#include "worker/probe_job.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>

using namespace kvw;

namespace {

/// Keeps everything it is told, as a line of text each, and cancels at a step or at a phase.
class Diary final : public ProbeSink
{
public:
    std::int64_t cancelAtStep = -1; ///< after this many steps
    std::string cancelIn; ///< from the begin of this phase on
    std::vector<std::string> lines;
    std::vector<StepSample> samples;
    std::vector<Event> all;
    std::vector<BlockKey> keys;
    std::optional<PoolReservation> reservation;
    std::vector<EvidenceRow> rows;

    bool cancelled() override
    {
        return m_in || (cancelAtStep >= 0 && static_cast<std::int64_t>(samples.size()) >= cancelAtStep);
    }
    void phaseBegan(ProbePhase phase) override
    {
        lines.push_back("begin " + std::string(phaseName(phase)));
        m_in = m_in || phaseName(phase) == cancelIn;
    }
    void phaseEnded(ProbePhase phase) override { lines.push_back("end " + std::string(phaseName(phase))); }
    void willReserve(const PoolReservation& told) override
    {
        reservation = told;
        lines.emplace_back("will reserve");
    }
    void ceilings(const MemoryCeilings&) override { lines.emplace_back("ceilings"); }
    void reserved(const MemoryReading&) override { lines.emplace_back("reserved"); }
    void logBegan(const EventLogHeader&) override { lines.emplace_back("log"); }
    void digests(std::span<const BlockKey> told) override { keys.insert(keys.end(), told.begin(), told.end()); }
    void events(std::span<const Event> told) override
    {
        for (const Event& event : told)
            m_orderly = m_orderly && (event.kind != EventKind::Index || event.value < keys.size());
        all.insert(all.end(), told.begin(), told.end());
    }
    void step(const StepSample& sample) override
    {
        samples.push_back(sample);
        // What a step did is told before its sample.
        m_orderly = m_orderly && !all.empty() && all.back().step == sample.step;
    }
    void evidence(const std::vector<EvidenceRow>& told) override
    {
        rows = told;
        lines.emplace_back("evidence");
    }
    bool orderly() const { return m_orderly; }

private:
    bool m_in = false;
    bool m_orderly = true;
};

ProbeOptions options(bool ceilings = false)
{
    ProbeOptions out;
    out.ceilings = ceilings;
    return out;
}

Result<Probe> probe(Diary& diary, const ProbeOptions& how = options(), const DeviceSource& devices = HostDevices())
{
    return runProbeJob(test::smallPlan(), how, devices, diary);
}

const EvidenceRow& row(const std::vector<EvidenceRow>& rows, const std::string& id)
{
    return *std::find_if(rows.begin(), rows.end(), [&](const EvidenceRow& one) { return one.id == id; });
}

/// The host, short of a page: the run fails where a block reaches into it.
class ShortHost final : public DeviceSource
{
public:
    std::vector<OfferedDevice> list() const override { return HostDevices().list(); }
    Result<std::unique_ptr<Device>> open(const std::string&) const override
    {
        HostDeviceOptions broken;
        broken.unmappedTailBytes = 4096;
        return std::unique_ptr<Device>(std::make_unique<HostDevice>(broken));
    }
};

} // namespace

class ProbeJobTest : public QObject
{
    Q_OBJECT
private slots:
    void tellsItsStory();
    void tellsTheLogAsTheFileHasIt();
    void cancelsBetweenSteps_data();
    void cancelsBetweenSteps();
    void cancelsBeforeTheFirstStep_data();
    void cancelsBeforeTheFirstStep();
    void cancellingAfterTheEndIsNone();
    void cancelledRowsHaveNoFalseVerdict();
    void refusesTheUnknownDevice();
    void failsWithWhatThereIs();
    void sameResultEveryTime();
};

void ProbeJobTest::tellsItsStory()
{
    Diary diary;
    const Result<Probe> done = probe(diary, options(true));
    QVERIFY2(done.ok(), done ? "" : done.error().text().c_str());
    QCOMPARE(diary.lines,
        (std::vector<std::string> {"begin setup", "end setup", "begin ceilings", "ceilings", "end ceilings",
            "will reserve", "begin reserve", "reserved", "end reserve", "begin steps", "log", "end steps",
            "begin count", "end count", "begin release", "end release", "begin evidence", "evidence", "end evidence"}));
    QVERIFY(diary.orderly());
    QVERIFY(done->live.status.ok() && done->live.record.complete);
    QCOMPARE(diary.samples.size(), done->live.record.samples.size());
    QCOMPARE(diary.rows.size(), done->rows.size());
    QCOMPARE(countVerdicts(done->rows).differs, std::int64_t(0));
    QCOMPARE(diary.reservation->bytes, done->setup.layout.totalBytes()->value);
    QCOMPARE(diary.reservation->predictedSteps, done->prediction.steps);
    QCOMPARE(diary.reservation->plannedBytes, done->setup.plannedPoolBytes);
    QVERIFY(diary.reservation->device.limitBytes >= diary.reservation->bytes);
    QVERIFY(diary.reservation->device.info.availableBytes >= diary.reservation->device.limitBytes);
}

void ProbeJobTest::tellsTheLogAsTheFileHasIt()
{
    const QTemporaryDir folder;
    ProbeOptions how = options();
    how.eventsFile = folder.filePath("log.kvev").toStdString();
    how.recordFile = folder.filePath("run.jsonl").toStdString();
    Diary diary;
    const Result<Probe> done = probe(diary, how);
    QVERIFY(done.ok());
    QCOMPARE(done->record, how.recordFile);
    QVERIFY(std::filesystem::file_size(how.recordFile) > 1000);
    const Result<std::unique_ptr<EventLog>> log = EventLog::open(how.eventsFile);
    QVERIFY(log.ok());
    QVERIFY((*log)->complete());
    QVERIFY((*log)->events() == diary.all);
    QVERIFY((*log)->digests() == diary.keys);
}

void ProbeJobTest::cancelsBetweenSteps_data()
{
    QTest::addColumn<int>("steps");
    for (const int steps : {1, 2, 7, 30})
        QTest::addRow("%d", steps) << steps;
}

void ProbeJobTest::cancelsBetweenSteps()
{
    QFETCH(const int, steps);
    Diary diary;
    diary.cancelAtStep = steps;
    const Result<Probe> done = probe(diary);
    QVERIFY(done.ok());
    QCOMPARE(diary.samples.size(), static_cast<std::size_t>(steps));
    QCOMPARE(done->live.status.error().code, std::string("run.cancelled"));
    QVERIFY(!done->live.record.complete);
    QCOMPARE(done->live.record.steps, diary.samples.back().step);
    QCOMPARE(diary.lines.back(), std::string("end evidence"));
    QVERIFY(done->live.readings.last.has_value());
    // The events are the beginning of those of a whole run.
    Diary whole;
    QVERIFY(probe(whole).ok());
    QVERIFY(diary.all.size() < whole.all.size());
    QVERIFY(std::equal(diary.all.begin(), diary.all.end(), whole.all.begin()));
}

void ProbeJobTest::cancelsBeforeTheFirstStep_data()
{
    QTest::addColumn<QByteArray>("phase");
    QTest::newRow("setup") << QByteArray("setup");
    QTest::newRow("ceilings") << QByteArray("ceilings");
    QTest::newRow("reserve") << QByteArray("reserve");
}

void ProbeJobTest::cancelsBeforeTheFirstStep()
{
    QFETCH(const QByteArray, phase);
    const QTemporaryDir folder;
    ProbeOptions how = options(phase == "ceilings");
    how.eventsFile = folder.filePath("log.kvev").toStdString();
    Diary diary;
    diary.cancelIn = phase.toStdString();
    const Result<Probe> done = probe(diary, how);
    QCOMPARE(done.error().code, std::string("run.cancelled"));
    QVERIFY(done.error().message.find(diary.cancelIn) != std::string::npos);
    QVERIFY(diary.samples.empty() && diary.all.empty() && diary.rows.empty());
    // The setup comes before the run; from there on its files are there, and say that nothing happened.
    QCOMPARE(std::filesystem::exists(how.eventsFile), phase != "setup");
    if (phase != "setup") {
        const Result<std::unique_ptr<EventLog>> log = EventLog::open(how.eventsFile);
        QVERIFY2(log.ok(), log ? "" : log.error().text().c_str());
        QVERIFY((*log)->events().empty());
    }
}

void ProbeJobTest::cancellingAfterTheEndIsNone()
{
    Diary whole;
    QVERIFY(probe(whole).ok());
    Diary late;
    late.cancelAtStep = static_cast<std::int64_t>(whole.samples.size());
    const Result<Probe> done = probe(late);
    QVERIFY(done.ok());
    QVERIFY(done->live.status.ok() && done->live.record.complete);
    QCOMPARE(countVerdicts(done->rows).agrees, countVerdicts(whole.rows).agrees);
}

void ProbeJobTest::cancelledRowsHaveNoFalseVerdict()
{
    Diary whole;
    QVERIFY(probe(whole).ok());
    Diary diary;
    diary.cancelAtStep = 3;
    const Result<Probe> done = probe(diary);
    QVERIFY(done.ok());
    QCOMPARE(done->rows.size(), whole.rows.size());
    QCOMPARE(countVerdicts(done->rows).differs, std::int64_t(0));
    QCOMPARE(row(done->rows, "pool_bytes").verdict, Verdict::Agrees);
    const EvidenceRow& appended = row(done->rows, "appended_bytes");
    QCOMPARE(appended.verdict, Verdict::NotComparable);
    QVERIFY(appended.measured.has_value() && toDouble(*appended.measured) > 0);
    QVERIFY(appended.reason.find("cancelled after step") != std::string::npos);
    QCOMPARE(row(done->rows, "content_mismatches").verdict, Verdict::NotComparable);
    QCOMPARE(row(done->rows, "preemptions").verdict, Verdict::SameCounter);
}

void ProbeJobTest::refusesTheUnknownDevice()
{
    ProbeOptions how = options();
    how.device = "cuda:0";
    Diary diary;
    QCOMPARE(probe(diary, how).error().code, std::string("device.unknown"));
}

void ProbeJobTest::failsWithWhatThereIs()
{
    Diary diary;
    const Result<Probe> done = probe(diary, options(), ShortHost());
    QVERIFY2(done.ok(), done ? "" : done.error().text().c_str());
    QCOMPARE(done->live.status.error().code, std::string("device.range"));
    QCOMPARE(diary.lines.back(), std::string("end evidence"));
    QVERIFY(!diary.all.empty());
}

void ProbeJobTest::sameResultEveryTime()
{
    Diary first;
    Diary second;
    const Result<Probe> a = probe(first);
    const Result<Probe> b = probe(second);
    QVERIFY(a.ok() && b.ok());
    QVERIFY(first.all == second.all);
    for (std::size_t i = 0; i < a->rows.size(); ++i) {
        QCOMPARE(a->rows[i].id, b->rows[i].id);
        QCOMPARE(a->rows[i].verdict, b->rows[i].verdict);
        if (a->rows[i].unit != Unit::BytesPerSecond)
            QVERIFY(a->rows[i].measured == b->rows[i].measured);
    }
}

QTEST_GUILESS_MAIN(ProbeJobTest)
#include "tst_probe_job.moc"
