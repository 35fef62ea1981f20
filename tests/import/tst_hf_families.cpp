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

} // namespace

// Families whose layers are not all of one plain shape: small files with the keys of the families' own.
class HfFamiliesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void states_data();
    void states();
    void aliases_data();
    void aliases();
    void publishedBytes_data();
    void publishedBytes();
    void crossTokens();
    void assumedParts();

private:
    static void row(const char* name, const QByteArray& text, const QString& outcome);
    static void chunkRows();
    static void shapeRows();
    static void sharedRows();
    static void indexRows();
    static void compressedRows();
    static void crossRows();
    static void draftRows();
};

void HfFamiliesTest::row(const char* name, const QByteArray& text, const QString& outcome)
{
    QTest::newRow(name) << text << outcome;
}

void HfFamiliesTest::states_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("outcome");
    chunkRows();
    shapeRows();
    sharedRows();
    indexRows();
    compressedRows();
    crossRows();
    draftRows();
}

void HfFamiliesTest::chunkRows()
{
    const auto text = [](const char* full, const char* chunked, const char* chunk) {
        return QStringLiteral("full %1 k 2x8, v 2x8; chunked %2 k 2x8 ((v − 1) mod %3) + 1, v 2x8 ((v − 1) mod %3) + 1")
            .arg(QLatin1String(full), QLatin1String(chunked), QLatin1String(chunk));
    };
    row("Llama 4", nested("llama4", shaped("llama4_text", R"("attention_chunk_size":32)")),
        text("1 [3]", "3 [0-2]", "32"));
    row("Llama 4, chunk of the class", nested("llama4", shaped("llama4_text")), text("1 [3]", "3 [0-2]", "8192"));
    row("Llama 4, flags", shaped("llama4_text", R"("attention_chunk_size":32,"no_rope_layers":[1,0,1,0])"),
        text("2 [1,3]", "2 [0,2]", "32"));
    row("Llama 4, no flags", shaped("llama4_text", R"("attention_chunk_size":32,"no_rope_layers":[])"),
        text("1 [3]", "3 [0-2]", "32"));
    row("Llama 4, interval", shaped("llama4_text", R"("attention_chunk_size":32,"no_rope_layer_interval":2)"),
        text("2 [1,3]", "2 [0,2]", "32"));
    row("Llama 4, list", shaped("llama4_text", R"("attention_chunk_size":32,)" + layerTypes("cccf")),
        text("1 [3]", "3 [0-2]", "32"));
    row("Llama 4, chunk null", shaped("llama4_text", R"("attention_chunk_size":null)"),
        QStringLiteral("full 4 [0-3] k 2x8, v 2x8"));
    row("Llama 4, chunk 0", shaped("llama4_text", R"("attention_chunk_size":0)"),
        QStringLiteral("json.range /attention_chunk_size"));
    row("Llama 4, chunk of another part",
        R"({"model_type":"llama4","audio_config":{"attention_chunk_size":12},"text_config":)"
            + shaped("llama4_text", R"("attention_chunk_size":32)") + "}",
        text("1 [3]", "3 [0-2]", "32"));
}

void HfFamiliesTest::shapeRows()
{
    const QByteArray gemma4 = R"("sliding_window":16,"global_head_dim":16,"num_global_key_value_heads":1,)";
    const QString slide = QStringLiteral("; sliding 3 [0-2] k 2x8 min(v, 16), v 2x8 min(v, 16)");
    row("Gemma 4, one projection: both tensors are kept",
        nested("gemma4", shaped("gemma4_text", gemma4 + R"("attention_k_eq_v":true,)" + layerTypes("sssf"))),
        QStringLiteral("full 1 [3] k 1x16, v 1x16") + slide);
    row("Gemma 4, two projections", shaped("gemma4_text", gemma4 + R"("attention_k_eq_v":false,)" + layerTypes("sssf")),
        QStringLiteral("full 1 [3] k 2x16, v 2x16") + slide);
    row("Gemma 4, width of the class", shaped("gemma4_text", R"("sliding_window":16,)" + layerTypes("sssf")),
        QStringLiteral("full 1 [3] k 2x512, v 2x512") + slide);
    row("Gemma 4, the last layer is full", shaped("gemma4_text", gemma4 + layerTypes("ssss")),
        QStringLiteral("full 1 [3] k 2x16, v 2x16") + slide);
    row("Gemma 4, both directions",
        shaped("gemma4_text", gemma4 + R"("use_bidirectional_attention":"all",)" + layerTypes("sssf")),
        QStringLiteral("full 1 [3] k 2x16, v 2x16; sliding 3 [0-2] k 2x8 min(v, 9), v 2x8 min(v, 9)"));
    row("Gemma 4, both directions for images",
        shaped("gemma4_text", gemma4 + R"("use_bidirectional_attention":"vision",)" + layerTypes("sssf")),
        QStringLiteral("full 1 [3] k 2x16, v 2x16") + slide);
    row("Gemma 4, shapes by layer",
        shaped("gemma4_text",
            R"("sliding_window":16,"per_layer_config":{"3":{"head_dim":16,"num_key_value_heads":1}},)"
                + layerTypes("sssf")),
        QStringLiteral("full 1 [3] k 1x16, v 1x16") + slide);
    row("shapes of a layer that is not there",
        shaped("gemma4_text", R"("sliding_window":16,"per_layer_config":{"4":{"head_dim":16}},)" + layerTypes("sssf")),
        QStringLiteral("import.inconsistent /per_layer_config/4"));
    const QByteArray mimo = R"("v_head_dim":4,"sliding_window":16,"sliding_window_size":16,"attention_chunk_size":16,)";
    row("MiMo-V2",
        shaped("mimo_v2_flash",
            mimo
                + R"("hybrid_layer_pattern":[0,1,1,0],"swa_num_key_value_heads":4,"swa_head_dim":8,"swa_v_head_dim":4)"),
        QStringLiteral("full 2 [0,3] k 2x8, v 2x4; sliding 2 [1-2] k 4x8 min(v, 16), v 4x4 min(v, 16)"));
    row("MiMo-V2 without its list: the numbers decide nothing", shaped("mimo_v2_flash", mimo.chopped(1)),
        QStringLiteral("full 4 [0-3] k 2x8, v 2x4"));
    const QByteArray other
        = R"("attention_other_setting":{"attention_type":"sliding_attention","num_attention_heads":12,)"
          R"("num_attention_groups":4,"head_dim":8})";
    row("Step 3.7, heads by kind of layer",
        config("step3p7",
            R"("head_dim":8,"num_attention_groups":2,"sliding_window":16,)" + other + "," + layerTypes("fsss")),
        QStringLiteral("full 1 [0] k 2x8, v 2x8; sliding 3 [1-3] k 4x8 min(v, 16), v 4x8 min(v, 16)"));
    row("Nemotron-NAS",
        config("nemotron-nas",
            R"("head_dim":8,"num_key_value_heads":null,"block_configs":[{"attention":{"n_heads_in_group":4,"no_op":false}},)"
            R"({"attention":{"n_heads_in_group":null,"no_op":true}},{"attention":{"replace_with_linear":true}},)"
            R"({"attention":{"n_heads_in_group":8}}])"),
        QStringLiteral("full 1 [0] k 2x8, v 2x8; full_2 1 [3] k 1x8, v 1x8"));
    row("Nemotron-NAS, a group that does not divide",
        config("nemotron-nas",
            R"("head_dim":8,"block_configs":[{"attention":{"n_heads_in_group":3}},)"
            R"({"attention":{"no_op":true}},{"attention":{"no_op":true}},{"attention":{"no_op":true}}])"),
        QStringLiteral("import.inconsistent /block_configs/0/attention/n_heads_in_group"));
    row("Nemotron-NAS, one block short", config("nemotron-nas", R"("head_dim":8,"block_configs":[{},{},{}])"),
        QStringLiteral("import.inconsistent /block_configs"));
    row("MiniMax M3",
        shaped("minimax_m3",
            R"("sparse_attention_config":{"use_sparse_attention":true,"sparse_index_dim":16,)"
            R"("sparse_attention_freq":[0,1,1,1]})"),
        QStringLiteral("full 1 [0] k 2x8, v 2x8; block_sparse 3 [1-3] k 2x8, v 2x8"));
}

void HfFamiliesTest::sharedRows()
{
    const QByteArray shared = R"("sliding_window":16,"num_kv_shared_layers":)";
    row("Gemma 3n", nested("gemma3n", shaped("gemma3n_text", shared + "2," + layerTypes("sfsf"))),
        QStringLiteral(
            "full 1 [1] k 2x8, v 2x8; sliding 1 [0] k 2x8 min(v, 16), v 2x8 min(v, 16); shared_sliding 1 [2] "
            "reads sliding; shared_full 1 [3] reads full"));
    row("Gemma 3n, none", shaped("gemma3n_text", shared + "0," + layerTypes("sfsf")),
        QStringLiteral("full 2 [1,3] k 2x8, v 2x8; sliding 2 [0,2] k 2x8 min(v, 16), v 2x8 min(v, 16)"));
    row("Gemma 3n, all", shaped("gemma3n_text", shared + "4," + layerTypes("sfsf")),
        QStringLiteral("json.range /num_kv_shared_layers"));
    row("Gemma 3n, none of their kind before", shaped("gemma3n_text", shared + "1," + layerTypes("sssf")),
        QStringLiteral("import.inconsistent /num_kv_shared_layers"));
    row("Gemma 3n, everything of the class",
        R"({"model_type":"gemma3n_text","vocab_size":262400,"num_hidden_layers":35})",
        QStringLiteral(
            "full 4 [4,9,14,19] k 2x256, v 2x256; sliding 16 [0-3,5-8,10-13,15-18] k 2x256 min(v, 512), v 2x256 "
            "min(v, 512); shared_sliding 12 [20-23,25-28,30-33] reads sliding; shared_full 3 [24-34:5] reads "
            "full")
            .replace(QStringLiteral("[4,9,14,19]"), QStringLiteral("[4-19:5]")));
}

void HfFamiliesTest::indexRows()
{
    const QByteArray latent
        = R"("kv_lora_rank":32,"qk_rope_head_dim":4,"index_head_dim":16,"index_topk":8,"index_n_heads":3)";
    const QString all = QStringLiteral("mla_sparse 4 [0-3] latent 1x32, rope 1x4, index 1x16");
    const QString first
        = QStringLiteral("mla_sparse 2 [0,3] latent 1x32, rope 1x4, index 1x16; mla_sparse_shared 2 [1-2] "
                         "latent 1x32, rope 1x4");
    row("DeepSeek V3.2", config("deepseek_v32", latent), all);
    row("heads and widths are noise",
        config("glm_moe_dsa", latent + R"(,"num_key_value_heads":8,"head_dim":192,"v_head_dim":256)"), all);
    row("shared indexer, list", config("glm_moe_dsa", latent + R"(,"indexer_types":["full","shared","shared","full"])"),
        first);
    row("shared indexer, letters", config("glm_moe_dsa", latent + R"(,"index_topk_pattern":"FSSF")"), first);
    row("shared indexer, frequency",
        config("glm_moe_dsa", latent + R"(,"index_topk_freq":3,"index_skip_topk_offset":1)"), first);
    row("shared indexer, frequency and offset",
        config("glm_moe_dsa", latent + R"(,"index_topk_freq":4,"index_skip_topk_offset":3)"),
        QStringLiteral(
            "mla_sparse 3 [0-2] latent 1x32, rope 1x4, index 1x16; mla_sparse_shared 1 [3] latent 1x32, rope 1x4"));
    row("shared indexer, another word",
        config("glm_moe_dsa", latent + R"(,"indexer_types":["full","half","full","full"])"),
        QStringLiteral("import.unsupported /indexer_types/1"));
    row("shared indexer, one short", config("glm_moe_dsa", latent + R"(,"indexer_types":["full","full","full"])"),
        QStringLiteral("import.inconsistent /indexer_types"));
    row("two latents a layer", config("longcat_flash", R"("kv_lora_rank":32,"qk_rope_head_dim":4)"),
        QStringLiteral("mla 4 [0-3] latent 1x32, rope 1x4, latent_2 1x32, rope_2 1x4"));
}

void HfFamiliesTest::compressedRows()
{
    const QByteArray v4 = R"("num_key_value_heads":1,"head_dim":32,"index_head_dim":8,"sliding_window":16)";
    const QString window = QStringLiteral("kv 1x32 min(v, 16)");
    const QString sparse = window
        + QStringLiteral(
            ", compressed 1x32 ⌊v ÷ 4⌋, index 1x8 ⌊v ÷ 4⌋, buffer 1x32 16 (fixed) fp32, index_buffer 1x8 16 "
            "(fixed) fp32");
    const QString heavy = window + QStringLiteral(", compressed 1x32 ⌊v ÷ 128⌋, buffer 1x32 256 (fixed) fp32");
    const QString draft = QStringLiteral("; draft 1 [4] ") + window + QStringLiteral(" speculation");
    row("DeepSeek V4, ratios",
        config("deepseek_v4", v4 + R"(,"num_nextn_predict_layers":1,"compress_ratios":[0,4,128,4,0])"),
        QStringLiteral("compressed_sparse 2 [1,3] ") + sparse + QStringLiteral("; compressed_heavy 1 [2] ") + heavy
            + QStringLiteral("; sliding 1 [0] ") + window + draft);
    row("DeepSeek V4, names",
        config("deepseek_v4",
            v4
                + R"(,"compress_rates":{"compressed_sparse_attention":4,"heavily_compressed_attention":128},)"
                  R"("layer_types":["sliding_attention","compressed_sparse_attention","heavily_compressed_attention",)"
                  R"("compressed_sparse_attention"])"),
        QStringLiteral("compressed_sparse 2 [1,3] ") + sparse + QStringLiteral("; compressed_heavy 1 [2] ") + heavy
            + QStringLiteral("; sliding 1 [0] ") + window);
    row("DeepSeek V4, nothing stated: two heavy ones, then in turn", config("deepseek_ref", v4),
        QStringLiteral("compressed_heavy 3 [0-2] ") + heavy + QStringLiteral("; compressed_sparse 1 [3] ") + sparse);
    row("DeepSeek V4, a ratio that is not known", config("deepseek_v4", v4 + R"(,"compress_ratios":[0,4,8,4])"),
        QStringLiteral("import.unsupported /compress_ratios/2"));
    row("DeepSeek V4, too few ratios", config("deepseek_v4", v4 + R"(,"compress_ratios":[0,4,4])"),
        QStringLiteral("import.inconsistent /compress_ratios"));
    row("DeepSeek V4, K and V of their own",
        config("deepseek_v4", R"("num_key_value_heads":2,"head_dim":32,"compress_ratios":[0,4,4,4])"),
        QStringLiteral("import.unsupported /num_key_value_heads"));

    const QByteArray v41 = v4 + R"(,"compress_ratios":[0,2,2,1],"num_nextn_predict_layers":0)";
    const QString pooled
        = window + QStringLiteral(", compressed 1x32 ⌊v ÷ 2⌋, index 1x8 ⌊v ÷ 2⌋, buffer 1x32 2 (fixed) bf16");
    const QString single = window + QStringLiteral(", compressed 1x32, index 1x8");
    row("DeepSeek V4.1", nested("deepseek_v41", config("deepseek_v41_text", v41 + R"(,"kv_source_layer_ids":[1,3])")),
        QStringLiteral("source_2 1 [1] ") + pooled + QStringLiteral("; source_1 1 [3] ") + single
            + QStringLiteral("; sliding 1 [0] ") + window + QStringLiteral("; sliding_source_2 1 [2] ") + window
            + QStringLiteral(" reads source_2"));
    row("DeepSeek V4.1, sources of the class: the first of each run", config("deepseek_v41_text", v41),
        QStringLiteral("source_2 1 [1] ") + pooled + QStringLiteral("; source_1 1 [3] ") + single
            + QStringLiteral("; sliding 1 [0] ") + window + QStringLiteral("; sliding_source_2 1 [2] ") + window
            + QStringLiteral(" reads source_2"));
    row("DeepSeek V4.1, a source without entries", config("deepseek_v41_text", v41 + R"(,"kv_source_layer_ids":[0])"),
        QStringLiteral("import.inconsistent /kv_source_layer_ids/0"));
    row("DeepSeek V4.1, a reader before every source",
        config("deepseek_v41_text", v41 + R"(,"kv_source_layer_ids":[2])"),
        QStringLiteral("import.inconsistent /kv_source_layer_ids"));
}

void HfFamiliesTest::crossRows()
{
    const QString both = QStringLiteral("full 2 [0-1] k 8x8, v 8x8; cross 2 [0-1] k 8x8 e, v 8x8 e");
    row("Mllama", nested("mllama", shaped("mllama_text_model", R"("cross_attention_layers":[1,3])")),
        QStringLiteral("full 2 [0,2] k 2x8, v 2x8; cross 2 [1,3] k 2x8 i, v 2x8 i"));
    row("Mllama, layers of the class", nested("mllama", shaped("mllama_text_model")),
        QStringLiteral("full 3 [0-2] k 2x8, v 2x8; cross 1 [3] k 2x8 i, v 2x8 i"));
    row("Mllama, a layer that is not there", shaped("mllama_text_model", R"("cross_attention_layers":[4])"),
        QStringLiteral("json.range /cross_attention_layers/0"));
    row("Whisper",
        R"({"model_type":"whisper","vocab_size":51866,"d_model":64,"num_hidden_layers":9,"encoder_layers":9,)"
        R"("encoder_attention_heads":4,"decoder_layers":2,"decoder_attention_heads":8,"max_source_positions":1500,)"
        R"("max_target_positions":448,"is_encoder_decoder":true})",
        both);
    row("BART",
        R"({"model_type":"bart","vocab_size":50265,"d_model":64,"encoder_layers":9,"decoder_layers":2,)"
        R"("decoder_attention_heads":8,"encoder_attention_heads":4,"max_position_embeddings":1024,"is_encoder_decoder":true,)"
        R"("add_cross_attention":false})",
        both);
    row("T5",
        R"({"model_type":"t5","vocab_size":32128,"d_model":64,"d_kv":16,"num_heads":4,"num_layers":3,)"
        R"("num_decoder_layers":2,"n_positions":512,"is_encoder_decoder":true})",
        QStringLiteral("full 2 [0-1] k 4x16, v 4x16; cross 2 [0-1] k 4x16 e, v 4x16 e"));
    row("T5, as many layers as its encoder",
        R"({"model_type":"mt5","vocab_size":32128,"d_model":64,"num_heads":4,"num_layers":2,"is_encoder_decoder":true})",
        QStringLiteral("full 2 [0-1] k 4x64, v 4x64; cross 2 [0-1] k 4x64 e, v 4x64 e"));
}

void HfFamiliesTest::draftRows()
{
    const QByteArray latent = R"("kv_lora_rank":32,"qk_rope_head_dim":4)";
    row("latent drafts", config("deepseek_v3", latent + R"(,"num_nextn_predict_layers":1)"),
        QStringLiteral("mla 4 [0-3] latent 1x32, rope 1x4; draft 1 [4] latent 1x32, rope 1x4 speculation"));
    row("drafts with an indexer",
        config("glm_moe_dsa",
            latent
                + R"(,"index_head_dim":16,"num_nextn_predict_layers":1,"indexer_types":["full","full","full","full"])"),
        QStringLiteral("mla_sparse 4 [0-3] latent 1x32, rope 1x4, index 1x16; draft 1 [4] latent 1x32, rope 1x4, index "
                       "1x16 speculation"));
    row("modules of layers",
        shaped("minimax_m2",
            R"("use_mtp":true,"num_mtp_modules":3,"mtp_transformer_layers":1,"num_nextn_predict_layers":1)"),
        QStringLiteral("full 4 [0-3] k 2x8, v 2x8; draft 3 [4-6] k 2x8, v 2x8 speculation"));
    row("drafts switched off", shaped("minimax_m2", R"("use_mtp":false,"num_mtp_modules":3)"),
        QStringLiteral("full 4 [0-3] k 2x8, v 2x8"));
    row("none", config("kimi_k2", latent + R"(,"num_nextn_predict_layers":0)"),
        QStringLiteral("mla 4 [0-3] latent 1x32, rope 1x4"));
    row("drafts whose kind is not stated",
        shaped("step3p5", R"("sliding_window":16,"num_nextn_predict_layers":3,)" + layerTypes("fsss")),
        QStringLiteral("full 1 [0] k 2x8, v 2x8; sliding 3 [1-3] k 2x8 min(v, 16), v 2x8 min(v, 16)"));
    row("drafts whose kind ends the list",
        shaped("step3p5", R"("sliding_window":16,"num_nextn_predict_layers":1,)" + layerTypes("fssss")),
        QStringLiteral("full 1 [0] k 2x8, v 2x8; sliding 3 [1-3] k 2x8 min(v, 16), v 2x8 min(v, 16); draft 1 [4] k 2x8 "
                       "min(v, 16), v 2x8 min(v, 16) speculation"));
    row("drafts that slide, where nothing else does",
        shaped("step3p5", R"("num_nextn_predict_layers":1,)" + layerTypes("ffffs")),
        QStringLiteral("full 4 [0-3] k 2x8, v 2x8"));
    row("drafts with attention, where nothing else has any",
        shaped("nemotron_h",
            R"("mamba_num_heads":4,"mamba_head_dim":8,"n_groups":2,"ssm_state_size":16,"hybrid_override_pattern":"MEEE",)"
            R"("num_nextn_predict_layers":1,"mtp_hybrid_override_pattern":"*E")"),
        QStringLiteral(
            "mamba2 1 [0] conv 4x8 3 (fixed) bf16, conv_bc 2x32 3 (fixed) bf16, state 4x128 1 (fixed) bf16"));
    row("a latent for another sequence", shaped("mllama_text_model", R"("kv_lora_rank":32,"qk_rope_head_dim":4)"),
        QStringLiteral("import.unsupported /kv_lora_rank"));
    row("10^6 drafts", shaped("llama", R"("num_nextn_predict_layers":1000000)"),
        QStringLiteral("json.range /num_nextn_predict_layers"));
}

void HfFamiliesTest::states()
{
    QFETCH(QByteArray, text);
    QTEST(stateOutcome(importText(text)), "outcome");
}

void HfFamiliesTest::aliases_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("outcome");
    QTest::addColumn<qint64>("maximumPositions");

    const auto add = [](const char* name, const char* text, const char* outcome, qint64 positions) {
        QTest::newRow(name) << QByteArray(text) << QString::fromLatin1(outcome) << positions;
    };
    add("GPT-2", R"({"model_type":"gpt2","n_layer":2,"n_head":4,"n_embd":32,"n_positions":1024,"n_ctx":1024})",
        "full 2 [0-1] k 4x8 v 4x8", 1024);
    add("GPT-J", R"({"model_type":"gptj","n_layer":2,"n_head":4,"n_embd":32,"n_positions":2048,"rotary_dim":4})",
        "full 2 [0-1] k 4x8 v 4x8", 2048);
    add("GPT-BigCode", R"({"model_type":"gpt_bigcode","n_layer":2,"n_head":4,"n_embd":32,"multi_query":true})",
        "full 2 [0-1] k 1x8 v 1x8", 0);
    add("Falcon 7B",
        R"({"model_type":"falcon","num_hidden_layers":2,"num_attention_heads":4,"hidden_size":32,)"
        R"("multi_query":true,"new_decoder_architecture":false,"num_kv_heads":4})",
        "full 2 [0-1] k 1x8 v 1x8", 0);
    add("Falcon 40B",
        R"({"model_type":"falcon","num_hidden_layers":2,"num_attention_heads":4,"hidden_size":32,)"
        R"("multi_query":true,"new_decoder_architecture":true,"num_kv_heads":2})",
        "full 2 [0-1] k 2x8 v 2x8", 0);
    add("Falcon, first files of 7B",
        R"({"model_type":"RefinedWebModel","n_layer":2,"n_head":4,"hidden_size":32,)"
        R"("multi_query":true})",
        "full 2 [0-1] k 1x8 v 1x8", 0);
    add("Falcon, first files of 40B",
        R"({"model_type":"RefinedWeb","n_layer":2,"n_head":4,"hidden_size":32,"n_head_kv":2})",
        "full 2 [0-1] k 2x8 v 2x8", 0);
    add("Falcon, heads of their own",
        R"({"model_type":"falcon","n_layer":2,"n_head":4,"hidden_size":32,"multi_query":false})",
        "full 2 [0-1] k 4x8 v 4x8", 0);
    add("MPT",
        R"({"model_type":"mpt","n_layers":2,"n_heads":4,"d_model":32,"max_seq_len":2048,)"
        R"("attn_config":{"attn_type":"multihead_attention"}})",
        "full 2 [0-1] k 4x8 v 4x8", 2048);
    add("MPT, grouped", R"({"model_type":"mpt","n_layers":2,"n_heads":4,"d_model":32,"attn_config":{"kv_n_heads":2}})",
        "full 2 [0-1] k 2x8 v 2x8", 0);
    add("MPT, multi-query",
        R"({"model_type":"mpt","n_layers":2,"n_heads":4,"d_model":32,"attn_config":{"attn_type":"multiquery_attention"}})",
        "full 2 [0-1] k 1x8 v 1x8", 0);
    add("DBRX",
        R"({"model_type":"dbrx","n_layers":2,"n_heads":4,"d_model":32,"max_seq_len":32768,)"
        R"("attn_config":{"kv_n_heads":2,"clip_qkv":8}})",
        "full 2 [0-1] k 2x8 v 2x8", 32768);
    add("BLOOM", R"({"model_type":"bloom","n_layer":2,"num_attention_heads":4,"n_embed":32,"seq_length":2048})",
        "full 2 [0-1] k 4x8 v 4x8", 2048);
    add("BLOOM, newer", R"({"model_type":"bloom","n_layer":2,"n_head":4,"hidden_size":32})", "full 2 [0-1] k 4x8 v 4x8",
        0);
    add("ChatGLM",
        R"({"model_type":"chatglm","num_layers":2,"num_attention_heads":4,"hidden_size":32,"kv_channels":8,)"
        R"("multi_query_attention":true,"multi_query_group_num":2,"seq_length":8192})",
        "full 2 [0-1] k 2x8 v 2x8", 8192);
    add("OPT",
        R"({"model_type":"opt","num_hidden_layers":2,"num_attention_heads":4,"hidden_size":32,)"
        R"("max_position_embeddings":2048})",
        "full 2 [0-1] k 4x8 v 4x8", 2048);
    add("XGLM",
        R"({"model_type":"xglm","num_layers":2,"attention_heads":4,"d_model":32,"max_position_embeddings":2048})",
        "full 2 [0-1] k 4x8 v 4x8", 2048);
    add("LLaVA: a text part that leaves out what is as in its class",
        R"({"model_type":"llava","text_config":{"model_type":"llama","max_position_embeddings":4096,"vocab_size":32064}})",
        "full 32 [0-31] k 32x128 v 32x128", 4096);
    add("the same, larger",
        R"({"model_type":"llava","text_config":{"model_type":"llama","hidden_size":5120,"num_hidden_layers":40,)"
        R"("num_attention_heads":40}})",
        "full 40 [0-39] k 40x128 v 40x128", 0);
    add("Qwen Omni: nested twice",
        R"({"model_type":"qwen2_5_omni","thinker_config":{"model_type":"t","text_config":{"model_type":"qwen2_5_vl_text",)"
        R"("num_hidden_layers":2,"hidden_size":32,"num_attention_heads":4,"num_key_value_heads":2}}})",
        "full 2 [0-1] k 2x8 v 2x8", 0);
    add("DeepSeek-VL 2",
        R"({"model_type":"deepseek_vl_v2","language_config":{"model_type":"deepseek_v2",)"
        R"("num_hidden_layers":2,"kv_lora_rank":32,"qk_rope_head_dim":4}})",
        "mla 2 [0-1] latent 1x32 rope 1x4", 0);
    add("a file of its own says everything", R"({"model_type":"llama","max_position_embeddings":4096})",
        "import.missing_field /num_hidden_layers", 0);
    add("MPT, heads not stated",
        R"({"model_type":"mpt","n_layers":2,"n_heads":4,"d_model":32,)"
        R"("attn_config":{"attn_type":"grouped_query_attention"}})",
        "import.missing_field /attn_config", 0);
}

void HfFamiliesTest::aliases()
{
    QFETCH(QByteArray, text);
    const auto model = importText(text);
    QTEST(outcome(model), "outcome");
    if (model)
        QTEST(qint64 {model->maximumPositions.value_or(0)}, "maximumPositions");
}

void HfFamiliesTest::publishedBytes_data()
{
    QTest::addColumn<qint64>("perToken"); // of two-byte elements, index keys apart
    QTest::addColumn<qint64>("indexPerToken");
    QTest::addColumn<qint64>("window"); // of a sequence that fills it
    QTest::addColumn<qint64>("fixed");
    const auto add = [](const char* file, qint64 perToken, qint64 index, qint64 window, qint64 fixed) {
        QTest::newRow(file) << perToken << index << window << fixed;
    };
    add("llama_4_scout", 49'152, 0, 1'207'959'552, 0);
    add("gemma_4_31b", 81'920, 0, 838'860'800, 0);
    add("glm_5_2", 89'856, 5'376, 0, 0);
    add("deepseek_v4_flash", 5'536, 1'344, 5'636'096, 11'345'920);
    add("qwen3_6_27b", 65'536, 0, 0, 153'944'064);
    add("kimi_k3", 27'648, 0, 0, 449'372'160);
    add("nemotron_3_nano", 6'144, 0, 0, 49'082'368);
    add("deepseek_r1", 70'272, 0, 0, 0);
    add("gpt_oss_120b", 36'864, 0, 4'718'592, 0);
    add("gemma_3_27b", 81'920, 0, 436'207'616, 0);
}

// Figures of published tables of these models, 16-bit state, one sequence, draft layers apart.
void HfFamiliesTest::publishedBytes()
{
    const auto model = importModel((qEnvironmentVariable("KVW_SOURCE_DIR") + QStringLiteral("/tests/data/import/")
        + QLatin1String(QTest::currentDataTag()) + QStringLiteral(".json"))
                                       .toStdString());
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    qint64 perToken = 0, index = 0, window = 0, fixed = 0;
    for (const LayerGroup& group : model->groups) {
        for (const StateTensor& tensor : group.tensors) {
            if (group.use == GroupUse::Speculation)
                continue;
            const qint64 row = group.layers * tensor.heads
                * rowBytes(tensor.elementType == ElementType::NotStated ? ElementType::Bf16 : tensor.elementType,
                    tensor.width);
            if (tensor.growth.form == GrowthForm::Fixed)
                fixed += row * tensor.growth.entries;
            else if (tensor.growth.form == GrowthForm::Chunked)
                window += row * tensor.growth.chunk;
            else if (tensor.growth.limit)
                window += row * *tensor.growth.limit;
            else
                (tensor.role == TensorRole::IndexKey ? index : perToken) += row / tensor.growth.stride;
        }
    }
    QTEST(perToken, "perToken");
    QTEST(index, "indexPerToken");
    QTEST(window, "window");
    QTEST(fixed, "fixed");
}

// How long the other sequence is at most, with where that was read.
void HfFamiliesTest::crossTokens()
{
    const auto whisper = importText(
        R"({"model_type":"whisper","vocab_size":51866,"d_model":1280,"decoder_layers":32,"decoder_attention_heads":20,)"
        R"("max_source_positions":1500,"max_target_positions":448})");
    QVERIFY2(whisper.ok(), whisper.ok() ? "" : whisper.error().text().c_str());
    QCOMPARE(whisper->encoderTokens.value_or(0), std::int64_t {1500});
    QCOMPARE(whisper->maximumPositions.value_or(0), std::int64_t {448});
    QCOMPARE(whisper->provenance.find("encoderTokens")->at, std::string("/max_source_positions"));
    QVERIFY(!whisper->imageTokens);

    // 560 px in patches of 14: 1,601 tokens a tile, 4 tiles.
    const auto mllama = importText(R"({"model_type":"mllama","vision_config":{"image_size":560,"patch_size":14,)"
                                   R"("max_num_tiles":4},"text_config":)"
        + shaped("mllama_text_model") + "}");
    QVERIFY2(mllama.ok(), mllama.ok() ? "" : mllama.error().text().c_str());
    QCOMPARE(mllama->imageTokens.value_or(0), std::int64_t {4 * 1601});
    const auto defaults = importText(shaped("mllama_text_model"));
    QCOMPARE(defaults->imageTokens.value_or(0), std::int64_t {4 * 1025});
    QVERIFY(assumptionIds(*defaults).contains(QStringLiteral("import.image_class_default")));

    const auto t5 = importText(R"({"model_type":"t5","vocab_size":9,"d_model":64,"num_heads":4,"num_layers":2})");
    QVERIFY(!t5->encoderTokens);
    QVERIFY(diagnosticIds(*t5).contains(QStringLiteral("import.encoder_tokens!")));
}

// What was not in the file is said.
void HfFamiliesTest::assumedParts()
{
    const auto ids = [](const QByteArray& text) { return assumptionIds(*importText(text)).split(u' '); };
    QVERIFY(ids(shaped("llama4_text")).contains(QStringLiteral("import.class_default")));
    QVERIFY(ids(shaped("llama4_text")).contains(QStringLiteral("import.layers_class_default")));
    QVERIFY(!ids(shaped("llama4_text", R"("attention_chunk_size":32,)" + layerTypes("cccf")))
                 .contains(QStringLiteral("import.class_default")));
    QVERIFY(ids(shaped("gemma3n_text", R"("sliding_window":16,"num_kv_shared_layers":2,)" + layerTypes("sfsf")))
                .contains(QStringLiteral("import.dtype_default")));
    const auto sparse
        = importText(shaped("minimax_m3", R"("sparse_attention_config":{"sparse_attention_freq":[0,1,1,1]})"));
    QVERIFY(diagnosticIds(*sparse).contains(QStringLiteral("import.sparse_index_keys!")));
}

QTEST_APPLESS_MAIN(HfFamiliesTest)
#include "tst_hf_families.moc"
