// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "spec_text.h"

#include <QTest>

using namespace kvw;
using namespace kvw::test;

namespace {

QByteArray nested(const char* rootType, const QByteArray& text)
{
    return QByteArray("{\"model_type\":\"") + rootType + "\",\"text_config\":" + text + "}";
}

struct StateField
{
    const char* name;
    const char* value; ///< as a file would have it
};

// Every field that is known to stand for state which plain attention does not have.
const StateField stateFields[] = {{"cross_attention_layers", "[1,3]"}, {"hybrid_override_pattern", "\"M*M*\""},
    {"hybrid_layer_pattern", "[0,1,1,1]"}, {"some_new_layer_pattern", "\"LLLG\""}, {"layers_block_type", "[\"mamba\"]"},
    {"mtp_layers_block_type", "[\"attention\"]"}, {"attn_layer_period", "8"}, {"full_attn_idxs", "[2]"},
    {"layer_group_size", "8"}, {"block_configs", "[{}]"}, {"linear_attn_config", "{\"kda_layers\":[1]}"},
    {"linear_num_key_heads", "16"}, {"linear_conv_kernel_dim", "4"}, {"full_attention_interval", "4"},
    {"mamba_d_state", "128"}, {"mamba_num_heads", "64"}, {"ssm_state_size", "128"}, {"rwkv_head_size", "64"},
    {"conv_L_cache", "3"}, {"compress_ratios", "[0,4]"}, {"compress_rates", "{\"a\":4}"}, {"index_topk", "2048"},
    {"index_head_dim", "128"}, {"indexer_types", "[\"full\"]"}, {"attn_type_list", "[1,1,0,1]"},
    {"sparse_attention_config", "{\"topk\":16}"}, {"attention_chunk_size", "8192"}, {"num_kv_shared_layers", "2"},
    {"global_head_dim", "512"}, {"num_global_key_value_heads", "4"}, {"attention_k_eq_v", "true"},
    {"swa_num_key_value_heads", "8"}, {"add_cross_attention", "true"}, {"is_encoder_decoder", "true"},
    {"use_bidirectional_attention", "true"}};

} // namespace

class HfRefusedTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void families_data();
    void families();
    void fields();
    void neutralValues();
    void otherParts();
    void messages();

private:
    void attentionRows();
    void recurrentRows();
    static void row(const char* name, const QByteArray& text, const char* at);
};

// The families whose state is left for later, by the fields that their published files have.
void HfRefusedTest::families_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("at");
    attentionRows();
    recurrentRows();
}

void HfRefusedTest::row(const char* name, const QByteArray& text, const char* at)
{
    QTest::newRow(name) << text << QString::fromLatin1(at);
}

// Attention, but not the plain one.
void HfRefusedTest::attentionRows()
{
    row("Llama 4", nested("llama4", shaped("llama4_text", R"("attention_chunk_size":8192)")),
        "/text_config/attention_chunk_size");
    row("Llama 4, chunk from its class", nested("llama4", shaped("llama4_text")), "/text_config/model_type");
    row("DeepSeek V3.2",
        shaped("deepseek_v32", R"("kv_lora_rank":512,"qk_rope_head_dim":64,"index_head_dim":128,"index_topk":2048)"),
        "/index_topk");
    row("GLM-5", shaped("glm_moe_dsa", R"("kv_lora_rank":512,"qk_rope_head_dim":64,"index_topk":2048)"), "/index_topk");
    row("DeepSeek V4", shaped("deepseek_v4", R"("compress_ratios":[0,0,4,128],"index_topk":512,"sliding_window":128)"),
        "/compress_ratios");
    row("DeepSeek V4, new form", shaped("deepseek_v4", R"("compress_rates":{"compressed_sparse_attention":4})"),
        "/compress_rates");
    row("DeepSeek V4.1", nested("deepseek_v41", shaped("deepseek_v41_text", R"("compress_ratios":[0,0,2,1])")),
        "/text_config/compress_ratios");
    row("Nemotron-NAS", shaped("nemotron-nas", R"("block_configs":[{"attention":{"no_op":true}}])"), "/block_configs");
    row("Gemma 4",
        nested("gemma4",
            shaped("gemma4_text", R"("global_head_dim":512,"attention_k_eq_v":true,"num_kv_shared_layers":0)")),
        "/text_config/global_head_dim");
    row("Gemma 4, K and V in one", shaped("gemma4_text", R"("attention_k_eq_v":true)"), "/attention_k_eq_v");
    row("Gemma 3n", nested("gemma3n", shaped("gemma3n_text", R"("num_kv_shared_layers":15,"sliding_window":512)")),
        "/text_config/num_kv_shared_layers");
    row("Gemma 3n, nothing stated", nested("gemma3n", shaped("gemma3n_text")), "/text_config/model_type");
    row("MiniMax M3", shaped("minimax_m3", R"("sparse_attention_config":{"sparse_topk_blocks":16})"),
        "/sparse_attention_config");
    row("MiMo-V2",
        shaped("mimo_v2_flash", R"("hybrid_layer_pattern":[0,1,1,1],"swa_head_dim":192,"attention_chunk_size":128)"),
        "/hybrid_layer_pattern");
    row("Mllama", nested("mllama", shaped("mllama_text_model", R"("cross_attention_layers":[1,3])")),
        "/text_config/cross_attention_layers");
    row("Whisper", shaped("whisper", R"("is_encoder_decoder":true,"decoder_layers":4)"), "/is_encoder_decoder");
    row("T5", shaped("t5", R"("is_encoder_decoder":true)"), "/is_encoder_decoder");
    row("an unknown encoder-decoder", shaped("new_thing", R"("is_encoder_decoder":true)"), "/is_encoder_decoder");
    row("LongCat", shaped("longcat_flash", R"("kv_lora_rank":512,"qk_rope_head_dim":64)"), "/model_type");
    row("MiniCPM 3", shaped("minicpm3", R"("kv_lora_rank":256,"qk_rope_head_dim":32)"), "/model_type");
}

// Layers that keep recurrent or convolution state.
void HfRefusedTest::recurrentRows()
{
    row("Qwen3-Next", shaped("qwen3_next", R"("full_attention_interval":4,"linear_num_value_heads":32)"),
        "/linear_num_value_heads");
    row("Qwen3-Next, abridged", shaped("qwen3_next"), "/model_type");
    row("Qwen3.5",
        nested("qwen3_5",
            shaped("qwen3_5_text", R"("linear_key_head_dim":128,"layer_types":["linear_attention","full_attention"])")),
        "/text_config/linear_key_head_dim");
    row("Nemotron-H", shaped("nemotron_h", R"("hybrid_override_pattern":"MEM*","mamba_num_heads":64)"),
        "/hybrid_override_pattern");
    row("Nemotron-H, list", shaped("nemotron_h", R"("layers_block_type":["mamba","moe","mamba","attention"])"),
        "/layers_block_type");
    row("Kimi-Linear", shaped("kimi_linear", R"("kv_lora_rank":512,"linear_attn_config":{"kda_layers":[1,2,3]})"),
        "/linear_attn_config");
    row("Kimi K3", nested("kimi_k3", shaped("kimi_linear", R"("linear_attn_config":{"kda_layers":[1,2,3]})")),
        "/text_config/linear_attn_config");
    row("MiniMax Text-01", shaped("minimax_text_01", R"("attn_type_list":[0,0,0,1])"), "/attn_type_list");
    row("GLM-5.3 Flash", nested("glm5_next", shaped("glm5_next_text", R"("linear_num_heads":64)")),
        "/text_config/linear_num_heads");
    row("Jamba", shaped("jamba", R"("attn_layer_period":8,"mamba_d_state":16)"), "/attn_layer_period");
    row("Granite 4", shaped("granitemoehybrid", R"("mamba_d_state":128,"layer_types":["mamba","attention"])"),
        "/mamba_d_state");
    row("Falcon-H1", shaped("falcon_h1", R"("mamba_d_ssm":1536)"), "/mamba_d_ssm");
    row("LFM2", shaped("lfm2", R"("conv_L_cache":3,"full_attn_idxs":[2])"), "/full_attn_idxs");
    row("RWKV", shaped("rwkv5"), "/model_type");
    row("Mamba", shaped("mamba2"), "/model_type");
    row("Zamba 2", shaped("zamba2"), "/model_type");
}

void HfRefusedTest::families()
{
    QFETCH(QByteArray, text);
    const auto model = importText(text);
    QVERIFY2(!model.ok(), model.ok() ? qPrintable(groupsText(*model)) : "");
    QCOMPARE(model.error().code, std::string("import.unsupported"));
    QTEST(q(model.error().where.at), "at");
    QVERIFY(!model.error().found.empty());
}

void HfRefusedTest::fields()
{
    for (const char* type : {"new_thing", "llama", "gemma3_text"}) {
        QVERIFY(importText(shaped(type)).ok());
        for (const StateField& field : stateFields) {
            const QByteArray member = QByteArray("\"") + field.name + "\":" + field.value;
            const QString expected = QStringLiteral("import.unsupported /") + QLatin1String(field.name);
            QCOMPARE(outcome(importText(shaped(type, member))), expected);
            QCOMPARE(outcome(importText(nested("x", shaped(type, member)))),
                QString(expected).replace(QStringLiteral(" /"), QStringLiteral(" /text_config/")));
        }
    }
}

// A field that is there but says "none" refuses nothing.
void HfRefusedTest::neutralValues()
{
    for (const StateField& field : stateFields) {
        for (const char* value : {"null", "false", "0", "0.0", "\"\"", "[]", "{}"}) {
            const QByteArray text = shaped("llama", QByteArray("\"") + field.name + "\":" + value);
            QCOMPARE(outcome(importText(text)), QStringLiteral("full 4 [0-3] k 2x8 v 2x8"));
        }
    }
    // MiniMax M2 states that all its layers are softmax attention.
    QCOMPARE(outcome(importText(shaped("minimax_m2", R"("attn_type_list":[1,1,1,1])"))),
        QStringLiteral("full 4 [0-3] k 2x8 v 2x8"));
}

void HfRefusedTest::otherParts()
{
    // The root counts too; the vision and audio parts do not: they keep no state between steps.
    const QByteArray text = shaped("llama");
    QCOMPARE(outcome(importText(R"({"model_type":"x","num_kv_shared_layers":2,"text_config":)" + text + "}")),
        QStringLiteral("import.unsupported /num_kv_shared_layers"));
    QCOMPARE(outcome(importText(R"({"model_type":"mllama","text_config":)" + text + "}")),
        QStringLiteral("import.unsupported /model_type"));
    QCOMPARE(
        outcome(importText(
            R"({"audio_config":{"attention_chunk_size":12},"vision_config":{"ssm_a":1},"text_config":)" + text + "}")),
        QStringLiteral("full 4 [0-3] k 2x8 v 2x8"));
}

void HfRefusedTest::messages()
{
    const auto model = importText(shaped("deepseek_v32", R"("index_topk":2048)"));
    QCOMPARE(q(model.error().text()),
        QStringLiteral(
            "t/config.json: /index_topk: model type \"deepseek_v32\" keeps state that cannot be read yet: keys "
            "of a sparse indexer; found 2048"));
}

QTEST_APPLESS_MAIN(HfRefusedTest)
#include "tst_hf_refused.moc"
