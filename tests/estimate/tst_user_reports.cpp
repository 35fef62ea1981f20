// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/estimate.h"
#include "estimate/sequence.h"
#include "import/hf_config.h"
#include "support/example_plans.h"

#include <QTest>

using namespace kvw;

namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

/// A plan of the configuration with fields set, or the error of the import.
Result<Plan> planOf(const QByteArray& config, const Settings& settings)
{
    const auto document = parseJson(config.toStdString(), "t/config.json");
    if (!document)
        return document.error();
    const Result<ModelSpec> model = importHuggingFaceConfig(*document);
    if (!model)
        return model.error();
    return test::with(planFromModel(*model), settings);
}

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

QByteArray attention(const char* type, int layers, int heads, int width, int hidden, const char* more = "")
{
    return QByteArray(R"({"model_type":")") + type + R"(","dtype":"float16","num_hidden_layers":)"
        + QByteArray::number(layers) + R"(,"num_key_value_heads":)" + QByteArray::number(heads) + R"(,"head_dim":)"
        + QByteArray::number(width) + R"(,"hidden_size":)" + QByteArray::number(hidden) + R"(,"num_attention_heads":32)"
        + more + "}";
}

/// Gemma 4: one full layer of six, the others slide over 1,024 tokens.
QByteArray gemma4(int layers, int fullHeads, int slidingHeads)
{
    return attention("gemma4_text", layers, slidingHeads, 256, 4096,
        ("," + QByteArray(R"("sliding_window":1024,"global_head_dim":512,"attention_k_eq_v":true,)")
            + R"("num_global_key_value_heads":)" + QByteArray::number(fullHeads))
            .constData());
}

} // namespace

// What people were told wrong by other calculators, and what is right: shapes and values of public reports. Values that
// were reported to a few digits are compared to as many.
class UserReportsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void figures_data();
    void figures();
    void headsOnRanks();
    void unitsAreNotMixed();

private:
    static void widthRows();
    static void kindRows();
    static void row(const char* name, const QByteArray& config, const Settings& settings, const char* figure,
        double value, int digits = 0);
};

void UserReportsTest::row(
    const char* name, const QByteArray& config, const Settings& settings, const char* figure, double value, int digits)
{
    QTest::newRow(name) << config << settings << QString::fromLatin1(figure) << value << digits;
}

void UserReportsTest::figures_data()
{
    QTest::addColumn<QByteArray>("config");
    QTest::addColumn<Settings>("settings");
    QTest::addColumn<QString>("figure");
    QTest::addColumn<double>("value"); // bytes where digits is 0, else GiB
    QTest::addColumn<int>("digits"); // after the point
    widthRows();
    kindRows();
}

// Heads and widths: stated, by another name, or of another field than a tool thinks.
void UserReportsTest::widthRows()
{
    row("head_dim is read, never computed",
        R"({"model_type":"llama","dtype":"float16","num_hidden_layers":1,"num_key_value_heads":1,"num_attention_heads":16,)"
        R"("hidden_size":3584,"head_dim":256})",
        {}, "bytesPerToken", 2 * 256 * 2);
    row("MHA of 7B: no extra factor of heads", attention("llama", 32, 32, 128, 4096), {}, "bytesPerToken", 524'288);
    row("one request of 5,120 tokens", attention("llama", 32, 32, 128, 4096), {{"limits.maxModelLen", "5120"}},
        "idealBytesPerSequence", 2.5, 1);
    row("GPT-2 by its own names",
        R"({"model_type":"gpt2","torch_dtype":"float16","n_layer":12,"n_head":12,"n_embd":768})",
        {{"limits.maxModelLen", "8192"}}, "idealBytesPerSequence", 301'989'888);
    row("multi_query: one head",
        R"({"model_type":"gpt_bigcode","torch_dtype":"float16","n_layer":24,"n_head":16,"n_embd":2048,"multi_query":true})",
        {{"limits.maxModelLen", "8192"}}, "idealBytesPerSequence", 100'663'296);
    row("Gemma 4 12B: heads and widths by kind of layer, q8_0 scales counted", gemma4(48, 1, 8),
        {{"limits.maxModelLen", "131072"}, {"cache.elementType", "q8_0"}}, "idealBytesPerSequence", 1.229, 3);
    row("Gemma 4 12B: only full layers grow", gemma4(48, 1, 8), {}, "bytesPerToken", 16'384);
    row("Gemma 4 26B-A4B", gemma4(30, 2, 8), {{"limits.maxModelLen", "131072"}}, "idealBytesPerSequence", 2.695, 3);
    row("weights of fewer bits say nothing about the cache",
        attention("llama", 28, 4, 128, 3584, R"(,"quantization_config":{"quant_method":"gptq","bits":8})"), {},
        "bytesPerToken", 57'344);
}

// Layers that keep less than all tokens, or something else.
void UserReportsTest::kindRows()
{
    const QByteArray oss = attention("gpt_oss", 24, 8, 64, 2880, R"(,"sliding_window":128)");
    row("gpt-oss-20b: windows are capped, 32 requests", oss,
        {{"limits.maxModelLen", "8192"}, {"limits.concurrentSequences", "32"}}, "idealBytes", 6.09375, 5);
    row("gpt-oss-20b: the full half", oss, {{"limits.maxModelLen", "131072"}}, "groups.full.idealBytesPerSequence", 3.0,
        2);
    const auto delta = [](int layers, int heads) {
        return attention("qwen3_5_text", layers, heads, 256, 4096,
            R"(,"full_attention_interval":4,"linear_num_key_heads":16,"linear_num_value_heads":32,)"
            R"("linear_key_head_dim":128,"linear_value_head_dim":128,"linear_conv_kernel_dim":4,)"
            R"("mamba_ssm_dtype":"float32")");
    };
    row("a quarter of 40 layers grows", delta(40, 2), {}, "bytesPerToken", 20'480);
    row("a quarter of 64 layers grows", delta(64, 4), {}, "bytesPerToken", 65'536);

    const QByteArray latent
        = R"({"model_type":"deepseek_v3","dtype":"bfloat16","num_hidden_layers":61,"hidden_size":7168,)"
          R"("num_attention_heads":128,"num_key_value_heads":128,"kv_lora_rank":512,)"
          R"("qk_rope_head_dim":64,"qk_nope_head_dim":128,"v_head_dim":128})";
    row("one latent for all heads", latent, {}, "bytesPerToken", 70'272);
    row("one latent, 65,536 tokens", latent, {{"limits.maxModelLen", "65536"}}, "idealBytesPerSequence", 4.289, 3);
    QByteArray full;
    for (int layer = 4; layer <= 92; layer += 4)
        full += QByteArray::number(layer) + ",";
    row("Kimi K3: 24 of 93 layers grow",
        R"({"model_type":"kimi_linear","dtype":"bfloat16","num_hidden_layers":93,"hidden_size":7168,)"
        R"("num_attention_heads":96,"kv_lora_rank":512,"qk_rope_head_dim":64,"linear_attn_config":{"num_heads":96,)"
        R"("head_dim":128,"short_conv_kernel_size":4,"full_attn_layers":[)"
            + full + "93]}}",
        {}, "bytesPerToken", 27'648);
}

void UserReportsTest::figures()
{
    QFETCH(QByteArray, config);
    QFETCH(Settings, settings);
    QFETCH(QString, figure);
    QFETCH(double, value);
    QFETCH(int, digits);
    const Result<Plan> plan = planOf(config, settings);
    QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().text().c_str());
    const Result<Estimate> estimated = estimate(*plan);
    QVERIFY2(estimated.ok(), estimated.ok() ? "" : estimated.error().text().c_str());
    const std::optional<Quantity> found = figureAt(*estimated, figure.toStdString());
    QVERIFY(found && found->ok());
    if (digits == 0)
        QCOMPARE(found->real(), value);
    else
        QCOMPARE(QString::number(found->real() / gib, 'f', digits), QString::number(value, 'f', digits));
}

// Eight heads on 32 ranks: one each, kept four times; one latent on 8 ranks: kept eight times.
void UserReportsTest::headsOnRanks()
{
    const auto held = [](const QByteArray& config, const char* tp) {
        const Result<Plan> plan
            = planOf(config, {{"engine.name", "vllm"}, {"deployment.tp", tp}, {"limits.maxModelLen", "4096"}});
        const Result<Estimate> estimated = estimate(*plan);
        return figureAt(*estimated, "ranks.0.bytesPerToken")->integer();
    };
    const QByteArray heads = attention("llama", 80, 8, 128, 8192);
    QCOMPARE(held(heads, "1"), std::int64_t {80 * 8 * 2 * 128 * 2});
    QCOMPARE(held(heads, "8"), std::int64_t {80 * 1 * 2 * 128 * 2});
    QCOMPARE(held(heads, "32"), std::int64_t {80 * 1 * 2 * 128 * 2});
    const QByteArray latent = R"({"model_type":"deepseek_v3","dtype":"bfloat16","num_hidden_layers":61,)"
                              R"("kv_lora_rank":512,"qk_rope_head_dim":64})";
    QCOMPARE(held(latent, "1"), std::int64_t {70'272});
    QCOMPARE(held(latent, "8"), std::int64_t {70'272});
    // 94 layers of 4 heads on 4 ranks.
    QCOMPARE(held(attention("qwen3_moe", 94, 4, 128, 4096), "4"), std::int64_t {48'128});
}

void UserReportsTest::unitsAreNotMixed()
{
    const Result<Plan> plan = planOf(attention("llama", 32, 32, 128, 4096), {});
    QVERIFY(plan.ok());
    QCOMPARE(
        *test::with(*plan, {{"budget.kvBytesPerRank", "8 GiB"}}).budget.kvBytesPerRank, std::int64_t {8'589'934'592});
    QCOMPARE(
        *test::with(*plan, {{"budget.kvBytesPerRank", "8 GB"}}).budget.kvBytesPerRank, std::int64_t {8'000'000'000});
}

Q_DECLARE_METATYPE(Settings)
QTEST_APPLESS_MAIN(UserReportsTest)
#include "tst_user_reports.moc"
