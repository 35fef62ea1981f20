// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/capacity.h"
#include "estimate/explain_capacity.h"
#include "support/example_plans.h"

#include <QTest>

using namespace kvw;

namespace {

/// The most sequences of `length` by asking the estimate again and again: their blocks, and the null block, are there.
std::int64_t naiveSequences(const Plan& plan, std::int64_t length)
{
    const auto fits = [&](std::int64_t sequences) {
        Plan asked = plan;
        asked.limits.maxModelLen = length;
        asked.limits.concurrentSequences = sequences;
        const Result<Estimate> figures = estimate(asked);
        if (!figures)
            throw std::runtime_error(figures.error().text());
        const EngineSizing& engine = figures->engine;
        // Engine need is of all ranks, without the null block.
        const std::int64_t perRank = engine.engineNeedBytes->integer() / static_cast<std::int64_t>(engine.ranks.size());
        return perRank + engine.bytesPerBlock->integer() <= engine.poolBytes->integer();
    };
    std::int64_t most = 0;
    while (fits(most + 1))
        ++most;
    return most;
}

} // namespace

class CapacityTest : public QObject
{
    Q_OBJECT

private slots:
    void engineFrontierIsTheEstimates_data();
    void engineFrontierIsTheEstimates();
    void referenceByHand();
    void idealFrontierByHand();
    void shares();
    void lengths();
    void absentFiguresSayWhy();
    void moves();
    void bytesAreTheEstimates_data();
    void bytesAreTheEstimates();
    void budgetAddsUp();
    void budgetInventsNothing();
    void figuresExplainThemselves();
};

void CapacityTest::engineFrontierIsTheEstimates_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QStringList>("fields");
    QTest::newRow("reference") << "reference.kvplan" << QStringList();
    QTest::newRow("reference, odd block") << "reference.kvplan" << QStringList {"engine.blockTokens", "24"};
    QTest::newRow("deepseek, 8 ranks") << "deepseek-r1-tp8.kvplan" << QStringList();
    QTest::newRow("a window, newest rules")
        << "reference.kvplan"
        << QStringList {"worksheet.groups.full.tensors.k.limit", "1024", "worksheet.groups.full.tensors.v.limit",
               "1024", "engine.version", "0.26.0"};
    QTest::newRow("a window, one batch in flight")
        << "reference.kvplan"
        << QStringList {"worksheet.groups.full.tensors.k.limit", "1024", "worksheet.groups.full.tensors.v.limit",
               "1024", "engine.version", "0.11.0"};
}

void CapacityTest::engineFrontierIsTheEstimates()
{
    QFETCH(QString, name);
    QFETCH(QStringList, fields);
    Plan plan = test::examplePlan(name.toStdString());
    for (qsizetype i = 0; i + 1 < fields.size(); i += 2)
        plan = test::with(plan, {{fields[i].toStdString(), fields[i + 1].toStdString()}});
    for (const std::int64_t length : {1000, 1024, 1025, 2047, 4096, 8191, 8192, 30000}) {
        const Result<LengthCapacity> capacity = capacityAt(plan, length);
        QVERIFY2(capacity, capacity ? "" : capacity.error().text().c_str());
        QVERIFY2(capacity->engineSequences, capacity->missing.c_str());
        QCOMPARE(capacity->engineSequences->integer(), naiveSequences(plan, length));
        QCOMPARE(capacity->length, length);
        const double cut = std::floor(capacity->engineRatio->real());
        QCOMPARE(static_cast<std::int64_t>(cut), capacity->engineSequences->integer());
    }
}

void CapacityTest::referenceByHand()
{
    // 6 GiB ÷ 2 MiB a block of 16 tokens = 3,072 blocks, one of them never given away; 8,192 tokens take 512.
    const Result<LengthCapacity> capacity = capacityAt(test::examplePlan("reference.kvplan"), 8192);
    QVERIFY(capacity);
    QCOMPARE(capacity->usableBlocks->integer(), 3071);
    QCOMPARE(capacity->heldBlocks->integer(), 1);
    QCOMPARE(capacity->blocksEach->integer(), 512);
    QCOMPARE(capacity->engineSequences->integer(), 5);
    QCOMPARE(capacity->idealSequences->integer(), 6); // 6 GiB ÷ 1 GiB
}

void CapacityTest::idealFrontierByHand()
{
    // DeepSeek-R1: 61 layers × 576 elements × 2 bytes a token, kept once; eight ranks of 37,430,639,984 bytes.
    const std::int64_t perToken = 61LL * 576 * 2;
    for (const std::int64_t length : {1024, 32768, 163840}) {
        const Result<LengthCapacity> capacity = capacityAt(test::examplePlan("deepseek-r1-tp8.kvplan"), length);
        QVERIFY(capacity);
        QCOMPARE(capacity->idealSequences->integer(), 8 * 37430639984LL / (perToken * length));
    }
}

void CapacityTest::shares()
{
    const Result<LengthCapacity> capacity = capacityAt(test::examplePlan("reference.kvplan"), 8192);
    QVERIFY(capacity);
    QCOMPARE(*capacity->shareOf(0), 0.0);
    QCOMPARE(*capacity->shareOf(3), 3 * 512 / 3071.0);
    QVERIFY(*capacity->shareOf(5) <= 1);
    QVERIFY(*capacity->shareOf(6) > 1);
    QVERIFY(!LengthCapacity {}.shareOf(1));
}

void CapacityTest::lengths()
{
    Plan plan = test::examplePlan("reference.kvplan"); // 8,192 both
    QCOMPARE(capacityLengths(plan), (std::vector<std::int64_t> {1024, 2048, 4096, 8192}));
    plan.limits.maxModelLen = 5000;
    QCOMPARE(capacityLengths(plan), (std::vector<std::int64_t> {1024, 2048, 4096, 5000, 8192}));
    plan.limits.maxModelLen.reset();
    plan.model.maximumPositions = 512;
    QCOMPARE(capacityLengths(plan), (std::vector<std::int64_t> {128, 256, 512}));
    plan.model.maximumPositions.reset();
    QVERIFY(capacityLengths(plan).empty());
}

void CapacityTest::absentFiguresSayWhy()
{
    Plan plan = test::examplePlan("reference.kvplan");
    plan.engine.name = "none";
    Result<LengthCapacity> capacity = capacityAt(plan, 4096);
    QVERIFY(capacity);
    QVERIFY(!capacity->engineSequences && !capacity->idealSequences);
    QVERIFY(QString::fromStdString(capacity->missing).contains(QStringLiteral("no sharding rule")));
    plan = test::examplePlan("reference.kvplan");
    plan.budget.kvBytesPerRank.reset();
    capacity = capacityAt(plan, 4096);
    QVERIFY(capacity);
    QVERIFY(!capacity->engineSequences);
    QVERIFY(
        QString::fromStdString(capacity->missing).contains(QStringLiteral("bytes available for state are not stated")));
    plan.worksheet.groups.clear();
    QVERIFY(!capacityAt(plan, 4096));
}

void CapacityTest::moves()
{
    const Plan plan = test::examplePlan("reference.kvplan");
    const std::vector<LimitMove> moves = limitMoves(plan);
    QVERIFY(moves.size() >= 3);
    for (const LimitMove& move : moves) {
        Plan changed = plan;
        QVERIFY(setField(changed, move.path, move.value));
        QCOMPARE(move.sequences, naiveSequences(changed, *changed.limits.maxModelLen));
        QVERIFY(move.sequences != 5);
    }
    Plan none = plan;
    none.budget.kvBytesPerRank.reset();
    QVERIFY(limitMoves(none).empty());
}

void CapacityTest::bytesAreTheEstimates_data()
{
    QTest::addColumn<QString>("name");
    for (const char* name : {"reference.kvplan", "deepseek-r1-tp8.kvplan", "gpt-oss-120b.kvplan"})
        QTest::newRow(name) << name;
}

void CapacityTest::bytesAreTheEstimates()
{
    QFETCH(QString, name);
    Plan plan = test::examplePlan(name.toStdString());
    const std::vector<std::int64_t> lengths {1, 100, 128, 129, 4096, 8191};
    const Result<std::vector<std::vector<std::int64_t>>> bytes = bytesOverTokens(plan, lengths);
    QVERIFY(bytes);
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        plan.limits.maxModelLen = lengths[i];
        const Result<Estimate> figures = estimate(plan);
        QVERIFY(figures);
        for (std::size_t g = 0; g < figures->groups.size(); ++g)
            QCOMPARE((*bytes)[g][i], figures->groups[g].configured->bytes.integer());
    }
    plan.limits.concurrentSequences = INT64_MAX / 2;
    QVERIFY(!bytesOverTokens(plan, lengths));
}

void CapacityTest::budgetAddsUp()
{
    const Plan plan = test::with(test::examplePlan("deepseek-r1-tp8.kvplan"),
        {{"budget.kvBytesPerRank", ""}, {"deployment.memoryBytes", "140GiB"}, {"budget.utilization", "0.9"},
            {"loaded.weightBytes", "640GiB"}, {"budget.activationBytes", "3GiB"}, {"budget.otherBytes", "1GiB"}});
    const Result<Estimate> figures = estimate(plan);
    QVERIFY(figures);
    const Budget budget = figures->budget;
    QCOMPARE(budget.ranks, std::int64_t {8});
    QVERIFY(budget.notStated.empty());
    std::int64_t sum = 0;
    std::map<std::string, std::int64_t> parts;
    for (const BudgetPart& part : budget.each.parts) {
        sum += part.bytes.integer();
        parts[part.id] = part.bytes.integer();
    }
    constexpr std::int64_t gib = 1LL << 30;
    QCOMPARE(sum, 140 * gib);
    QCOMPARE(parts["weights"], 80 * gib);
    QCOMPARE(parts["activation"], 3 * gib);
    QCOMPARE(parts["other"], 1 * gib);
    QCOMPARE(parts["planned"] + parts["left"], figures->engine.poolBytes->integer());
    QCOMPARE(parts["outside"], 140 * gib - 126 * gib); // what the engine may not take
    QCOMPARE(budget.each.configured->integer(), 16LL * 32768 * 61 * 576 * 2);
}

void CapacityTest::budgetInventsNothing()
{
    const Plan plan = test::examplePlan("reference.kvplan");
    const Result<Estimate> figures = estimate(plan);
    QVERIFY(figures);
    const Budget budget = figures->budget;
    QCOMPARE(budget.ranks, std::int64_t {1});
    QCOMPARE(budget.notStated, (std::vector<std::string> {"weights", "activation", "other", "memory of the device"}));
    std::vector<std::string> ids;
    for (const BudgetPart& part : budget.each.parts)
        ids.push_back(part.id);
    QCOMPARE(ids, (std::vector<std::string> {"planned", "left", "remainder"}));
    QCOMPARE(budget.each.parts.front().bytes.integer(), 4LL << 30);
    QCOMPARE(budget.each.retained->integer(), 1LL << 30);
    Plan none = plan;
    none.engine.name = "none";
    const Result<Estimate> shape = estimate(none);
    QVERIFY(shape);
    const Budget empty = shape->budget;
    QVERIFY(empty.ranks == 0);
    QVERIFY(!empty.missing.empty());
}

void CapacityTest::figuresExplainThemselves()
{
    const Plan plan = test::examplePlan("reference.kvplan");
    const Result<LengthCapacity> capacity = capacityAt(plan, 4096);
    QVERIFY(capacity && capacity->engineSequences);
    const auto valueOf = [&](const char* path) {
        const std::optional<Explanation> out = explainCapacity(plan, path);
        return out && out->quantity && out->quantity->isInteger() ? out->quantity->integer() : INT64_MIN;
    };
    QCOMPARE(valueOf("4096.engineSequences"), capacity->engineSequences->integer());
    QCOMPARE(valueOf("4096.idealSequences"), capacity->idealSequences->integer());
    QCOMPARE(valueOf("4096.blocksEach"), capacity->blocksEach->integer());
    QCOMPARE(valueOf("4096.heldBlocks"), 1);
    QCOMPARE(valueOf("4096.lost"), capacity->idealSequences->integer() - capacity->engineSequences->integer());
    const std::optional<Explanation> share = explainCapacity(plan, "4096.share.3");
    QVERIFY(share && share->quantity);
    QCOMPARE(share->quantity->real(), *capacity->shareOf(3));
    QVERIFY(share->of.find(planHash(plan).substr(0, 8)) != std::string::npos);
    for (const LimitMove& move : limitMoves(plan))
        QCOMPARE(valueOf(("move." + move.path + "=" + move.value).c_str()), move.sequences);
    for (const char* path : {"", "4096", "4096.nothing", "-1.engineSequences", "x.engineSequences", "4096.share.",
             "4096.share.x", "move.", "move.nothing=1", "move.limits.maxModelLen"})
        QVERIFY2(!explainCapacity(plan, path), path);
}

QTEST_MAIN(CapacityTest)
#include "tst_capacity.moc"
