// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "spec_text.h"

#include <QTest>

using namespace kvw;
using namespace kvw::test;

// Which layers keep a window only, and latent attention.
class HfWindowsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rules_data();
    void rules();

private:
    void layerTypeRows();
    void windowRows();
    void latentRows();
    static void add(const char* name, const QByteArray& text, const char* outcome, const char* assumptions = "",
        const char* diagnostics = "");
};

void HfWindowsTest::add(
    const char* name, const QByteArray& text, const char* outcome, const char* assumptions, const char* diagnostics)
{
    QTest::newRow(name) << text << QString::fromLatin1(outcome) << QString::fromLatin1(assumptions)
                        << QString::fromLatin1(diagnostics);
}

void HfWindowsTest::rules_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("outcome"); // the groups, or code and place of the error
    QTest::addColumn<QString>("assumptions"); // without import.dtype_default, which all have
    QTest::addColumn<QString>("diagnostics"); // without import.maximum_positions
    layerTypeRows();
    windowRows();
    latentRows();
}

void HfWindowsTest::layerTypeRows()
{
    const char* const full = "full 4 [0-3] k 2x8 v 2x8";
    add("layer_types", shaped("llama", R"("sliding_window":16,)" + layerTypes("fssf")),
        "full 2 [0,3] k 2x8 v 2x8; sliding 2 [1-2] k 2x8 v 2x8 window 16");
    add("layer_types, all full", shaped("mistral", R"("sliding_window":16,)" + layerTypes("ffff")), full);
    add("layer_types, window null", shaped("gpt_oss", R"("sliding_window":null,)" + layerTypes("fsff")), full, "",
        "import.window_null!");
    add("layer_types, class window", shaped("gpt_oss", layerTypes("fsff")),
        "full 3 [0,2-3] k 2x8 v 2x8; sliding 1 [1] k 2x8 v 2x8 window 128", "import.window_class_default");
    add("layer_types, no window", shaped("llama", layerTypes("fsff")), "import.missing_field /sliding_window");
    add("layer_types, switched off",
        shaped("qwen3", R"("sliding_window":16,"use_sliding_window":false,)" + layerTypes("fsff")), full, "",
        "import.window_off!");
    add("layer_types, one short", shaped("llama", layerTypes("fff")), "import.inconsistent /layer_types");
    add("layer_types, one too many", shaped("llama", layerTypes("fffff")), "import.inconsistent /layer_types");
    add("layer_types of a draft layer too", shaped("llama", R"("num_nextn_predict_layers":1,)" + layerTypes("ffffc")),
        "full 4 [0-3] k 2x8 v 2x8; draft 1 [4] k 2x8 v 2x8", "", "import.draft_layers");
    add("layer_types, another kind", shaped("llama", layerTypes("fcff")), "import.unsupported /layer_types/1");
    add("layer_types, not strings",
        shaped("llama", R"("layer_types":["full_attention",1,"full_attention","full_attention"])"),
        "json.type /layer_types/1");
    add("layer_types null", shaped("llama", R"("layer_types":null)"), full);
}

void HfWindowsTest::windowRows()
{
    const char* const full = "full 4 [0-3] k 2x8 v 2x8";
    const char* const sliding = "sliding 4 [0-3] k 2x8 v 2x8 window 16";
    add("Gemma 2 alternates", shaped("gemma2", R"("sliding_window":16)"),
        "full 2 [1,3] k 2x8 v 2x8; sliding 2 [0,2] k 2x8 v 2x8 window 16", "import.window_pattern_default");
    add("gpt-oss alternates", shaped("gpt_oss", R"("sliding_window":16)"),
        "full 2 [1,3] k 2x8 v 2x8; sliding 2 [0,2] k 2x8 v 2x8 window 16", "import.window_pattern_default");
    add("Cohere 2", shaped("cohere2", R"("sliding_window":16)"),
        "full 1 [3] k 2x8 v 2x8; sliding 3 [0-2] k 2x8 v 2x8 window 16",
        "import.window_pattern_default import.head_dim_computed");
    add("OLMo 3", shaped("olmo3", R"("sliding_window":16)"),
        "full 1 [3] k 2x8 v 2x8; sliding 3 [0-2] k 2x8 v 2x8 window 16", "import.window_pattern_default");
    add("Gemma 3, pattern stated", shaped("gemma3_text", R"("sliding_window":16,"sliding_window_pattern":2)"),
        "full 2 [1,3] k 2x8 v 2x8; sliding 2 [0,2] k 2x8 v 2x8 window 16");
    add("Gemma 3, fewer layers than the pattern", shaped("gemma3_text", R"("sliding_window":16)"), sliding,
        "import.window_pattern_default");
    add("pattern 0", shaped("gemma3_text", R"("sliding_window":16,"sliding_window_pattern":0)"),
        "json.range /sliding_window_pattern");
    add("pattern, window null", shaped("gemma3_text", R"("sliding_window":null)"), full);

    add("Mistral", shaped("mistral", R"("sliding_window":16)"), sliding);
    add("Mistral, window null", shaped("mistral", R"("sliding_window":null)"), full);
    add("Mistral, window absent", shaped("mistral", R"("max_position_embeddings":32768)"),
        "sliding 4 [0-3] k 2x8 v 2x8 window 4096", "import.window_class_default");
    add("Mistral, switched off", shaped("mistral", R"("sliding_window":16,"use_sliding_window":false)"), full, "",
        "import.window_off");
    add("Mixtral, window absent", shaped("mixtral", R"("max_position_embeddings":32768)"), full);
    add("StarCoder 2", shaped("starcoder2", R"("sliding_window":16)"), sliding);
    add("Phi-3, below the context", shaped("phi3", R"("sliding_window":16,"max_position_embeddings":17)"), sliding);
    add("Phi-3, as long as the context", shaped("phi3", R"("sliding_window":16,"max_position_embeddings":16)"), full,
        "", "import.window_beyond_context");
    add("Phi-3, context not stated", shaped("phi3", R"("sliding_window":16)"), sliding);

    add("Qwen 2, off", shaped("qwen2", R"("sliding_window":16,"use_sliding_window":false,"max_window_layers":2)"), full,
        "", "import.window_off");
    add("Qwen 2, on", shaped("qwen2", R"("sliding_window":16,"use_sliding_window":true,"max_window_layers":1)"),
        "full 1 [0] k 2x8 v 2x8; sliding 3 [1-3] k 2x8 v 2x8 window 16");
    add("Qwen 3, on from layer 0",
        shaped("qwen3", R"("sliding_window":16,"use_sliding_window":true,"max_window_layers":0)"), sliding);
    add("Qwen 2, on beyond the last layer",
        shaped("qwen2", R"("sliding_window":16,"use_sliding_window":true,"max_window_layers":9)"), full);
    add("Qwen 2, on, start not stated", shaped("qwen2", R"("sliding_window":16,"use_sliding_window":true)"),
        "import.missing_field /max_window_layers");
    add("Qwen 2, on, null", shaped("qwen2", R"("sliding_window":null,"use_sliding_window":true)"), full);
    add("Qwen 2, switch absent", shaped("qwen2", R"("sliding_window":16)"), full, "import.window_off_default");
    add("Qwen 2, nothing stated", shaped("qwen2", R"("max_window_layers":2)"), full);
    add("Qwen 2 MoE, off", shaped("qwen2_moe", R"("sliding_window":16,"use_sliding_window":false)"), full, "",
        "import.window_off");
    add("Qwen 2 MoE, on", shaped("qwen2_moe", R"("sliding_window":16,"use_sliding_window":true,"max_window_layers":2)"),
        "import.unsupported /use_sliding_window");
    add("a class without a window", shaped("llama", R"("sliding_window":16)"), "import.unsupported /sliding_window");
    add("a class without a window, beyond the context",
        shaped("llama", R"("sliding_window":16,"max_position_embeddings":16)"), full, "",
        "import.window_beyond_context");
    add("window 0", shaped("mistral", R"("sliding_window":0)"), "json.range /sliding_window");
    add("window a string", shaped("mistral", R"("sliding_window":"16")"), "json.type /sliding_window");
    add("switch a number", shaped("qwen2", R"("sliding_window":16,"use_sliding_window":1)"),
        "json.type /use_sliding_window");
}

void HfWindowsTest::latentRows()
{
    const char* const latent = "mla 4 [0-3] latent 1x32 rope 1x4";
    add("latent", config("deepseek_v2", R"("kv_lora_rank":32,"qk_rope_head_dim":4)"), latent);
    add("heads and width are noise",
        config("glm4_moe_lite", R"("kv_lora_rank":32,"qk_rope_head_dim":4,"num_key_value_heads":3,"head_dim":99)"),
        latent, "", "import.mla_heads");
    add("a latent of its own", config("llama", R"("kv_lora_rank":32,"qk_rope_head_dim":4)"), latent);
    add("latent null in another class", config("llama", R"("kv_lora_rank":null,"num_key_value_heads":2,"head_dim":8)"),
        "full 4 [0-3] k 2x8 v 2x8");
    add("latent missing", config("deepseek_v3", R"("num_key_value_heads":2)"), "import.missing_field /kv_lora_rank");
    add("rotary part missing", config("deepseek_v3", R"("kv_lora_rank":32)"), "import.missing_field /qk_rope_head_dim");
    add("rotary part 0", config("deepseek_v3", R"("kv_lora_rank":32,"qk_rope_head_dim":0)"),
        "json.range /qk_rope_head_dim");
    add("latent with a window", config("deepseek_v3", R"("kv_lora_rank":32,"qk_rope_head_dim":4,"sliding_window":16)"),
        "import.unsupported /sliding_window");
    add("latent with sliding layers",
        config("deepseek_v3", R"("kv_lora_rank":32,"qk_rope_head_dim":4,"sliding_window":16,)" + layerTypes("fsff")),
        "import.unsupported /layer_types");
    add("latent switched off", config("deepseek_v2", R"("kv_lora_rank":32,"qk_rope_head_dim":4,"use_mla":false)"),
        "import.unsupported /use_mla");
}

void HfWindowsTest::rules()
{
    QFETCH(QByteArray, text);
    QFETCH(QString, assumptions);
    QFETCH(QString, diagnostics);
    const auto model = importText(text);
    QTEST(outcome(model), "outcome");
    if (!model) {
        QCOMPARE(model.error().where.file, std::string("t/config.json"));
        return;
    }
    QStringList found = assumptionIds(*model).split(u' ');
    QVERIFY(found.removeOne(QStringLiteral("import.dtype_default")));
    QCOMPARE(found.join(u' '), assumptions);
    found = diagnosticIds(*model).split(u' ');
    QCOMPARE(found.removeOne(QStringLiteral("import.maximum_positions")), !model->maximumPositions.has_value());
    QCOMPARE(found.join(u' '), diagnostics);
}

QTEST_APPLESS_MAIN(HfWindowsTest)
#include "tst_hf_windows.moc"
