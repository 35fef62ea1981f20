// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "spec_text.h"

#include <QTest>

using namespace kvw;
using namespace kvw::test;

// Layers of recurrent and convolution state: small files with the keys of the families' own, and the shapes that the
// engines allocate for them (convolution: kernel − 1 inputs).
class HfLinearTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void states_data();
    void states();
    void published_data();
    void published();
    void elementTypes();

private:
    static void row(const char* name, const QByteArray& text, const QString& outcome);
    static void deltaRows();
    static void mambaRows();
    static void otherRows();
    static void refusedRows();
};

void HfLinearTest::row(const char* name, const QByteArray& text, const QString& outcome)
{
    QTest::newRow(name) << text << outcome;
}

void HfLinearTest::states_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("outcome");
    deltaRows();
    mambaRows();
    otherRows();
    refusedRows();
}

void HfLinearTest::deltaRows()
{
    const QByteArray delta = R"("linear_num_key_heads":2,"linear_num_value_heads":4,"linear_key_head_dim":8,)"
                             R"("linear_value_head_dim":16,"linear_conv_kernel_dim":4)";
    row("Gated DeltaNet, interval", shaped("qwen3_next", delta + R"(,"full_attention_interval":2)"),
        QStringLiteral("full 2 [1,3] k 2x8, v 2x8; gated_delta_net 2 [0,2] conv 2x48 3 (fixed) bf16, state 4x128 1 "
                       "(fixed) bf16"));
    row("Gated DeltaNet, list and fp32",
        "{\"model_type\":\"qwen3_5\",\"text_config\":"
            + shaped("qwen3_5_text",
                delta
                    + R"(,"mamba_ssm_dtype":"float32","mtp_num_hidden_layers":1,"layer_types":["full_attention",)"
                      R"("linear_attention","linear_attention","linear_attention"])")
            + "}",
        QStringLiteral(
            "full 1 [0] k 2x8, v 2x8; gated_delta_net 3 [1-3] conv 2x48 3 (fixed) bf16, state 4x128 1 (fixed) "
            "fp32; draft 1 [4] k 2x8, v 2x8 speculation"));
    row("Gated DeltaNet, only class defaults", config("qwen3_next"),
        QStringLiteral(
            "full 1 [3] k 2x256, v 2x256; gated_delta_net 3 [0-2] conv 16x512 3 (fixed) bf16, state 32x16384 1 "
            "(fixed) bf16"));
    const QByteArray kda = R"("kv_lora_rank":32,"qk_rope_head_dim":4,"head_dim":9,"linear_attn_config":{"num_heads":4,)"
                           R"("head_dim":8,"short_conv_kernel_size":4,)";
    const QString kdaText = QStringLiteral(
        "mla 1 [3] latent 1x32, rope 1x4; kda 3 [0-2] conv 4x24 3 (fixed) bf16, state 4x64 1 (fixed) fp32");
    row("KDA, both lists", config("kimi_linear", kda + R"("kda_layers":[1,2,3],"full_attn_layers":[4]})"), kdaText);
    row("KDA, one list", config("kimi_linear", kda + R"("kda_layers":[3,2,1]})"), kdaText);
    row("KDA, the other list", config("kimi_linear", kda + R"("full_attn_layers":[4]})"), kdaText);
    row("KDA and sparse latents of a class",
        "{\"model_type\":\"glm5_next\",\"text_config\":"
            + config("glm5_next_text",
                R"("kv_lora_rank":32,"qk_rope_head_dim":0,"index_head_dim":16,"index_kpool":4,"linear_num_heads":4,)"
                R"("linear_head_dim":8,"linear_conv_kernel_dim":4)")
            + "}",
        QStringLiteral("mla_sparse 1 [3] latent 1x32, index 1x16; kda 3 [0-2] conv 4x24 3 (fixed) bf16, state 4x64 1 "
                       "(fixed) fp32"));
}

void HfLinearTest::mambaRows()
{
    const QByteArray mamba2
        = R"("mamba_num_heads":4,"mamba_head_dim":8,"n_groups":2,"ssm_state_size":16,"conv_kernel":4)";
    const QString mamba2Text
        = QStringLiteral("conv 4x8 3 (fixed) bf16, conv_bc 2x32 3 (fixed) bf16, state 4x128 1 (fixed) ");
    row("Nemotron-H, letters",
        shaped(
            "nemotron_h", mamba2 + R"(,"expand":2,"hybrid_override_pattern":"M*E-","mamba_ssm_cache_dtype":"float32")"),
        QStringLiteral("full 1 [1] k 2x8, v 2x8; mamba2 1 [0] ") + mamba2Text + QStringLiteral("fp32"));
    row("Nemotron-H, list, number of layers not stated",
        R"({"model_type":"nemotron_h","hidden_size":64,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":8,)"
            + mamba2
            + R"(,"layers_block_type":["mamba","moe","attention"],"num_nextn_predict_layers":1,)"
              R"("mtp_layers_block_type":["attention","moe"]})",
        QStringLiteral("full 1 [2] k 2x8, v 2x8; mamba2 1 [0] ") + mamba2Text
            + QStringLiteral("bf16; draft 1 [3] k 2x8, v 2x8 speculation"));
    row("Nemotron-H, letters alone",
        R"({"model_type":"nemotron_h","hidden_size":64,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":8,)"
            + mamba2 + R"(,"hybrid_override_pattern":"*-*"})",
        QStringLiteral("full 2 [0,2] k 2x8, v 2x8"));
    row("Granite 4",
        shaped("granitemoehybrid",
            R"("mamba_n_heads":4,"mamba_d_head":"auto","mamba_expand":2,"mamba_n_groups":1,"mamba_d_state":16,)"
            R"("mamba_d_conv":4,"layer_types":["mamba","attention","mamba","mamba"])"),
        QStringLiteral(
            "full 1 [1] k 2x8, v 2x8; mamba2 3 [0,2-3] conv 4x32 3 (fixed) bf16, conv_bc 1x32 3 (fixed) bf16, "
            "state 4x512 1 (fixed) bf16"));
    const QByteArray h1 = R"("mamba_n_heads":4,"mamba_n_groups":1,"mamba_d_state":16,"mamba_d_conv":4,"mamba_d_ssm":)";
    row("Falcon-H1", shaped("falcon_h1", h1 + "32"),
        QStringLiteral(
            "full 4 [0-3] k 2x8, v 2x8; mamba2 4 [0-3] conv 4x8 3 (fixed) bf16, conv_bc 1x32 3 (fixed) bf16, "
            "state 4x128 1 (fixed) bf16"));
    row("Falcon-H1, inner size from the hidden size", shaped("falcon_h1", h1 + "null"),
        QStringLiteral(
            "full 4 [0-3] k 2x8, v 2x8; mamba2 4 [0-3] conv 4x32 3 (fixed) bf16, conv_bc 1x32 3 (fixed) bf16, "
            "state 4x512 1 (fixed) bf16"));
    row("Bamba",
        shaped("bamba",
            R"("mamba_n_heads":4,"mamba_d_head":32,"mamba_n_groups":1,"mamba_d_state":16,"attn_layer_indices":[2])"),
        QStringLiteral(
            "full 1 [2] k 2x8, v 2x8; mamba2 3 [0-1,3] conv 4x32 3 (fixed) bf16, conv_bc 1x32 3 (fixed) bf16, "
            "state 4x512 1 (fixed) bf16"));
    row("Zamba 2: each call of the one attention block keeps its own",
        config("zamba2",
            R"("n_mamba_heads":4,"mamba_ngroups":1,"mamba_d_state":16,"layers_block_type":["mamba","hybrid","mamba","hybrid"])"),
        QStringLiteral(
            "full 2 [1,3] k 8x16, v 8x16; mamba2 4 [0-3] conv 4x32 3 (fixed) bf16, conv_bc 1x32 3 (fixed) bf16, "
            "state 4x512 1 (fixed) bf16"));
    row("Jamba", shaped("jamba", R"("attn_layer_period":2,"attn_layer_offset":1,"mamba_d_state":4,"mamba_expand":2)"),
        QStringLiteral(
            "full 2 [1,3] k 2x8, v 2x8; mamba1 2 [0,2] conv 128x1 3 (fixed) bf16, state 128x4 1 (fixed) bf16"));
    row("Mamba", config("mamba", R"("state_size":4,"conv_kernel":4,"intermediate_size":96,"expand":2)"),
        QStringLiteral("mamba1 4 [0-3] conv 96x1 3 (fixed) bf16, state 96x4 1 (fixed) bf16"));
    row("Mamba 2",
        config("mamba2", R"("num_heads":4,"head_dim":32,"n_groups":1,"state_size":16,"conv_kernel":4,"expand":2)"),
        QStringLiteral(
            "mamba2 4 [0-3] conv 4x32 3 (fixed) bf16, conv_bc 1x32 3 (fixed) bf16, state 4x512 1 (fixed) bf16"));
}

void HfLinearTest::otherRows()
{
    const QString conv = QStringLiteral("full 1 [1] k 2x8, v 2x8; short_conv 3 [0,2-3] conv 64x1 2 (fixed) bf16");
    row("LFM2, numbers", shaped("lfm2", R"("conv_L_cache":3,"conv_bias":false,"full_attn_idxs":[1])"), conv);
    row("LFM2, list", shaped("lfm2_moe", R"("conv_L_cache":3,"layer_types":["conv","full_attention","conv","conv"])"),
        conv);
    row("Lightning, flags", shaped("minimax_text_01", R"("attn_type_list":[0,0,0,1])"),
        QStringLiteral("full 1 [3] k 2x8, v 2x8; lightning 3 [0-2] state 8x64 1 (fixed) bf16"));
    row("Lightning, class", shaped("minimax"),
        QStringLiteral("full 2 [0,2] k 2x8, v 2x8; lightning 2 [1,3] state 8x64 1 (fixed) bf16"));
    row("RWKV 5", config("rwkv5", R"("head_size":8)"),
        QStringLiteral("rwkv 4 [0-3] shift 1x64 2 (fixed) bf16, state 8x64 1 (fixed) fp32"));
    row("RWKV 4", config("rwkv", R"("attention_hidden_size":32)"),
        QStringLiteral("rwkv 4 [0-3] shift 1x64 2 (fixed) bf16, state 1x32 3 (fixed) fp32"));
    row("RecurrentGemma",
        config("recurrent_gemma",
            R"("num_key_value_heads":1,"attention_window_size":16,"lru_width":48,"conv1d_width":4,)"
            R"("block_types":["recurrent","recurrent","attention"])"),
        QStringLiteral(
            "sliding 1 [2] k 1x8 min(v, 16), v 1x8 min(v, 16); rg_lru 3 [0-1,3] conv 1x48 3 (fixed) bf16, state "
            "1x48 1 (fixed) fp32"));
}

void HfLinearTest::refusedRows()
{
    const auto refuse = [](const char* name, const QByteArray& text, const char* outcome) {
        row(name, text, QString::fromLatin1(outcome));
    };
    refuse("value heads not for each key head",
        shaped("qwen3_next", R"("linear_num_key_heads":3,"linear_num_value_heads":4)"),
        "import.inconsistent /linear_num_value_heads");
    refuse("heads missing", shaped("qwen3_5_text", R"("linear_key_head_dim":8)"),
        "import.missing_field /linear_num_key_heads");
    refuse("heads 1e30", shaped("qwen3_next", R"("linear_num_key_heads":1e30)"), "json.range /linear_num_key_heads");
    refuse("a matrix of a head beyond reason",
        shaped("qwen3_next", R"("linear_key_head_dim":100000,"linear_value_head_dim":100000)"),
        "json.range /linear_value_head_dim");
    refuse("state type not known",
        shaped("nemotron_h", R"("hybrid_override_pattern":"MMMM","mamba_ssm_cache_dtype":"int3")"),
        "import.unsupported /mamba_ssm_cache_dtype");
    refuse("a letter that is not known", shaped("nemotron_h", R"("hybrid_override_pattern":"MMMX")"),
        "import.unsupported /hybrid_override_pattern");
    refuse("too few letters", shaped("nemotron_h", R"("hybrid_override_pattern":"MMM")"),
        "import.inconsistent /hybrid_override_pattern");
    refuse("no pattern", shaped("nemotron_h"), "import.missing_field /layer_types");
    const QByteArray kda = R"("kv_lora_rank":32,"qk_rope_head_dim":4,"linear_attn_config":{"num_heads":4,)"
                           R"("head_dim":8,"short_conv_kernel_size":4,)";
    refuse("KDA, counted from 0", config("kimi_linear", kda + R"("kda_layers":[0,1,2],"full_attn_layers":[3]})"),
        "json.range /linear_attn_config/kda_layers/0");
    refuse("KDA, a layer twice", config("kimi_linear", kda + R"("kda_layers":[1,2,4],"full_attn_layers":[4]})"),
        "import.inconsistent /linear_attn_config");
    refuse("KDA, a layer left out", config("kimi_linear", kda + R"("kda_layers":[1,2],"full_attn_layers":[4]})"),
        "import.inconsistent /linear_attn_config");
    refuse("KDA, no list", config("kimi_linear", kda + R"("kda_layers":null})"),
        "import.missing_field /linear_attn_config");
    refuse("KDA, heads missing",
        config("kimi_linear", R"("kv_lora_rank":32,"qk_rope_head_dim":4,"linear_attn_config":{"kda_layers":[1]})"),
        "import.missing_field /linear_attn_config");
    refuse("an offset beyond the period", shaped("jamba", R"("attn_layer_period":2,"attn_layer_offset":2)"),
        "json.range /attn_layer_offset");
    refuse("a mixer in a class without", shaped("llama", R"("layer_types":["mamba","mamba","mamba","mamba"])"),
        "import.unsupported /layer_types/0");
    refuse("a flag 2", shaped("minimax_text_01", R"("attn_type_list":[0,0,2,1])"), "json.range /attn_type_list/2");
    refuse("RWKV heads", config("rwkv6", R"("head_size":7)"), "import.inconsistent /head_size");
    refuse("nothing that keeps state", shaped("nemotron_h", R"("hybrid_override_pattern":"EEE-")"),
        "import.unsupported /hybrid_override_pattern");
}

void HfLinearTest::states()
{
    QFETCH(QByteArray, text);
    QTEST(stateOutcome(importText(text)), "outcome");
}

void HfLinearTest::published_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<qint64>("convolution"); // elements of a layer
    QTest::addColumn<qint64>("recurrent");
    QTest::addColumn<qint64>("bytes"); // of all layers, fixed

    const auto add = [](const char* name, const QByteArray& text, qint64 convolution, qint64 recurrent, qint64 bytes) {
        QTest::newRow(name) << text << convolution << recurrent << bytes;
    };
    add("Qwen3.8-27B",
        R"({"model_type":"qwen3_5_text","dtype":"bfloat16","num_hidden_layers":64,"hidden_size":5120,)"
        R"("num_attention_heads":24,"num_key_value_heads":4,"head_dim":256,"full_attention_interval":4,)"
        R"("linear_num_key_heads":16,"linear_num_value_heads":48,"linear_key_head_dim":128,)"
        R"("linear_value_head_dim":128,"linear_conv_kernel_dim":4,"mamba_ssm_dtype":"float32"})",
        30'720, 786'432, 153'944'064);
    QByteArray kda, full;
    for (int layer = 1; layer <= 93; ++layer) {
        const bool isFull = layer % 4 == 0 || layer == 93;
        QByteArray& list = isFull ? full : kda;
        list += (list.isEmpty() ? "" : ",") + QByteArray::number(layer);
    }
    add("Kimi K3",
        R"({"model_type":"kimi_linear","dtype":"bfloat16","num_hidden_layers":93,"hidden_size":7168,)"
        R"("num_attention_heads":96,"kv_lora_rank":512,"qk_rope_head_dim":64,"linear_attn_config":{"num_heads":96,)"
        R"("head_dim":128,"short_conv_kernel_size":4,"kda_layers":[)"
            + kda + "],\"full_attn_layers\":[" + full + "]}}",
        110'592, 1'572'864, 449'372'160);
}

// Fixed bytes of published tables of these models.
void HfLinearTest::published()
{
    QFETCH(QByteArray, text);
    const auto model = importText(text);
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    std::int64_t bytes = 0;
    for (const LayerGroup& group : model->groups) {
        if (group.kind != LayerKind::Recurrent)
            continue;
        for (const StateTensor& tensor : group.tensors) {
            const std::int64_t elements = tensor.growth.entries * tensor.heads * tensor.width;
            if (tensor.role == TensorRole::ConvolutionState)
                QTEST(qint64 {elements}, "convolution");
            else
                QTEST(qint64 {elements}, "recurrent");
            bytes += group.layers * tensor.growth.entries * tensor.heads * rowBytes(tensor.elementType, tensor.width);
        }
    }
    QTEST(qint64 {bytes}, "bytes");
}

// The state's type is the file's or the class's; the cache's own never decides it.
void HfLinearTest::elementTypes()
{
    const auto types = [](const QByteArray& fields) {
        const auto model = importText(shaped("qwen3_next", fields));
        QStringList out;
        for (const StateTensor& tensor : model->groups.at(1).tensors) {
            const auto source = model->provenance.find("groups.gated_delta_net.tensors." + tensor.id + ".elementType");
            out += q(factsOf(tensor.elementType).name) + u' ' + (source ? q(source->at) : QStringLiteral("?"));
        }
        return out.join(QStringLiteral(", "));
    };
    QCOMPARE(types(R"("dtype":"float16","mamba_ssm_dtype":"float32")"),
        QStringLiteral("fp16 /dtype, fp32 /mamba_ssm_dtype"));
    QCOMPARE(types(R"("torch_dtype":"float16")"), QStringLiteral("fp16 /torch_dtype, fp16 /mamba_ssm_dtype"));
    const auto model = importText(shaped("qwen3_next", R"("dtype":"float16")"));
    QVERIFY(assumptionIds(*model).contains(QStringLiteral("import.state_type_default")));
}

QTEST_APPLESS_MAIN(HfLinearTest)
#include "tst_hf_linear.moc"
