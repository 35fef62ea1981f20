// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "cache/event_log.h"
#include "evidence/runs.h"
#include "serving/explain_record.h"
#include "support/example_plans.h"

#include <QTest>

#include <map>

using namespace kvw;

/// Figures of a crowded prediction, against counts of its event log that the test makes itself.
class ExplainRecordTest : public QObject
{
    Q_OBJECT

private slots:
    void initTestCase();
    void countsAreTheEvents();
    void everyRequest();
    void sumsAndShares();
    void latencies();
    void unknownPaths();

private:
    std::optional<Explanation> at(const std::string& path) const { return explainRecord(m_setup, m_record, path); }
    std::int64_t valueAt(const std::string& path) const;
    std::int64_t events(EventKind kind) const;

    RunSetup m_setup;
    RunRecord m_record;
    std::unique_ptr<EventLog> m_log;
};

void ExplainRecordTest::initTestCase()
{
    const Plan plan = test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "1MiB"}, {"engine.maxSequences", "12"}});
    Result<RunSetup> setup = setUpStatedRun(plan, 1);
    QVERIFY(setup.ok());
    m_setup = *setup;
    Result<RunRecord> record = predict(m_setup, {}, &m_log);
    QVERIFY(record.ok());
    m_record = *record;
    QVERIFY(m_record.preemptions > 0);
    QVERIFY(m_record.evictions > 0);
}

std::int64_t ExplainRecordTest::valueAt(const std::string& path) const
{
    const std::optional<Explanation> found = at(path);
    if (!found || !found->quantity || !found->quantity->ok())
        return INT64_MIN;
    return found->quantity->integer();
}

std::int64_t ExplainRecordTest::events(EventKind kind) const
{
    const auto all = m_log->events();
    return std::count_if(all.begin(), all.end(), [&](const Event& event) { return event.kind == kind; });
}

void ExplainRecordTest::countsAreTheEvents()
{
    QCOMPARE(valueAt("steps"), events(EventKind::Step));
    QCOMPARE(valueAt("preemptions"), events(EventKind::Preempt));
    QCOMPARE(valueAt("evictions"), events(EventKind::Evict));
    QCOMPARE(valueAt("outcomes.completed"), events(EventKind::Complete));
    QCOMPARE(valueAt("offered"), events(EventKind::Arrive));
    QCOMPARE(valueAt("refused"), events(EventKind::Reject) + events(EventKind::Fail));
    QCOMPARE(valueAt("final.held"), events(EventKind::Hold));
    std::int64_t served = 0;
    for (const Event& event : m_log->events())
        served += event.kind == EventKind::Admit ? event.value : 0;
    QCOMPARE(valueAt("hitTokens"), served);
    const Explanation preemptions = *at("preemptions");
    QVERIFY(preemptions.kind == Explanation::Kind::Prediction);
    QVERIFY(preemptions.of.find(m_setup.planHash.substr(0, 8)) != std::string::npos);
    std::map<std::string, std::string> facts(preemptions.facts.begin(), preemptions.facts.end());
    QVERIFY(facts["Counted from"].find("Preempt events") != std::string::npos);
    QCOMPARE(facts["Rules"], m_setup.behaviour.rule);
    QVERIFY(facts["When"].find(std::to_string(m_record.steps - 1)) != std::string::npos);
}

void ExplainRecordTest::everyRequest()
{
    for (std::size_t i = 0; i < m_record.requests.size(); ++i) {
        const std::string base = "requests." + std::to_string(i) + ".";
        std::int64_t preempted = 0;
        std::int64_t served = 0;
        std::int64_t prompt = -1;
        std::int64_t ends = -1;
        for (const Event& event : m_log->events()) {
            if (event.request != i)
                continue;
            preempted += event.kind == EventKind::Preempt ? 1 : 0;
            served += event.kind == EventKind::Admit ? event.value : 0;
            if (event.kind == EventKind::Arrive)
                prompt = event.value;
            if (event.kind == EventKind::Complete)
                ends = event.step;
        }
        QCOMPARE(valueAt(base + "preemptions"), preempted);
        QCOMPARE(valueAt(base + "hitTokens"), served);
        QCOMPARE(valueAt(base + "promptTokens"), prompt);
        QCOMPARE(valueAt(base + "endStep"), ends);
    }
}

void ExplainRecordTest::sumsAndShares()
{
    // Total over tenants, each over its requests: what the tree shows adds up, node by node.
    const Explanation hits = *at("hitTokens");
    QVERIFY(hits.quantity->derivation()->operation == Operation::Add);
    QCOMPARE(hits.quantity->derivation()->operands.size(), m_record.tenants.size());
    std::int64_t sum = 0;
    for (const TenantRecord& tenant : m_record.tenants) {
        sum += valueAt("tenants." + tenant.id + ".hitTokens");
        std::int64_t misses = 0;
        for (std::size_t i = 0; i < missCauseCount; ++i)
            misses += valueAt("tenants." + tenant.id + ".missCauses." + missCauseName(static_cast<MissCause>(i)));
        std::int64_t admitted = 0;
        for (const RequestRecord& request : m_record.requests)
            admitted += request.admitStep >= 0 && m_record.tenants[request.tenant].id == tenant.id ? 1 : 0;
        QCOMPARE(misses, admitted);
    }
    QCOMPARE(sum, valueAt("hitTokens"));
    const Result<Number> again = evaluate(hits.quantity->derivation());
    QVERIFY(again.ok());
    QCOMPARE(std::get<std::int64_t>(*again), sum);
    const Explanation share = *at("hitShare");
    QVERIFY(!share.quantity->isInteger());
    QCOMPARE(share.quantity->real(),
        static_cast<double>(valueAt("hitTokens")) / static_cast<double>(valueAt("promptTokens")));
}

void ExplainRecordTest::latencies()
{
    for (const bool warm : {false, true}) {
        const std::string base = warm ? "warm." : "cold.";
        std::vector<std::int64_t> steps;
        for (const RequestRecord& request : m_record.requests) {
            if (request.outcome == Outcome::Completed && request.warm == warm)
                steps.push_back(request.endStep - request.arrivalStep);
        }
        QVERIFY(!steps.empty());
        std::sort(steps.begin(), steps.end());
        QCOMPARE(valueAt(base + "endToEndSteps.max"), steps.back());
        QCOMPARE(valueAt(base + "endToEndSteps.median"), steps[(steps.size() + 1) / 2 - 1]);
        QCOMPARE(valueAt(base + "endToEndSteps.count"), static_cast<std::int64_t>(steps.size()));
        const Explanation most = *at(base + "endToEndSteps.max");
        QVERIFY(most.quantity->derivation()->operation == Operation::Subtract); // of the request that has it
        for (const char* kind : {"queueSteps", "firstTokenSteps", "perTokenSteps"})
            QVERIFY(valueAt(base + kind + ".p99") >= valueAt(base + kind + ".median"));
    }
}

void ExplainRecordTest::unknownPaths()
{
    for (const char* path :
        {"", "nothing", "requests.", "requests.x.promptTokens", "requests.99999.promptTokens", "requests.0.nothing",
            "tenants.nobody.hitTokens", "cold.nothing.max", "cold.queueSteps.p12", "outcomes.nothing", "final.nothing"})
        QVERIFY2(!at(path), path);
}

QTEST_GUILESS_MAIN(ExplainRecordTest)
#include "tst_explain_record.moc"
