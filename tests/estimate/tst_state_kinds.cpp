// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/capacity.h"
#include "estimate/estimate.h"
#include "estimate/sequence.h"
#include "import/hf_config.h"
#include "plan/identity.h"
#include "plan/plan_json.h"
#include "plan/shape.h"
#include "support/example_plans.h"

#include <QTest>

#include <algorithm>
#include <functional>

using namespace kvw;

namespace {

Plan planOf(const std::string& config)
{
    const auto document = parseJson(config, "t/config.json");
    const auto model = importHuggingFaceConfig(*document);
    if (!model)
        throw std::runtime_error(model.error().text());
    return planFromModel(*model);
}

const char* const hybrid
    = R"({"model_type":"qwen3_5_text","dtype":"bfloat16","vocab_size":9,"num_hidden_layers":8,"hidden_size":64,
    "num_attention_heads":8,"num_key_value_heads":2,"head_dim":16,"full_attention_interval":4,"mamba_ssm_dtype":"float32",
    "linear_num_key_heads":2,"linear_num_value_heads":4,"linear_key_head_dim":8,"linear_value_head_dim":16,
    "linear_conv_kernel_dim":4,"mtp_num_hidden_layers":1})";
const char* const compressed
    = R"({"model_type":"deepseek_v4","dtype":"bfloat16","vocab_size":9,"num_hidden_layers":5,"hidden_size":64,
    "num_attention_heads":8,"num_key_value_heads":1,"head_dim":32,"index_head_dim":8,"sliding_window":16,
    "compress_ratios":[0,4,128,4,128]})";
const char* const chunked
    = R"({"model_type":"llama4_text","dtype":"bfloat16","vocab_size":9,"num_hidden_layers":4,"hidden_size":64,
    "num_attention_heads":8,"num_key_value_heads":2,"head_dim":8,"attention_chunk_size":32})";
const char* const shared
    = R"({"model_type":"gemma3n_text","dtype":"bfloat16","vocab_size":9,"num_hidden_layers":10,"hidden_size":64,
    "num_attention_heads":8,"num_key_value_heads":2,"head_dim":8,"sliding_window":16,"num_kv_shared_layers":5})";
const char* const whisper
    = R"({"model_type":"whisper","torch_dtype":"float16","vocab_size":51866,"d_model":1280,"decoder_layers":32,
    "decoder_attention_heads":20,"max_source_positions":1500,"max_target_positions":448})";
const char* const images
    = R"({"model_type":"mllama","torch_dtype":"bfloat16","vision_config":{"image_size":560,"patch_size":14,
    "max_num_tiles":4},"text_config":{"model_type":"mllama_text_model","vocab_size":9,"num_hidden_layers":40,
    "hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"max_position_embeddings":131072}})";

using Naive = std::function<std::int64_t(std::int64_t)>;

} // namespace

Q_DECLARE_METATYPE(Naive)

// What one sequence of each kind of state keeps: the estimate, the curve and the quick sum beside a formula written out
// for the layers of that model.
class StateKindsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void bytes_data();
    void bytes();
    void growth_data();
    void growth();
    void draftsCountWhenSpeculating();
    void otherSequences();
    void enginesSayWhatTheyDoNotCover();
    void plansKeepEverything();
};

void StateKindsTest::bytes_data()
{
    QTest::addColumn<QString>("config");
    QTest::addColumn<Naive>("naive");
    const auto add = [](const char* name, const char* config, Naive naive) {
        QTest::newRow(name) << QString::fromLatin1(config) << naive;
    };
    using std::min;
    add("recurrent layers", hybrid, [](std::int64_t v) {
        return 2 * v * 2 * 2 * 16 * 2 + (v > 0 ? 6 * (3 * (2 * 2 * 8 + 4 * 16) * 2 + 4 * 16 * 8 * 4) : 0);
    });
    add("compressed entries", compressed, [](std::int64_t v) {
        const std::int64_t window = 5 * min<std::int64_t>(v, 16) * 32 * 2;
        const std::int64_t sparse = 2 * (v / 4) * (32 + 8) * 2;
        const std::int64_t heavy = 2 * (v / 128) * 32 * 2;
        const std::int64_t buffers = v > 0 ? 2 * 2 * 8 * (32 + 8) * 4 + 2 * 2 * 128 * 32 * 4 : 0;
        return window + sparse + heavy + buffers;
    });
    add("chunks", chunked,
        [](std::int64_t v) { return 1 * v * 2 * 2 * 8 * 2 + 3 * (v > 0 ? (v - 1) % 32 + 1 : 0) * 2 * 2 * 8 * 2; });
    add("shared layers", shared, [](std::int64_t v) { return 1 * v * 64 + 4 * min<std::int64_t>(v, 16) * 64; });
    add("encoder and decoder", whisper,
        [](std::int64_t v) { return 32 * 2 * 20 * 64 * 2 * v + std::int64_t {245'760'000}; });
    add("images", images, [](std::int64_t v) { return (32 * v + 8 * 6404) * 2 * 8 * 128 * 2; });
}

void StateKindsTest::bytes()
{
    QFETCH(QString, config);
    QFETCH(Naive, naive);
    Plan plan = planOf(config.toStdString());
    const std::vector<std::int64_t> lengths {1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 64, 65, 127, 128, 129, 447, 448};
    const auto needs = sequenceNeeds(plan, lengths);
    QVERIFY2(needs.ok(), needs.ok() ? "" : needs.error().text().c_str());
    const auto curves = bytesOverTokens(plan, lengths);
    QVERIFY(curves.ok());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const std::int64_t expected = naive(lengths[i]);
        QCOMPARE((*needs)[i].idealBytes, expected);
        std::int64_t sum = 0;
        for (const std::vector<std::int64_t>& group : *curves)
            sum += group[i];
        QCOMPARE(sum, expected);
        plan.limits.maxModelLen = lengths[i];
        const Result<Estimate> estimated = estimate(plan);
        QVERIFY2(estimated.ok(), estimated.ok() ? "" : estimated.error().text().c_str());
        QCOMPARE(figureAt(*estimated, "idealBytesPerSequence")->integer(), expected);
    }
}

void StateKindsTest::growth_data()
{
    QTest::addColumn<QString>("config");
    QTest::addColumn<double>("perToken");
    QTest::addColumn<qint64>("fixed"); // of a sequence, where limits are reached
    const auto add = [](const char* name, const char* config, double perToken, qint64 fixed) {
        QTest::newRow(name) << QString::fromLatin1(config) << perToken << fixed;
    };
    add("recurrent layers", hybrid, 2 * 2 * 2 * 16 * 2, 6 * (3 * 96 * 2 + 512 * 4));
    add("compressed entries", compressed, 2 * 40 * 2 / 4.0 + 2 * 32 * 2 / 128.0,
        5 * 16 * 64 + 2 * 16 * 40 * 4 + 2 * 256 * 32 * 4);
    add("chunks", chunked, 64, 3 * 32 * 64);
    add("shared layers", shared, 64, 4 * 16 * 64);
    add("encoder and decoder", whisper, 163'840, 245'760'000);
    add("images", images, 131'072, qint64 {8} * 6404 * 4096);
}

// The part that grows with tokens and the part that does not, never mixed.
void StateKindsTest::growth()
{
    QFETCH(QString, config);
    Plan plan = planOf(config.toStdString());
    plan.limits.maxModelLen = 1024;
    const Result<Estimate> estimated = estimate(plan);
    QVERIFY(estimated.ok());
    QTEST(estimated->bytesPerToken.real(), "perToken");
    QTEST(qint64 {estimated->fixedBytes.integer()}, "fixed");
}

void StateKindsTest::draftsCountWhenSpeculating()
{
    const Plan plan = test::with(planOf(hybrid), {{"limits.maxModelLen", "100"}});
    const std::int64_t draft = 100 * 2 * 2 * 16 * 2;
    const auto total = [](const Plan& asked) { return figureAt(*estimate(asked), "idealBytesPerSequence")->integer(); };
    const std::int64_t without = total(plan);
    QCOMPARE(total(test::with(plan, {{"engine.speculation", "off"}})), without);
    const Plan speculating = test::with(plan, {{"engine.speculation", "on"}});
    QCOMPARE(total(speculating), without + draft);
    const std::vector<std::int64_t> lengths {100};
    QCOMPARE(sequenceNeeds(plan, lengths)->front().idealBytes, without);
    QCOMPARE(sequenceNeeds(speculating, lengths)->front().idealBytes, without + draft);
    QCOMPARE(figureAt(*estimate(plan), "groups.draft.idealBytesPerSequence")->integer(), std::int64_t {0});
    // The group is in the worksheet either way.
    const Result<Estimate> unused = estimate(plan);
    QCOMPARE(unused->groups.size(), plan.worksheet.groups.size());
    for (std::size_t i = 0; i < unused->groups.size(); ++i)
        QCOMPARE(unused->groups[i].tensors.size(), plan.worksheet.groups[i].tensors.size());
    QCOMPARE(figureAt(*unused, "groups.draft.tensors.k.configuredBytes")->integer(), std::int64_t {0});
    // A plan of one kind of layers stays one for an engine's rules while its draft layers do not run.
    const Plan latent = test::with(planOf(R"({"model_type":"deepseek_v3","dtype":"bfloat16","num_hidden_layers":61,)"
                                          R"("kv_lora_rank":512,"qk_rope_head_dim":64,"num_nextn_predict_layers":1})"),
        {{"engine.name", "vllm"}, {"limits.maxModelLen", "4096"}});
    QCOMPARE(estimate(latent)->engine.refusal, std::string());
    // Beside them it has one layer more, of the same kind: the same cache group, 62 layers of 576 in bf16 and blocks of
    // 16 tokens.
    const EngineSizing drafting = estimate(test::with(latent, {{"engine.speculation", "on"}}))->engine;
    QCOMPARE(drafting.refusal, std::string());
    QCOMPARE(drafting.bytesPerBlock->integer(), std::int64_t {62} * 576 * 2 * 16);
}

void StateKindsTest::otherSequences()
{
    const Plan plan = test::with(planOf(images), {{"limits.maxModelLen", "1000"}});
    QCOMPARE(plan.limits.imageTokens.value_or(0), std::int64_t {6404});
    const auto cross
        = [](const Plan& asked) { return figureAt(*estimate(asked), "groups.cross.idealBytesPerSequence")->integer(); };
    QCOMPARE(cross(plan), std::int64_t {8} * 6404 * 4096);
    QCOMPARE(cross(test::with(plan, {{"limits.imageTokens", "1601"}})), std::int64_t {8} * 1601 * 4096);
    QCOMPARE(cross(test::with(plan, {{"limits.imageTokens", "0"}})), std::int64_t {0}); // text alone writes none
    Plan unstated = plan;
    unstated.limits.imageTokens.reset();
    const Result<Estimate> refused = estimate(unstated);
    QVERIFY(!refused.ok());
    QCOMPARE(refused.error().code, std::string("estimate.not_stated"));
    QVERIFY(refused.error().text().find("imageTokens") != std::string::npos);
    const std::vector<std::int64_t> lengths {100};
    QCOMPARE(sequenceNeeds(unstated, lengths).error().where.at, std::string("limits.imageTokens"));
    QVERIFY(!bytesOverTokens(unstated, lengths).ok());
}

void StateKindsTest::enginesSayWhatTheyDoNotCover()
{
    const std::vector<std::pair<std::string, std::string>> vllm {
        {"engine.name", "vllm"}, {"limits.maxModelLen", "400"}};
    const Result<Estimate> refused = estimate(test::with(planOf(compressed), vllm));
    QVERIFY2(refused.ok(), refused.ok() ? "" : refused.error().text().c_str());
    QVERIFY(!refused->engine.refusal.empty());
    for (const char* config : {hybrid, chunked, whisper, images}) {
        const Plan plan = test::with(planOf(config), vllm);
        const Result<Estimate> estimated = estimate(plan);
        QVERIFY2(estimated.ok(), estimated.ok() ? "" : estimated.error().text().c_str());
        QCOMPARE(estimated->engine.refusal, std::string());
        std::int64_t sum = estimated->idealBytes->integer();
        for (const NeedDifference& difference : estimated->engine.differences)
            sum += difference.bytes.integer();
        QCOMPARE(sum, estimated->engine.engineNeedBytes->integer());
        QVERIFY(estimated->engine.engineNeedBytes->integer() >= estimated->idealBytes->integer());
    }
}

void StateKindsTest::plansKeepEverything()
{
    for (const char* config : {hybrid, compressed, chunked, shared, whisper, images}) {
        const Plan plan = test::with(planOf(config), {{"engine.speculation", "on"}});
        const Result<Plan> again = planFromJson(*parseJson(planToJson(plan), "t.kvplan"));
        QVERIFY2(again.ok(), again.ok() ? "" : again.error().text().c_str());
        QVERIFY(again->worksheet.groups == plan.worksheet.groups);
        QCOMPARE(again->limits.encoderTokens, plan.limits.encoderTokens);
        QCOMPARE(again->limits.imageTokens, plan.limits.imageTokens);
        QCOMPARE(again->engine.speculation, Switch::On);
        QCOMPARE(planHash(*again), planHash(plan));
        for (const auto& [path, source] : plan.provenance.entries())
            QVERIFY2(again->provenance.find(path) && *again->provenance.find(path) == *source, path.c_str());
        for (const Diagnostic& diagnostic : diagnose(plan))
            QVERIFY2(!diagnostic.id.starts_with("worksheet."), diagnostic.message.c_str());
    }
}

QTEST_APPLESS_MAIN(StateKindsTest)
#include "tst_state_kinds.moc"
