// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/estimate.h"
#include "support/example_plans.h"

#include <QTest>

#include <algorithm>
#include <random>

using namespace kvw;

namespace {

class Random
{
public:
    explicit Random(unsigned seed)
        : m_engine(seed)
    {}
    std::int64_t between(std::int64_t least, std::int64_t most)
    {
        return std::uniform_int_distribution<std::int64_t>(least, most)(m_engine);
    }
    template <typename Value>
    Value of(const std::vector<Value>& values)
    {
        return values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(values.size()) - 1))];
    }

private:
    std::mt19937 m_engine;
};

std::string text(std::int64_t value)
{
    return std::to_string(value);
}

/// A plan that vLLM's rules take: heads divide the ranks or the ranks divide the heads; sometimes a window, sometimes a
/// latent.
Plan randomPlan(Random& random)
{
    const std::int64_t tp = random.of<std::int64_t>({1, 2, 4, 8});
    const std::int64_t heads = random.of<std::int64_t>({1, 2, 4, 8, 16});
    Plan plan = test::with(test::examplePlan("reference.kvplan"),
        {{"worksheet.groups.full.layers", text(random.between(1, 100))}, {"worksheet.groups.full.layerIndices", ""},
            {"worksheet.groups.full.tensors.k.heads", text(heads)},
            {"worksheet.groups.full.tensors.v.heads", text(heads)},
            {"worksheet.groups.full.tensors.k.width", text(random.of<std::int64_t>({64, 80, 96, 128, 192, 256}))},
            {"worksheet.groups.full.tensors.v.width", text(random.of<std::int64_t>({64, 80, 96, 128, 192, 256}))},
            {"cache.elementType", random.of<std::string>({"bf16", "fp16", "fp8_e4m3", "fp32"})},
            {"engine.blockTokens", text(random.of<std::int64_t>({1, 16, 32, 64, 128}))},
            {"engine.version", random.of<std::string>({"0.9.2", "0.20.1", "0.21.0", "0.24.3", "0.25.0", "1.0"})},
            {"deployment.tp", text(tp)}, {"limits.maxModelLen", text(random.between(1, 300'000))},
            {"limits.promptTokens", ""}, {"limits.outputTokens", ""}, {"model.maximumPositions", ""},
            {"limits.concurrentSequences", text(random.between(1, 64))},
            {"budget.kvBytesPerRank", text(random.between(0, std::int64_t {1} << 38))},
            {"worksheet.retainedTokens", ""}});
    LayerGroup& group = plan.worksheet.groups.front();
    switch (random.between(0, 3)) {
    case 0:
        for (StateTensor& tensor : group.tensors)
            tensor.growth.limit = 512;
        group.kind = LayerKind::Sliding;
        break;
    case 1:
        group.tensors = latentTensors(512, 64);
        group.kind = LayerKind::Mla;
        break;
    default:
        break;
    }
    return plan;
}

bool divides(const Plan& plan)
{
    const std::int64_t heads = plan.worksheet.groups.front().tensors.front().heads;
    return *plan.deployment.tp <= heads && plan.worksheet.groups.front().kind != LayerKind::Mla;
}

} // namespace

class tst_VllmRules : public QObject
{
    Q_OBJECT

private slots:
    void needIsNeverBelowIdeal();
    void differencesAddUpToTheByte();
    void moreMemoryNeverFewerTokens();
    void largestLengthFitsAndOneBlockMoreDoesNot();
    void layoutIsWhatTheEstimateSays();
    void refusals_data();
    void refusals();
    void everyDerivationReevaluates();
    void releases_data();
    void releases();
};

void tst_VllmRules::needIsNeverBelowIdeal()
{
    Random random(1);
    for (int i = 0; i < 400; ++i) {
        const Plan plan = randomPlan(random);
        const Result<Estimate> result = estimate(plan);
        QVERIFY2(result.ok(), result.ok() ? "" : result.error().text().c_str());
        QVERIFY(result->engine.engineNeedBytes->integer() >= result->idealBytes->integer());
        // Over the ranks the growing bytes are the unsharded ones, and more only where something is kept twice.
        std::int64_t overRanks = 0;
        for (const RankSizing& rank : result->engine.ranks)
            overRanks += rank.bytesPerToken.integer();
        QVERIFY(overRanks >= result->bytesPerToken.integer());
        if (divides(plan))
            QCOMPARE(overRanks, result->bytesPerToken.integer());
    }
}

void tst_VllmRules::differencesAddUpToTheByte()
{
    Random random(2);
    for (int i = 0; i < 400; ++i) {
        const Plan plan = randomPlan(random);
        const Result<Estimate> result = estimate(plan);
        QVERIFY(result.ok());
        std::int64_t sum = result->idealBytes->integer();
        for (const NeedDifference& difference : result->engine.differences) {
            QVERIFY(difference.bytes.integer() >= 0);
            sum += difference.bytes.integer();
        }
        QCOMPARE(sum, result->engine.engineNeedBytes->integer());
    }
}

void tst_VllmRules::moreMemoryNeverFewerTokens()
{
    Random random(3);
    for (int i = 0; i < 100; ++i) {
        Plan plan = randomPlan(random);
        std::int64_t before = 0;
        std::int64_t budget = *plan.budget.kvBytesPerRank / 4;
        for (int step = 0; step < 5; ++step) {
            plan.budget.kvBytesPerRank = budget;
            const Result<Estimate> result = estimate(plan);
            QVERIFY(result.ok());
            QVERIFY(result->engine.tokens->integer() >= before);
            before = result->engine.tokens->integer();
            budget += random.between(0, 1 << 30);
        }
    }
}

void tst_VllmRules::largestLengthFitsAndOneBlockMoreDoesNot()
{
    Random random(4);
    int tried = 0;
    for (int i = 0; i < 300; ++i) {
        Plan plan = randomPlan(random);
        const Result<Estimate> result = estimate(plan);
        if (!result->engine.largestLength || result->engine.largestLength->integer() == 0)
            continue;
        ++tried;
        const std::int64_t longest = result->engine.largestLength->integer();
        plan.limits.maxModelLen = longest;
        QVERIFY(*estimate(plan)->engine.fits);
        plan.limits.maxModelLen = longest + 1; // needs one block more
        QVERIFY(!*estimate(plan)->engine.fits);
    }
    QVERIFY(tried > 100);
}

void tst_VllmRules::layoutIsWhatTheEstimateSays()
{
    Random random(5);
    const EngineRules& rules = **engineRules("vllm");
    for (int i = 0; i < 200; ++i) {
        const Plan plan = randomPlan(random);
        const Result<Estimate> result = estimate(plan);
        const Result<PoolLayout> layout = rules.layout(plan, {1000});
        QVERIFY(layout.ok());
        QCOMPARE(layout->pools[0].blockBytes.value, result->engine.bytesPerBlock->integer());
        if (!layout->groups[0].window)
            QCOMPARE(layout->groups[0].bytesPerToken(), result->engine.ranks[0].bytesPerToken.integer());
        QCOMPARE(layout->pools[0].held.value, 1);
    }
}

void tst_VllmRules::refusals_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("word");
    QTest::newRow("three ranks, eight heads") << "deployment.tp"
                                              << "3"
                                              << "divides";
    QTest::newRow("pipeline") << "deployment.pp"
                              << "2"
                              << "pipeline";
    QTest::newRow("data parallel") << "deployment.dp"
                                   << "2"
                                   << "data";
    QTest::newRow("contiguous") << "cache.allocation"
                                << "static_contiguous"
                                << "paged";
    QTest::newRow("host tier") << "worksheet.groups.full.tier"
                               << "host"
                               << "device";
    QTest::newRow("strided state") << "worksheet.groups.full.tensors.k.stride"
                                   << "4"
                                   << "per token";
}

void tst_VllmRules::refusals()
{
    QFETCH(QString, path);
    QFETCH(QString, value);
    QFETCH(QString, word);
    const Plan plan = test::with(test::examplePlan("reference.kvplan"), {{path.toStdString(), value.toStdString()}});
    const Result<Estimate> result = estimate(plan);
    QVERIFY2(result.ok(), result.ok() ? "" : result.error().text().c_str());
    QVERIFY2(QString::fromStdString(result->engine.refusal).contains(word), result->engine.refusal.c_str());
    QVERIFY(!result->engine.blocks);
    QVERIFY(result->engine.ranks.empty());
    QVERIFY(result->idealBytes->integer() > 0); // the ideal need stands without an engine
}

void tst_VllmRules::everyDerivationReevaluates()
{
    Random random(6);
    for (int i = 0; i < 60; ++i) {
        const Plan plan = randomPlan(random);
        const Result<Estimate> result = estimate(plan);
        for (const auto& [path, quantity] : figuresOf(*result)) {
            const Result<Number> again = evaluate(quantity.derivation());
            QVERIFY2(again.ok() && *again == quantity.number(), path.c_str());
            QVERIFY2(!quantity.name().empty(), path.c_str());
        }
    }
}

void tst_VllmRules::releases_data()
{
    QTest::addColumn<QString>("stated");
    QTest::addColumn<bool>("understood");
    // Names as people, engine logs and the facts write them.
    for (const char* name : {"0.11.0", "v0.25.1", "vLLM 0.21", "vllm==0.9.2", "~0.9-0.10 (2025-07)", " 0.26.0rc1"})
        QTest::addRow("%s", name) << name << true;
    for (const char* name : {"banana 9.9", "nightly", "1.0", "sglang 0.5.2", "11", "0.", "main-2026"})
        QTest::addRow("%s", name) << name << false;
}

void tst_VllmRules::releases()
{
    QFETCH(const QString, stated);
    QFETCH(const bool, understood);
    const Plan plan = test::with(test::examplePlan("reference.kvplan"), {{"engine.version", stated.toStdString()}});
    const Result<Estimate> result = estimate(plan);
    QVERIFY(result.ok());
    const auto& told = result->diagnostics;
    const bool warned
        = std::any_of(told.begin(), told.end(), [](const Diagnostic& d) { return d.id == "vllm.version"; });
    QCOMPARE(warned, !understood);
    const auto& taken = result->assumptions;
    QCOMPARE(std::any_of(taken.begin(), taken.end(), [](const Assumption& a) { return a.id == "vllm.version"; }),
        !understood);
}

QTEST_APPLESS_MAIN(tst_VllmRules)
#include "tst_vllm_rules.moc"
