// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_log.h"
#include "evidence/reconcile.h"
#include "report/json_output.h"
#include "support/example_plans.h"
#include "worker/probe_job.h"
#include "worker/probe_outcome.h"
#include "worker/run_spool.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

using namespace kvw;
using namespace kvw::worker;

namespace {

/// Keeps a probe's log as the messages that a worker would send.
class Messages final : public ProbeSink
{
public:
    void logBegan(const EventLogHeader& log) override { header.text = headerToJson(log); }
    void digests(std::span<const BlockKey> keys) override
    {
        Digests out {1, digestCount, {keys.begin(), keys.end()}};
        digestCount += keys.size();
        parts.emplace_back(std::move(out));
    }
    void events(std::span<const Event> news) override
    {
        Events out {1, eventCount, {news.begin(), news.end()}};
        eventCount += news.size();
        parts.emplace_back(std::move(out));
    }

    LogHeader header {};
    std::vector<std::variant<Digests, Events>> parts {};
    std::uint64_t digestCount = 0;
    std::uint64_t eventCount = 0;
};

std::string codeOf(const Result<void>& result)
{
    return result ? "" : result.error().code;
}

} // namespace

class RunSpoolTest : public QObject
{
    Q_OBJECT
private slots:
    void initTestCase();
    void readableAfterEveryMessage();
    void refusesWhatDoesNotContinue();
    void samplesAndEnd();
    void noFolder();
    void outcome();
    void outcomeOfACancelledRun();
    void outcomeIsChecked();
    void setUpAsTheJob();
    void expectedRowsAreThoseOfTheRun();
    void storedRows();

private:
    std::unique_ptr<RunSpool> spool(const QTemporaryDir& folder)
    {
        Result<std::unique_ptr<RunSpool>> out
            = RunSpool::create(folder.path().toStdString(), RunRecord {}, m_probe->setup);
        return out ? std::move(*out) : nullptr;
    }

    Messages m_messages {};
    std::optional<Probe> m_probe {};
};

void RunSpoolTest::initTestCase()
{
    ProbeOptions options;
    options.ceilings = false;
    Result<Probe> probe = runProbeJob(test::smallPlan(), options, HostDevices(), m_messages);
    QVERIFY(probe.ok());
    m_probe = std::move(*probe);
    QVERIFY(m_messages.parts.size() > 100);
}

void RunSpoolTest::readableAfterEveryMessage()
{
    const QTemporaryDir folder;
    const std::unique_ptr<RunSpool> spool = this->spool(folder);
    QVERIFY(spool);
    QVERIFY(!spool->hasLog());
    QVERIFY(spool->take(m_messages.header).ok());
    std::size_t taken = 0;
    for (const auto& part : m_messages.parts) {
        QVERIFY(std::visit([&](const auto& message) { return spool->take(message).ok(); }, part));
        if (++taken % 50 != 0)
            continue;
        const auto log = EventLog::open(spool->files().events);
        QVERIFY2(log.ok(), log ? "" : log.error().text().c_str());
        QCOMPARE((*log)->events().size(), static_cast<std::size_t>(spool->events()));
        QVERIFY(!(*log)->complete());
    }
    QVERIFY(spool->finish(m_probe->live.record).ok());
    const auto log = EventLog::open(spool->files().events);
    QVERIFY(log.ok() && (*log)->complete());
    QCOMPARE((*log)->events().size(), static_cast<std::size_t>(m_messages.eventCount));
    QCOMPARE((*log)->digests().size(), static_cast<std::size_t>(m_messages.digestCount));
}

void RunSpoolTest::refusesWhatDoesNotContinue()
{
    const QTemporaryDir folder;
    const std::unique_ptr<RunSpool> spool = this->spool(folder);
    const Events events {1, 0, {Event {}}};
    QCOMPARE(codeOf(spool->take(events)), std::string("protocol.order"));
    QCOMPARE(codeOf(spool->take(Digests {1, 0, {{}}})), std::string("protocol.order"));
    QVERIFY(!spool->take(LogHeader {1, "{}"}).ok());
    QVERIFY(spool->take(m_messages.header).ok());
    QCOMPARE(codeOf(spool->take(m_messages.header)), std::string("protocol.order"));
    QCOMPARE(codeOf(spool->take(Events {1, 1, {Event {}}})), std::string("protocol.order"));
    QCOMPARE(codeOf(spool->take(Digests {1, 1, {{}}})), std::string("protocol.order"));
    Event index;
    index.kind = EventKind::Index;
    index.value = 0;
    QCOMPARE(codeOf(spool->take(Events {1, 0, {index}})), std::string("protocol.order"));
    QVERIFY(spool->take(Digests {1, 0, {{}}}).ok());
    QVERIFY(spool->take(Events {1, 0, {index}}).ok());
    QCOMPARE(spool->events(), std::uint64_t(1));
    QVERIFY(spool->take(Events {1, 1, {}}).ok());
}

void RunSpoolTest::samplesAndEnd()
{
    const QTemporaryDir folder;
    const std::unique_ptr<RunSpool> spool = this->spool(folder);
    QVERIFY(spool->take(Samples {1, m_probe->live.record.samples}).ok());
    QVERIFY(spool->takeResult("{}").ok());
    QVERIFY(spool->finish(m_probe->live.record).ok()); // a run without a log
    QFile file(QString::fromStdString(spool->files().record));
    QVERIFY(file.open(QIODevice::ReadOnly));
    std::map<std::string, std::size_t> types;
    while (!file.atEnd())
        ++types[nlohmann::json::parse(file.readLine().toStdString()).at("type").get<std::string>()];
    QCOMPARE(types["run"], std::size_t(1));
    QCOMPARE(types["step"], m_probe->live.record.samples.size());
    QCOMPARE(types["request"], m_probe->live.record.requests.size());
    QCOMPARE(types["end"], std::size_t(1));
}

void RunSpoolTest::noFolder()
{
    const auto spool = RunSpool::create("/nowhere/at/all", RunRecord {}, m_probe->setup);
    QVERIFY(!spool.ok());
    QCOMPARE(spool.error().code, std::string("io.open"));
}

void RunSpoolTest::outcome()
{
    const Result<ProbeOutcome> read = probeOutcomeFromJson(probeResultJson(*m_probe).dump(), "result");
    QVERIFY2(read.ok(), read ? "" : read.error().text().c_str());
    const RunRecord& mine = m_probe->live.record;
    const RunRecord& back = read->live;
    QVERIFY(back.complete && !read->stopped && !read->samplesLeftOut);
    QCOMPARE(back.planHash, m_probe->setup.planHash);
    QCOMPARE(back.workloadHash, mine.workloadHash);
    QCOMPARE(back.poolFraction, m_probe->setup.poolFraction);
    QCOMPARE(read->device.id, std::string("host"));
    QCOMPARE(read->device.totalBytes, m_probe->live.readings.device.totalBytes);
    QVERIFY(back.outcomes() == mine.outcomes());
    QVERIFY(std::tie(back.steps, back.evictions, back.preemptions, back.computedTokens, back.appendedBytes)
        == std::tie(mine.steps, mine.evictions, mine.preemptions, mine.computedTokens, mine.appendedBytes));
    QCOMPARE(back.requests.size(), mine.requests.size());
    for (std::size_t i = 0; i < mine.requests.size(); ++i) {
        const RequestRecord& a = back.requests[i];
        const RequestRecord& b = mine.requests[i];
        QVERIFY(std::tie(a.id, a.tenant, a.outcome, a.promptTokens, a.outputTokens, a.arrivalStep, a.admitStep,
                    a.firstTokenStep, a.endStep, a.hitTokens, a.neverComputed, a.mostBlocks, a.missCause, a.warm)
            == std::tie(b.id, b.tenant, b.outcome, b.promptTokens, b.outputTokens, b.arrivalStep, b.admitStep,
                b.firstTokenStep, b.endStep, b.hitTokens, b.neverComputed, b.mostBlocks, b.missCause, b.warm));
    }
}

void RunSpoolTest::outcomeOfACancelledRun()
{
    Probe probe = *m_probe;
    probe.live.record.complete = false;
    probe.live.status = Error {"run.cancelled", "cancelled after step 3 of 9 predicted", {"f", "a"}, "x", "y"};
    const Result<ProbeOutcome> read = probeOutcomeFromJson(probeResultJson(probe).dump(), "result");
    QVERIFY(read.ok());
    QVERIFY(!read->live.complete);
    QCOMPARE(read->stopped->text(), probe.live.status.error().text());
    QCOMPARE(read->stopped->code, std::string("run.cancelled"));
}

void RunSpoolTest::outcomeIsChecked()
{
    QCOMPARE(probeOutcomeFromJson("not JSON", "result").error().code, std::string("json.syntax"));
    QVERIFY(!probeOutcomeFromJson("{}", "result").ok());
    nlohmann::ordered_json json = probeResultJson(*m_probe);
    json["live"]["requests"][0]["outcome"] = "vanished";
    const Result<ProbeOutcome> read = probeOutcomeFromJson(json.dump(), "result");
    QVERIFY(!read.ok());
    QCOMPARE(read.error().where.at, std::string("/live/requests/0/outcome"));
}

void RunSpoolTest::setUpAsTheJob()
{
    Plan plan = test::smallPlan();
    ProbeOptions options;
    options.maximumBytes = 1 << 20;
    const Result<RunSetup> setup = setUpProbe(plan, options);
    QVERIFY(setup.ok());
    QVERIFY(setup->layout.totalBytes()->value <= 1 << 20);
    options.fraction = 0.5;
    QCOMPARE(setUpProbe(plan, options)->poolFraction, 0.5);
    options.fraction.reset();
    options.maximumBytes = 1;
    QCOMPARE(setUpProbe(plan, options).error().code, std::string("run.too_small"));
}

void RunSpoolTest::expectedRowsAreThoseOfTheRun()
{
    const auto rows = expectedRows(m_probe->plan, m_probe->setup, m_probe->prediction);
    QVERIFY(rows.ok());
    QCOMPARE(rows->size(), m_probe->rows.size());
    for (std::size_t i = 0; i < rows->size(); ++i) {
        QCOMPARE((*rows)[i].id, m_probe->rows[i].id);
        QVERIFY((*rows)[i].predicted == m_probe->rows[i].predicted);
        QVERIFY((*rows)[i].estimated == m_probe->rows[i].estimated);
        QVERIFY(!(*rows)[i].measured);
        QVERIFY((*rows)[i].verdict != Verdict::Agrees && (*rows)[i].verdict != Verdict::Differs);
    }
}

void RunSpoolTest::storedRows()
{
    const std::vector<EvidenceRow> back = rowsOf(summaries(m_probe->rows, "run7"));
    QCOMPARE(back.size(), m_probe->rows.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
        const EvidenceRow& row = m_probe->rows[i];
        QCOMPARE(back[i].title, row.title);
        QVERIFY(back[i].unit == row.unit);
        QVERIFY(back[i].verdict == row.verdict);
        if (row.unit != Unit::BytesPerSecond) { // counts come back as whole numbers
            QVERIFY(back[i].measured == row.measured);
            QVERIFY(back[i].predicted == row.predicted);
            QVERIFY(back[i].estimated == row.estimated);
        }
    }
}

QTEST_GUILESS_MAIN(RunSpoolTest)
#include "tst_run_spool.moc"
