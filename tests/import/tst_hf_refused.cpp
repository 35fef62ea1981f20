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
    void typeRows();
    static void row(const char* name, const QByteArray& text, const char* at);
};

// What no family reads, by the fields that published files have.
void HfRefusedTest::families_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("at");
    attentionRows();
    typeRows();
}

void HfRefusedTest::row(const char* name, const QByteArray& text, const char* at)
{
    QTest::newRow(name) << text << QString::fromLatin1(at);
}

// Fields that stand for state, in families that do not read them.
void HfRefusedTest::attentionRows()
{
    row("a latent's indexer in a class without",
        config("deepseek_v3", R"("kv_lora_rank":512,"qk_rope_head_dim":64,"index_topk":2048)"), "/index_topk");
    row("compressed entries in a class without", shaped("deepseek_v32", R"("compress_ratios":[0,0,4,128])"),
        "/compress_ratios");
    row("chunks in a class without", shaped("mistral", R"("attention_chunk_size":128)"), "/attention_chunk_size");
    row("shared layers in a class without", shaped("gemma3_text", R"("num_kv_shared_layers":2)"),
        "/num_kv_shared_layers");
    row("attention that is not causal", shaped("gemma3_text", R"("use_bidirectional_attention":true)"),
        "/use_bidirectional_attention");
    row("a decoder that reads an encoder", shaped("gpt2", R"("add_cross_attention":true)"), "/add_cross_attention");
    row("recurrent layers in a class without", shaped("qwen3", R"("linear_num_key_heads":2)"), "/linear_num_key_heads");
    row("blocks of another search", shaped("llama", R"("block_configs":[{"attention":{"no_op":true}}])"),
        "/block_configs");
    row("an unknown hybrid", shaped("new_thing", R"("mamba_d_state":16)"), "/mamba_d_state");
    row("an unknown encoder-decoder", shaped("new_thing", R"("is_encoder_decoder":true)"), "/is_encoder_decoder");
    row("an unknown pattern", nested("new_thing", shaped("new_text", R"("some_layer_pattern":"LLLG")")),
        "/text_config/some_layer_pattern");
}

// Types that generate no text of their own.
void HfRefusedTest::typeRows()
{
    row("a vision transformer",
        R"({"model_type":"vit","num_hidden_layers":12,"hidden_size":768,"num_attention_heads":12,)"
        R"("image_size":224,"patch_size":16})",
        "/model_type");
    row("an encoder", config("bert"), "/model_type");
    row("another encoder", config("xlm-roberta-xl"), "/model_type");
    row("two towers",
        R"({"model_type":"clip","text_config":{"vocab_size":49408,"num_hidden_layers":12,)"
        R"("hidden_size":512,"num_attention_heads":8}})",
        "/model_type");
    row("a composed model", R"({"model_type":"vision-encoder-decoder","decoder":{"model_type":"gpt2"}})",
        "/model_type");
    row("not known, without a vocabulary",
        R"({"model_type":"new_vision","num_hidden_layers":12,"hidden_size":768,"num_attention_heads":12,"image_size":224})",
        "/model_type");
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
    QCOMPARE(
        outcome(importText(
            R"({"audio_config":{"attention_chunk_size":12},"vision_config":{"ssm_a":1},"text_config":)" + text + "}")),
        QStringLiteral("full 4 [0-3] k 2x8 v 2x8"));
}

void HfRefusedTest::messages()
{
    const auto model = importText(shaped("deepseek_v2", R"("index_topk":2048)"));
    QCOMPARE(q(model.error().text()),
        QStringLiteral(
            "t/config.json: /index_topk: model type \"deepseek_v2\" keeps state that cannot be read yet: keys "
            "of a sparse indexer; found 2048"));
    QCOMPARE(q(importText(config("vit")).error().text()),
        QStringLiteral(
            "t/config.json: /model_type: this model type cannot be planned: it generates no text: no state is "
            "kept between steps; found \"vit\""));
}

QTEST_APPLESS_MAIN(HfRefusedTest)
#include "tst_hf_refused.moc"
