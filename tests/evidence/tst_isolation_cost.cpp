// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "evidence/isolation_cost.h"
#include "evidence/runs.h"
#include "support/example_plans.h"

#include <QTest>

#include <set>

using namespace kvw;

class IsolationCostTest : public QObject
{
    Q_OBJECT

private slots:
    void plannedIsThePrediction();
    void policiesAreThoseThatOneWouldType();
    void isolationCosts();
    void samePolicyOnce();
    void stops();
    void refusedPlans();
};

void IsolationCostTest::plannedIsThePrediction()
{
    const Plan plan = test::smallPlan();
    const Result<IsolationCost> cost = isolationCost(plan, SharingPolicy::AsPlanned);
    QVERIFY(cost);
    const Result<RunSetup> setup = setUpStatedRun(plan, 1);
    std::unique_ptr<EventLog> log;
    const Result<RunRecord> record = predict(*setup, {}, &log);
    QVERIFY(record);
    // Counted from the events, which the record's counters do not make.
    std::int64_t hits = 0;
    std::int64_t active = 0;
    std::int64_t peak = 0;
    std::int64_t completed = 0;
    std::int64_t preemptions = 0;
    std::map<std::uint32_t, int> references;
    std::uint32_t step = 0;
    for (const Event& event : log->events()) {
        if (event.step != step) {
            peak = std::max(peak, active);
            step = event.step;
        }
        if (event.kind == EventKind::Admit)
            hits += event.value;
        completed += event.kind == EventKind::Complete ? 1 : 0;
        preemptions += event.kind == EventKind::Preempt ? 1 : 0;
        if (event.kind == EventKind::Allocate || event.kind == EventKind::Reference)
            active += references[event.block]++ == 0 ? 1 : 0;
        else if (event.kind == EventKind::Release || event.kind == EventKind::Drop)
            active -= --references[event.block] == 0 ? 1 : 0;
    }
    QCOMPARE(cost->hitTokens, hits);
    QCOMPARE(cost->completed, completed);
    QCOMPARE(cost->peakBlocks, std::max(peak, active));
    QCOMPARE(cost->offered, 40); // the workload's requests
    QCOMPARE(cost->domains, 2);
    QCOMPARE(cost->preemptions, preemptions);
    // A preempted request may be served the same token twice, so that hits and computed tokens overlap.
    QVERIFY(cost->computedPromptTokens <= cost->promptTokens);
    QVERIFY(cost->computedPromptTokens >= cost->promptTokens - cost->hitTokens);
    QVERIFY(cost->keys > 0);
}

void IsolationCostTest::policiesAreThoseThatOneWouldType()
{
    const Plan plan = test::smallPlan();
    const Plan together = test::with(plan, {{"tenants.acme.sharingGroup", "x"}, {"tenants.birch.sharingGroup", "x"}});
    const Plan alone
        = test::with(plan, {{"tenants.acme.eligibility", "tenant"}, {"tenants.birch.eligibility", "tenant"}});
    for (const auto& [policy, typed] :
        {std::pair {SharingPolicy::Together, together}, std::pair {SharingPolicy::Alone, alone}}) {
        Result<IsolationCost> cost = isolationCost(plan, policy);
        Result<IsolationCost> wanted = isolationCost(typed, SharingPolicy::AsPlanned);
        QVERIFY(cost && wanted);
        QCOMPARE(cost->policy, policy);
        wanted->policy = policy;
        QVERIFY(*cost == *wanted);
    }
}

void IsolationCostTest::isolationCosts()
{
    // Room for everything: what one domain computes once, every domain computes for itself.
    const Plan plan = test::with(test::smallPlan(), {{"budget.kvBytesPerRank", "64MiB"}});
    const Result<std::vector<IsolationCost>> costs = kvw::isolationCosts(plan);
    QVERIFY(costs);
    QCOMPARE(costs->size(), std::size_t {3});
    const IsolationCost& together = costs->at(0);
    const IsolationCost& planned = costs->at(1);
    const IsolationCost& alone = costs->at(2);
    QCOMPARE(together.domains, 1);
    QCOMPARE(planned.domains, 2);
    QCOMPARE(alone.domains, 2);
    QVERIFY(together.hitTokens > alone.hitTokens);
    QVERIFY(together.computedPromptTokens < alone.computedPromptTokens);
    QVERIFY(together.keys < alone.keys);
    for (const IsolationCost& cost : *costs) {
        QCOMPARE(cost.completed, 40);
        QCOMPARE(cost.hitTokens + cost.computedPromptTokens, cost.promptTokens);
        QCOMPARE(cost.promptTokens, alone.promptTokens);
    }
}

void IsolationCostTest::samePolicyOnce()
{
    // Two tenants that do not share are each alone: two predictions, not three.
    std::int64_t steps = 0;
    const Result<std::vector<IsolationCost>> costs
        = kvw::isolationCosts(test::smallPlan(), [&] { return ++steps > 0; });
    QVERIFY(costs);
    QCOMPARE(steps, costs->at(0).steps + costs->at(1).steps);
    IsolationCost planned = costs->at(1);
    planned.policy = SharingPolicy::Alone;
    QVERIFY(planned == costs->at(2));
}

void IsolationCostTest::stops()
{
    int steps = 0;
    const Result<std::vector<IsolationCost>> costs
        = kvw::isolationCosts(test::smallPlan(), [&] { return ++steps < 5; });
    QVERIFY(!costs);
    QCOMPARE(costs.error().code, std::string("run.stopped"));
    QCOMPARE(steps, 5);
}

void IsolationCostTest::refusedPlans()
{
    const Plan plan = test::with(test::smallPlan(), {{"workload.promptTokensMin", "500"}}); // more than the most
    const Result<std::vector<IsolationCost>> costs = kvw::isolationCosts(plan);
    QVERIFY(!costs);
    QCOMPARE(costs.error().code, setUpStatedRun(plan, 1).error().code);
}

QTEST_GUILESS_MAIN(IsolationCostTest)
#include "tst_isolation_cost.moc"
