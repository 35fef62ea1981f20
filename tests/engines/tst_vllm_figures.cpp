// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/capacity.h"
#include "estimate/estimate.h"
#include "plan/model_library.h"
#include "support/example_plans.h"

#include <QTest>

#include <algorithm>

using namespace kvw;

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

Plan planFor(const char* model, Fields fields)
{
    Fields all {{"engine.name", "vllm"}, {"engine.version", "0.26.0"}, {"cache.elementType", "bf16"},
        {"cache.allocation", "paged_pool"}};
    all.insert(all.end(), fields.begin(), fields.end());
    return test::with(planFromLibrary(*modelNamed(model)), all);
}

std::string gib(const Quantity& bytes)
{
    return QString::number(bytes.real() / 1073741824.0, 'f', 2).toStdString();
}

bool hasIndexKeys(const Plan& plan)
{
    for (const LayerGroup& group : plan.worksheet.groups) {
        for (const StateTensor& tensor : group.tensors) {
            if (tensor.role == TensorRole::IndexKey)
                return true;
        }
    }
    return false;
}

} // namespace

/// Plans of several kinds of layers through the estimate: figures that are published or that the engine's own code
/// gave, and what must hold of every model in the library.
class TestVllmFigures : public QObject
{
    Q_OBJECT

private slots:
    void batchesInFlight();
    void samePoolAtTwoLengths();
    void hybridWithDrafts();
    void latentsWithIndex();
    void smallestRankDecides();
    void blocksOverridden();
    void cutToWhatFits();
    void contextParallel();
    void indexKeysAreSmallerThanThePlanSays();
    void libraryModelsAddUp();
};

// gemma-4-31B, 262,144 tokens, batches of 32,768: 18,757 blocks with one batch in flight, 28,997 with two.
void TestVllmFigures::batchesInFlight()
{
    const Fields fields {{"limits.maxModelLen", "262144"}, {"engine.maxBatchedTokens", "32768"}};
    for (const auto& [batches, blocks, need] : {std::tuple {"1", 18'757, "45.79"}, {"2", 28'997, "70.79"}}) {
        Fields all = fields;
        all.emplace_back("engine.batchesInFlight", batches);
        const EngineSizing engine = estimate(planFor("google/gemma-4-31B-it", all))->engine;
        QCOMPARE(engine.refusal, std::string());
        QCOMPARE(engine.blocksPerRequest->integer(), blocks);
        QCOMPARE(gib(*engine.needBytes), std::string(need));
    }
    // One batch is what asynchronous scheduling switched off gives; 0.24 had one whatever the scheduling.
    for (const Fields& one : {Fields {{"engine.asyncScheduling", "off"}}, Fields {{"engine.version", "0.24.0"}}}) {
        Fields all = fields;
        all.insert(all.end(), one.begin(), one.end());
        QCOMPARE(estimate(planFor("google/gemma-4-31B-it", all))->engine.blocksPerRequest->integer(), 18'757);
    }
    Fields pool {{"limits.maxModelLen", "262144"}, {"engine.maxBatchedTokens", "8192"}, {"engine.batchesInFlight", "1"},
        {"budget.kvBytesPerRank", std::to_string(26'492 * std::int64_t {2'621'440})}};
    const EngineSizing engine = estimate(planFor("google/gemma-4-31B-it", pool))->engine;
    QCOMPARE(gib(*engine.availableBytes), std::string("64.68"));
    QCOMPARE(engine.blocks->integer(), 26'492);
    QCOMPARE(engine.tokens->integer(), 626'949);
}

// gemma-4-26B-A4B: 32,768 blocks print 408,422 tokens at 32,768 and 876,792 at 262,144.
void TestVllmFigures::samePoolAtTwoLengths()
{
    for (const auto& [length, tokens] : {std::pair {"32768", 408'422}, {"262144", 876'792}}) {
        const EngineSizing engine
            = estimate(planFor("google/gemma-4-26B-A4B",
                           {{"limits.maxModelLen", length}, {"engine.maxBatchedTokens", "2048"},
                               {"engine.blocksOverride", "32768"}, {"budget.kvBytesPerRank", "1"}}))
                  ->engine;
        QCOMPARE(engine.blocks->integer(), 32'768);
        QCOMPARE(engine.tokens->integer(), tokens);
    }
}

// Qwen3.8-27B with three draft tokens: blocks of 800, groups of 17, 343 blocks at 262,144 tokens.
void TestVllmFigures::hybridWithDrafts()
{
    const Plan plan = planFor("Qwen/Qwen3.8-27B",
        {{"limits.maxModelLen", "262144"}, {"engine.speculation", "on"}, {"engine.speculativeTokens", "3"},
            {"reuse.prefixCaching", "on"}, {"budget.kvBytesPerRank", "25769803776"}});
    const EngineSizing engine = estimate(plan)->engine;
    QCOMPARE(engine.refusal, std::string());
    QCOMPARE(engine.blockTokens->integer(), 800);
    QCOMPARE(engine.bytesPerBlock->integer(), 55'705'600);
    QCOMPARE(engine.blocksPerRequest->integer(), 343);
    QCOMPARE(engine.blocks->integer(), 462);
    QCOMPARE(engine.tokens->integer(), 353'091);
}

// GLM-5.1: 78 latents of 576 in bf16 and 78 index keys of 132 bytes, blocks of 64; 34.86 GiB print 373,696 tokens.
void TestVllmFigures::latentsWithIndex()
{
    const std::int64_t block = 78 * 64 * (576 * 2 + 132);
    const EngineSizing engine = estimate(planFor("zai-org/GLM-5.1",
                                             {{"limits.maxModelLen", "202752"}, {"deployment.tp", "8"},
                                                 {"budget.kvBytesPerRank", std::to_string(5839 * block)}}))
                                    ->engine;
    QCOMPARE(engine.bytesPerBlock->integer(), block);
    QCOMPARE(engine.tokens->integer(), 373'696);
    QCOMPARE(QString::number(engine.maxConcurrency->real(), 'f', 2), QString("1.84"));
}

void TestVllmFigures::smallestRankDecides()
{
    const Fields common {{"limits.maxModelLen", "131072"}, {"deployment.tp", "4"}};
    Fields each = common;
    each.emplace_back("budget.kvBytesByRank", "32212254720,33285996544,31138512896,32212254720");
    const EngineSizing engine = estimate(planFor("google/gemma-4-31B-it", each))->engine;
    QCOMPARE(engine.blocks->integer(), 47'513);
    QCOMPARE(engine.tokens->integer(), 652'722);
}

void TestVllmFigures::blocksOverridden()
{
    const Fields fields {{"limits.maxModelLen", "8192"}, {"budget.kvBytesPerRank", "21474836480"}};
    for (const auto& [blocks, fits] : {std::pair {"512", true}, {"511", false}}) {
        Fields all = fields;
        all.emplace_back("engine.blocksOverride", blocks);
        const EngineSizing engine = estimate(planFor("Qwen/Qwen3-8B", all))->engine;
        QCOMPARE(engine.blocks->integer(), std::stoll(blocks));
        QCOMPARE(*engine.fits, fits);
        QCOMPARE(engine.largestLength->integer(), std::stoll(blocks) * 16);
    }
}

// gpt-oss-20b in 1 GiB: 27,152 of 131,072 tokens fit.
void TestVllmFigures::cutToWhatFits()
{
    const EngineSizing engine = estimate(
        planFor("openai/gpt-oss-20b",
            {{"limits.maxModelLen", "131072"}, {"engine.maxBatchedTokens", "8192"}, {"engine.fitLength", "on"},
                {"budget.kvBytesPerRank",
                    "1073741824"}}))->engine;
    QCOMPARE(engine.blocksPerRequest->integer(), 2730);
    QCOMPARE(engine.tokens->integer(), 27'152);
    QVERIFY(*engine.fits);
}

// Qwen3-235B-A22B on 8 ranks that share tokens two ways: 4,096 blocks at 131,072 tokens; windows cannot be shared.
void TestVllmFigures::contextParallel()
{
    const Fields fields {{"limits.maxModelLen", "131072"}, {"deployment.tp", "8"}, {"deployment.dcp", "2"},
        {"budget.kvBytesPerRank", "21474836480"}};
    const Result<Estimate> shared = estimate(planFor("Qwen/Qwen3-235B-A22B", fields));
    QCOMPARE(shared->engine.blocksPerRequest->integer(), 4096);
    QCOMPARE(shared->engine.blocks->integer(), 27'887);
    QCOMPARE(shared->engine.tokens->integer(), 892'384);
    QVERIFY(!estimate(planFor("openai/gpt-oss-20b", fields))->engine.refusal.empty());
}

// The known exception to "engine need ≥ ideal need": vLLM keeps a latent model's index keys in fp8 with one fp32 scale
// per 128 elements (132 bytes; DeepseekV32IndexerCache at 017e9f44), whatever the cache's type; in a plan of bf16 they
// count 256.
void TestVllmFigures::indexKeysAreSmallerThanThePlanSays()
{
    const Result<Estimate> result = estimate(planFor("zai-org/GLM-5.1", {{"limits.maxModelLen", "64000"}}));
    QCOMPARE(result->idealBytes->integer() - result->engine.engineNeedBytes->integer(),
        std::int64_t {78} * 64'000 * (256 - 132));
}

// Every model of the library on ranks that divide its heads, or that its heads divide.
void TestVllmFigures::libraryModelsAddUp()
{
    int sized = 0;
    for (const LibraryModel& model : builtInModels()) {
        for (const char* tp : {"1", "8"}) {
            const Plan plan = test::with(planFromLibrary(model),
                {{"engine.name", "vllm"}, {"engine.version", "0.26.0"}, {"cache.elementType", "bf16"},
                    {"cache.allocation", "paged_pool"}, {"deployment.tp", tp}, {"limits.maxModelLen", "10000"},
                    {"limits.concurrentSequences", "3"}, {"limits.encoderTokens", "1500"},
                    {"limits.imageTokens", "1600"}, {"budget.kvBytesPerRank", "42949672960"}});
            const Result<Estimate> result = estimate(plan);
            QVERIFY2(result.ok(), result.ok() ? "" : (model.id + ": " + result.error().text()).c_str());
            if (!result->engine.refusal.empty())
                continue;
            ++sized;
            std::int64_t sum = result->idealBytes->integer();
            for (const NeedDifference& difference : result->engine.differences)
                sum += difference.bytes.integer();
            QCOMPARE(sum, result->engine.engineNeedBytes->integer());
            if (!hasIndexKeys(plan))
                QVERIFY2(sum >= result->idealBytes->integer(), model.id.c_str());
            QVERIFY2(result->engine.needBytes->integer() * std::stoll(tp) * 3 == sum, model.id.c_str());
            for (const auto& [path, quantity] : figuresOf(*result)) {
                const Result<Number> again = evaluate(quantity.derivation());
                QVERIFY2(again.ok() && *again == quantity.number(), (model.id + " " + path).c_str());
            }
            const Result<LengthCapacity> capacity = capacityAt(plan, 10'000);
            QVERIFY(capacity.ok() && capacity->heldBlocks);
            QCOMPARE(capacity->heldBlocks->integer(), 1);
        }
    }
    QVERIFY2(sized > 200, qPrintable(QString::number(sized)));
}

QTEST_APPLESS_MAIN(TestVllmFigures)
#include "tst_vllm_figures.moc"
