// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/estimate.h"
#include "estimate/sequence.h"
#include "support/example_plans.h"

#include <QTest>

#include <map>

using namespace kvw;

class TestSequence : public QObject
{
    Q_OBJECT

private slots:
    void reference();
    void windows();
    void replicated();
    void refused();
    void figures();
    void budget();
};

void TestSequence::reference()
{
    // 2 tensors × 32 layers × 8 heads × 128 × 2 bytes = 131,072 bytes a token; the engine rounds to blocks of 16.
    const Plan plan = test::examplePlan("reference.kvplan");
    const std::vector<std::int64_t> lengths {1, 15, 16, 17, 8192};
    const auto needs = sequenceNeeds(plan, lengths);
    QVERIFY(needs.ok());
    const std::vector<std::int64_t> blocks {1, 1, 1, 2, 512};
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        QCOMPARE((*needs)[i].tokens, lengths[i]);
        QCOMPARE((*needs)[i].idealBytes, lengths[i] * 131'072);
        QCOMPARE((*needs)[i].engineBytes.value_or(0), blocks[i] * 16 * 131'072);
    }
}

void TestSequence::windows()
{
    // gpt-oss: 18 layers grow, 18 keep the last 128; 2 × 8 × 64 × 2 = 2,048 bytes an entry and layer.
    const Plan plan = test::examplePlan("gpt-oss-120b.kvplan");
    const std::vector<std::int64_t> lengths {100, 128, 1000};
    const auto needs = sequenceNeeds(plan, lengths);
    QVERIFY(needs.ok());
    QCOMPARE((*needs)[0].idealBytes, 36 * 100 * 2'048);
    QCOMPARE((*needs)[1].idealBytes, 36 * 128 * 2'048);
    QCOMPARE((*needs)[2].idealBytes, (18 * 1000 + 18 * 128) * 2'048);
    QVERIFY(!(*needs)[2].engineBytes); // shape only: no engine, no engine need
}

void TestSequence::replicated()
{
    // DeepSeek-R1: latent 512 + rotary 64, bf16, 61 layers, kept whole on each of 8 ranks; blocks of 64 tokens.
    const Plan plan = test::examplePlan("deepseek-r1-tp8.kvplan");
    const std::vector<std::int64_t> lengths {65};
    const auto needs = sequenceNeeds(plan, lengths);
    QVERIFY(needs.ok());
    QCOMPARE(needs->front().idealBytes, 65 * 61 * 576 * 2);
    QCOMPARE(needs->front().engineBytes.value_or(0), std::int64_t {128} * 61 * 576 * 2 * 8);
}

void TestSequence::refused()
{
    Plan plan = test::examplePlan("reference.kvplan");
    const std::vector<std::int64_t> one {1};
    plan.cache.elementType = ElementType::NotStated;
    for (StateTensor& tensor : plan.worksheet.groups.front().tensors)
        tensor.elementType = ElementType::NotStated;
    QCOMPARE(sequenceNeeds(plan, one).error().code, std::string("estimate.not_stated"));
    plan.worksheet.groups.clear();
    QCOMPARE(sequenceNeeds(plan, one).error().code, std::string("estimate.not_stated"));
    plan.engine.name = "abacus";
    QCOMPARE(sequenceNeeds(plan, one).error().code, std::string("engine.unknown"));
    Plan huge = test::with(test::examplePlan("reference.kvplan"),
        {{"worksheet.groups.full.tensors.k.width", "1000000"}, {"worksheet.groups.full.tensors.k.heads", "65536"}});
    const std::vector<std::int64_t> most {std::int64_t {1} << 40};
    QCOMPARE(sequenceNeeds(huge, most).error().code, std::string("estimate.overflow"));
}

void TestSequence::figures()
{
    const Plan plan = test::examplePlan("deepseek-r1-tp8.kvplan");
    const Result<Estimate> result = estimate(plan);
    QVERIFY(result.ok());
    for (const auto& [path, quantity] : figuresOf(*result))
        QCOMPARE(figureAt(*result, path)->derivation().get(), quantity.derivation().get());
    const std::string group = plan.worksheet.groups.front().id;
    const auto kept = figureAt(*result, "ranks.7.groups." + group + ".bytesPerToken");
    QVERIFY(kept);
    QCOMPARE(kept->integer(), 61 * 576 * 2);
    QVERIFY(!figureAt(*result, "ranks.8.groups." + group + ".bytesPerToken"));
    QVERIFY(!figureAt(*result, "ranks.0.groups.none.bytesPerToken"));
    QVERIFY(!figureAt(*result, ""));
}

void TestSequence::budget()
{
    // R1 on 8 devices of 80 GB, 90 % for the engine: parts and pool by hand, and together they are the device.
    const Plan plan = test::with(test::examplePlan("deepseek-r1-tp8.kvplan"),
        {{"budget.kvBytesPerRank", ""}, {"deployment.memoryBytes", "85520809984"}, {"budget.utilization", "0.9"},
            {"loaded.weightBytes", "400000000001"}, {"budget.activationBytes", "2000000000"},
            {"budget.otherBytes", "1500000000"}});
    const Result<Estimate> result = estimate(plan);
    QVERIFY(result.ok());
    std::map<std::string, std::int64_t> parts;
    std::int64_t together = 0;
    for (const BudgetPart& part : result->budget.each.parts) {
        parts[part.id] = part.bytes.integer();
        together += part.bytes.integer();
        QCOMPARE(figureAt(*result, "budget." + part.id)->integer(), part.bytes.integer());
    }
    const std::int64_t requested = 76'968'728'985; // 85,520,809,984 × 0.9, cut
    const std::int64_t available = requested - 50'000'000'001 - 2'000'000'000 - 1'500'000'000;
    const std::int64_t block = std::int64_t {64} * 61 * 576 * 2;
    // 16 sequences of 32,768 tokens would take 8,192 blocks on each rank: more than the pool has.
    const std::int64_t pool = available / block * block;
    QVERIFY(16 * (32'768 / 64) * block > pool);
    const std::map<std::string, std::int64_t> expected {{"weights", 50'000'000'001}, {"activation", 2'000'000'000},
        {"other", 1'500'000'000}, {"planned", pool}, {"left", 0}, {"remainder", available % block},
        {"outside", 85'520'809'984 - requested}};
    QVERIFY(parts == expected);
    QCOMPARE(together, 85'520'809'984);
    QCOMPARE(figureAt(*result, "budget.pool")->integer(), available / block * block);
    QCOMPARE(figureAt(*result, "ranks.7.budget.weights")->integer(), 50'000'000'001);
    QCOMPARE(figureAt(*result, "budget.device")->integer(), 85'520'809'984);
    QVERIFY(!figureAt(*result, "ranks.8.budget.weights"));
    QVERIFY(!figureAt(*result, "budget.none"));
    // A stated budget on a device of known size: what is beside it is nobody's.
    const Plan stated = test::with(plan,
        {{"budget.kvBytesPerRank", "6GiB"}, {"budget.activationBytes", ""}, {"budget.otherBytes", ""},
            {"loaded.weightBytes", ""}});
    const Result<Estimate> second = estimate(stated);
    QVERIFY(second.ok());
    const BudgetPart& last = second->budget.each.parts.back();
    QCOMPARE(last.id, std::string("unaccounted"));
    QCOMPARE(last.bytes.integer(), 85'520'809'984 - (std::int64_t {6} << 30));
    QVERIFY(estimate(test::examplePlan("gpt-oss-120b.kvplan"))->budget.ranks == 0);
}

QTEST_GUILESS_MAIN(TestSequence)
#include "tst_sequence.moc"
