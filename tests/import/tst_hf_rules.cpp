// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "spec_text.h"

#include <QTest>

using namespace kvw;
using namespace kvw::test;

class HfRulesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rules_data();
    void rules();
    void elementTypes_data();
    void elementTypes();
    void unknownTypes_data();
    void unknownTypes();

private:
    void headRows();
    void nameRows();
    void numberRows();
    static void add(const char* name, const QByteArray& text, const char* outcome, const char* assumptions = "",
        const char* diagnostics = "");
};

void HfRulesTest::add(
    const char* name, const QByteArray& text, const char* outcome, const char* assumptions, const char* diagnostics)
{
    QTest::newRow(name) << text << QString::fromLatin1(outcome) << QString::fromLatin1(assumptions)
                        << QString::fromLatin1(diagnostics);
}

void HfRulesTest::rules_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("outcome"); // the groups, or code and place of the error
    QTest::addColumn<QString>("assumptions"); // without import.dtype_default, which all have
    QTest::addColumn<QString>("diagnostics"); // without import.maximum_positions
    headRows();
    nameRows();
    numberRows();
}

void HfRulesTest::headRows()
{
    add("heads and width stated", config("llama", R"("num_key_value_heads":2,"head_dim":16)"),
        "full 4 [0-3] k 2x16 v 2x16");
    add("width computed", config("llama", R"("num_key_value_heads":2)"), "full 4 [0-3] k 2x8 v 2x8",
        "import.head_dim_computed");
    add("width null", config("llama", R"("num_key_value_heads":2,"head_dim":null)"), "full 4 [0-3] k 2x8 v 2x8",
        "import.head_dim_computed");
    add("width cannot be computed",
        R"({"model_type":"llama","num_hidden_layers":4,"hidden_size":60,"num_attention_heads":8})",
        "import.inconsistent /hidden_size");
    add("no hidden size", R"({"model_type":"llama","num_hidden_layers":4,"num_attention_heads":8})",
        "import.missing_field /hidden_size");
    add("one head each", config("llama"), "full 4 [0-3] k 8x8 v 8x8",
        "import.kv_heads_default import.head_dim_computed");
    add("heads null", config("llama", R"("num_key_value_heads":null,"head_dim":8)"), "full 4 [0-3] k 8x8 v 8x8",
        "import.kv_heads_default");
    add("multi-query", config("internlm2", R"("multi_query":true,"head_dim":8)"), "full 4 [0-3] k 1x8 v 1x8");
    add("multi-query off", config("internlm2", R"("multi_query":false,"head_dim":8)"), "full 4 [0-3] k 8x8 v 8x8",
        "import.kv_heads_default");
    add("multi-query class", config("gpt_bigcode", R"("head_dim":8)"), "full 4 [0-3] k 1x8 v 1x8",
        "import.kv_heads_class_default");
    add("multi-query class, off", config("gpt_bigcode", R"("multi_query":false,"head_dim":8)"),
        "full 4 [0-3] k 8x8 v 8x8", "import.kv_heads_default");
    add("class default of heads", config("mistral", R"("sliding_window":null)"), "full 4 [0-3] k 8x8 v 8x8",
        "import.kv_heads_class_default import.head_dim_computed");
    add("class default that does not divide", config("gemma", R"("num_key_value_heads":null)"),
        "import.inconsistent /num_key_value_heads");
    add("class default of the width", config("qwen3", R"("num_key_value_heads":2)"), "full 4 [0-3] k 2x128 v 2x128",
        "import.head_dim_class_default");
    add("class default that is not known", config("mixtral"), "import.missing_field /num_key_value_heads");
    add("no query heads", R"({"model_type":"llama","num_hidden_layers":4,"hidden_size":64})",
        "import.missing_field /num_attention_heads");
    add("query heads not needed",
        R"({"model_type":"llama","num_hidden_layers":4,"num_key_value_heads":2,"head_dim":16})",
        "full 4 [0-3] k 2x16 v 2x16");
    add("everything from the class", R"({"model_type":"gemma3","text_config":{"num_hidden_layers":6}})",
        "full 1 [5] k 4x256 v 4x256; sliding 5 [0-4] k 4x256 v 4x256 window 4096",
        "import.window_pattern_default import.window_class_default import.kv_heads_class_default "
        "import.head_dim_class_default");
    add("heads do not divide", config("llama", R"("num_key_value_heads":3,"head_dim":8)"),
        "import.inconsistent /num_key_value_heads");
    add("values of another width", config("llama", R"("num_key_value_heads":2,"head_dim":24,"v_head_dim":16)"),
        "full 4 [0-3] k 2x24 v 2x16");
}

// Fields that go by other names, and in other places.
void HfRulesTest::nameRows()
{
    add("GPT-2 names", R"({"model_type":"gpt2","n_layer":4,"n_embd":64,"n_head":8,"n_positions":32})",
        "full 4 [0-3] k 8x8 v 8x8", "import.kv_heads_default import.head_dim_computed");
    add("num_layers", R"({"model_type":"llama","num_layers":4,"num_key_value_heads":2,"head_dim":8})",
        "full 4 [0-3] k 2x8 v 2x8");
    add("n_layers", R"({"model_type":"llama","n_layers":4,"num_key_value_heads":2,"head_dim":8})",
        "full 4 [0-3] k 2x8 v 2x8");
    add("ChatGLM names",
        config("chatglm", R"("kv_channels":16,"multi_query_attention":true,"multi_query_group_num":2)"),
        "full 4 [0-3] k 2x16 v 2x16");
    add("ChatGLM without groups", config("chatglm", R"("kv_channels":16,"multi_query_attention":true)"),
        "import.missing_field /multi_query_group_num");
    add("ChatGLM without the switch", config("chatglm", R"("kv_channels":16)"), "full 4 [0-3] k 8x16 v 8x16",
        "import.kv_heads_default"); // the first ChatGLM has no such switch
    add("Hunyuan", config("hunyuan_v1_moe", R"("attention_head_dim":16,"num_key_value_heads":2)"),
        "full 4 [0-3] k 2x16 v 2x16");
    add("EXAONE 4, letters",
        config(
            "exaone4", R"("num_key_value_heads":2,"head_dim":16,"sliding_window":64,"sliding_window_pattern":"LLLG")"),
        "full 1 [3] k 2x16 v 2x16; sliding 3 [0-2] k 2x16 v 2x16 window 64");
    add("EXAONE 4, a number",
        config("exaone4", R"("num_key_value_heads":2,"head_dim":16,"sliding_window":64,"sliding_window_pattern":2)"),
        "full 2 [1,3] k 2x16 v 2x16; sliding 2 [0,2] k 2x16 v 2x16 window 64");
    add("EXAONE 4, no window",
        config(
            "exaone4", R"("num_key_value_heads":2,"head_dim":16,"sliding_window":null,"sliding_window_pattern":null)"),
        "full 4 [0-3] k 2x16 v 2x16");
    add("Pangu", config("pangu_ultra_moe", R"("attention_kv_lora_dim":32,"attention_qk_rope_dim":8)"),
        "mla 4 [0-3] latent 1x32 rope 1x8");
    add("DeepSeek without its latent",
        config("deepseek_v2", R"("use_mla":false,"kv_lora_rank":null,"head_dim":16,"v_head_dim":0)"),
        "full 4 [0-3] k 8x16 v 8x16", "import.kv_heads_default");
    // num_layers layers of two attention blocks; num_hidden_layers, where it stands beside, counts the blocks.
    add("LongCat, blocks counted too",
        R"({"model_type":"longcat_flash","num_layers":2,"num_hidden_layers":4,"kv_lora_rank":32,"qk_rope_head_dim":8})",
        "mla 2 [0-1] latent 1x32 rope 1x8 latent_2 1x32 rope_2 1x8");
    add("LongCat with n-grams",
        R"({"model_type":"longcat_flash_ngram","num_layers":2,"kv_lora_rank":32,"qk_rope_head_dim":8})",
        "mla 2 [0-1] latent 1x32 rope 1x8 latent_2 1x32 rope_2 1x8");
    add("recurrent in depth", config("ouro", R"("total_ut_steps":4)"), "import.unsupported /total_ut_steps");
    add("mixers of a class that is not known", config("minicpm_sala", R"("mixer_types":["a"])"),
        "import.unsupported /mixer_types");
    add("diffusion", config("Dream", R"("head_dim":8)"), "import.unsupported /model_type");
    add("first Qwen", config("qwen", R"("kv_channels":16)"), "full 4 [0-3] k 8x16 v 8x16", "import.kv_heads_default");
    add("old Phi name", config("phi-msft", R"("n_head_kv":2,"head_dim":8)"), "full 4 [0-3] k 2x8 v 2x8");
    add("Cohere 2 never reads head_dim",
        config("cohere2", R"("num_key_value_heads":2,"head_dim":99,"sliding_window":null)"), "full 4 [0-3] k 2x8 v 2x8",
        "import.head_dim_computed");
    add("only the text part counts",
        R"({"model_type":"x","num_hidden_layers":99,"head_dim":99,"text_config":)" + shaped("llama") + "}",
        "full 4 [0-3] k 2x8 v 2x8");
    add("llm_config", R"({"model_type":"x","llm_config":)" + shaped("qwen2") + "}", "full 4 [0-3] k 2x8 v 2x8");
    add("text_config null", config("llama", R"("num_key_value_heads":2,"head_dim":16,"text_config":null)"),
        "full 4 [0-3] k 2x16 v 2x16");
    add("text_config a string", config("llama", R"("text_config":"x")"), "json.type /text_config");
    add("draft layers are a note", config("llama", R"("head_dim":8,"num_key_value_heads":2,"mtp_num_hidden_layers":1)"),
        "full 4 [0-3] k 2x8 v 2x8; draft 1 [4] k 2x8 v 2x8", "", "import.draft_layers");
}

void HfRulesTest::numberRows()
{
    const char* const full = "full 4 [0-3] k 2x8 v 2x8";
    add("whole doubles", config("llama", R"("num_key_value_heads":2.0,"head_dim":8e0)"), full);
    add("half a head", config("llama", R"("num_key_value_heads":2.5,"head_dim":8)"), "json.type /num_key_value_heads");
    add("true is no number", config("llama", R"("num_key_value_heads":true,"head_dim":8)"),
        "json.type /num_key_value_heads");
    add("a string is no number", config("llama", R"("num_key_value_heads":"2","head_dim":8)"),
        "json.type /num_key_value_heads");
    add("a list of heads", config("llama", R"("num_key_value_heads":[2,2,2,2],"head_dim":8)"),
        "json.type /num_key_value_heads");
    add("NaN in a field that counts", config("llama", R"("num_key_value_heads":NaN,"head_dim":8)"),
        "json.type /num_key_value_heads");
    add("NaN in a field that does not", config("llama", R"("num_key_value_heads":2,"head_dim":8,"rope_theta":NaN)"),
        full);
    add("0 heads", config("llama", R"("num_key_value_heads":0,"head_dim":8)"), "json.range /num_key_value_heads");
    add("-1 heads", config("llama", R"("num_key_value_heads":-1,"head_dim":8)"), "json.range /num_key_value_heads");
    add("most heads",
        R"({"model_type":"llama","num_hidden_layers":10000,"num_key_value_heads":65536,"head_dim":1000000})",
        "full 10000 [0-9999] k 65536x1000000 v 65536x1000000");
    add("too many heads", R"({"model_type":"llama","num_hidden_layers":4,"num_key_value_heads":65537,"head_dim":8})",
        "json.range /num_key_value_heads");
    add("too many layers", R"({"model_type":"llama","num_hidden_layers":10001,"num_key_value_heads":2,"head_dim":8})",
        "json.range /num_hidden_layers");
    add("0 layers", R"({"model_type":"llama","num_hidden_layers":0,"num_key_value_heads":2,"head_dim":8})",
        "json.range /num_hidden_layers");
    add("no layers", R"({"model_type":"llama","num_key_value_heads":2,"head_dim":8})",
        "import.missing_field /num_hidden_layers");
    add("too wide", config("llama", R"("num_key_value_heads":2,"head_dim":1000001)"), "json.range /head_dim");
    add("beyond 64 bits", config("llama", R"("num_key_value_heads":2,"head_dim":99999999999999999999)"),
        "json.range /head_dim");
    add("positions 0", config("llama", R"("num_key_value_heads":2,"head_dim":8,"max_position_embeddings":0)"),
        "json.range /max_position_embeddings");
    add("nested place of an error",
        R"({"model_type":"x","text_config":)" + config("llama", R"("num_key_value_heads":2,"head_dim":"8")") + "}",
        "json.type /text_config/head_dim");
    add("model_type a number", R"({"model_type":7,"num_hidden_layers":4})", "json.type /model_type");
    add("not an object", "[1]", "import.not_a_config ");
    add("some other JSON", R"({"version":"1.0","added_tokens":[]})", "import.missing_field /num_hidden_layers");
}

void HfRulesTest::rules()
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

void HfRulesTest::elementTypes_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("at"); // of the source

    const auto row = [](const char* name, QByteArray text, const char* type, const char* at) {
        QTest::newRow(name) << text << QString::fromLatin1(type) << QString::fromLatin1(at);
    };
    const auto nested = [](const QByteArray& root, const QByteArray& text) {
        return R"({"model_type":"x","text_config":)" + shaped("llama", text) + (root.isEmpty() ? "" : "," + root) + "}";
    };
    row("torch_dtype", config("llama", R"("torch_dtype":"float16")"), "fp16", "/torch_dtype");
    row("dtype", config("llama", R"("dtype":"float32")"), "fp32", "/dtype");
    row("both", config("llama", R"("dtype":"bfloat16","torch_dtype":"float16")"), "bf16", "/dtype");
    row("long name", config("llama", R"("torch_dtype":"torch.float16")"), "fp16", "/torch_dtype");
    row("text part first", nested(R"("dtype":"float32")", R"("torch_dtype":"float16")"), "fp16",
        "/text_config/torch_dtype");
    row("then the root", nested(R"("dtype":"float32")", ""), "fp32", "/dtype");
    row("absent", config("llama"), "bf16", "assumed");
    row("null", config("llama", R"("torch_dtype":null)"), "bf16", "assumed");
    row("not a type that is computed in", config("llama", R"("torch_dtype":"float8_e4m3fn")"), "bf16", "assumed");
    row("quantised weights decide nothing",
        config("llama", R"("torch_dtype":"float16","quantization_config":{"quant_method":"fp8"})"), "fp16",
        "/torch_dtype");
    row("a number", config("llama", R"("torch_dtype":16)"), "json.type", "/torch_dtype");
}

void HfRulesTest::elementTypes()
{
    QFETCH(QByteArray, text);
    const auto model = importText(text);
    if (!model) {
        QTEST(q(model.error().code), "type");
        QTEST(q(model.error().where.at), "at");
        return;
    }
    QTEST(q(factsOf(model->dtype).name), "type");
    const auto source = model->provenance.find("dtype");
    QVERIFY(source);
    QTEST(source->kind == Source::Kind::File ? q(source->at) : QStringLiteral("assumed"), "at");
    QCOMPARE(assumptionIds(*model).contains(QStringLiteral("import.dtype_default")),
        source->kind == Source::Kind::Assumption);
}

void HfRulesTest::unknownTypes_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("outcome");

    const auto row = [](const char* name, QByteArray text, const char* outcome) {
        QTest::newRow(name) << text << QString::fromLatin1(outcome);
    };
    const auto with = [](const QByteArray& fields) { return shaped("new_thing", fields); };
    const char* const full = "full 4 [0-3] k 2x8 v 2x8";
    row("plain", with(""), full);
    row("no model_type", R"({"vocab_size":256,"num_hidden_layers":4,"num_key_value_heads":2,"head_dim":8})", full);
    row("no vocabulary", R"({"model_type":"new_thing","num_hidden_layers":4,"num_attention_heads":2,"hidden_size":8})",
        "import.unsupported /model_type");
    row("no vocabulary, no model_type", R"({"num_hidden_layers":4,"num_attention_heads":2,"hidden_size":8})",
        "import.unsupported /vocab_size");
    row("with layer_types", with(R"("sliding_window":16,)" + layerTypes("fsff")),
        "full 3 [0,2-3] k 2x8 v 2x8; sliding 1 [1] k 2x8 v 2x8 window 16");
    row("latent", config("new_thing", R"("kv_lora_rank":32,"qk_rope_head_dim":4,"qk_nope_head_dim":8)"),
        "mla 4 [0-3] latent 1x32 rope 1x4");
    row("a generating class", with(R"("architectures":["NewThingForCausalLM"])"), full);
    row("an encoder", with(R"("architectures":["BertForMaskedLM"])"), "import.unsupported /architectures/0");
    row("a window for nobody knows which layers", with(R"("sliding_window":16)"), "import.unsupported /sliding_window");
    row("a pattern", with(R"("sliding_window":16,"sliding_window_pattern":4)"),
        "import.unsupported /sliding_window_pattern");
    row("other heads", with(R"("num_attention_groups":2)"), "import.unsupported /num_attention_groups");
    row("other heads, nested", with(R"("attn_config":{"kv_n_heads":2})"), "import.unsupported /attn_config");
    row("shared heads", with(R"("n_shared_head":4)"), "import.unsupported /n_shared_head");
    row("other width", with(R"("kv_channels":16)"), "import.unsupported /kv_channels");
    row("parts without a latent", with(R"("qk_nope_head_dim":8)"), "import.unsupported /qk_nope_head_dim");
}

void HfRulesTest::unknownTypes()
{
    QFETCH(QByteArray, text);
    const auto model = importText(text);
    QTEST(outcome(model), "outcome");
    if (model)
        QVERIFY(diagnosticIds(*model).startsWith(QStringLiteral("import.unknown_model_type!")));
}

QTEST_APPLESS_MAIN(HfRulesTest)
#include "tst_hf_rules.moc"
