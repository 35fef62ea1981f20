// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz program's seeds, and headers made of them, without libFuzzer.

#include "support/gguf_writer.h"
#include "support/wire_mutation.h"

#include <QTest>

#include <random>

#include "../fuzz/gguf.cpp"

namespace {

using test::GgufWriter;

/// One header of each kind of state.
std::vector<std::string> seeds()
{
    std::vector<std::string> out;
    for (const bool bigEndian : {false, true}) {
        for (const char* architecture : {"llama", "gpt-oss", "gemma4", "gemma3n", "qwen35", "nemotron_h", "kimi-linear",
                 "deepseek2", "deepseek4", "glm-dsa", "lfm2", "rwkv7", "minimax-01", "falcon-h1", "novel"}) {
            GgufWriter writer(architecture, bigEndian);
            writer.u32("block_count", 4).u32("embedding_length", 256).u32("attention.head_count", 8);
            writer.u32s("attention.head_count_kv", {0, 2, 0, 4}).u32s("feed_forward_length", {0, 0, 9, 0});
            writer.u32("attention.key_length", 96).u32("attention.value_length", 64);
            const std::string name = architecture;
            if (name == "deepseek2" || name == "kimi-linear" || name == "glm-dsa")
                writer.u32("attention.key_length_mla", 64).u32("attention.value_length_mla", 64);
            if (name != "novel") {
                writer.u32("attention.kv_lora_rank", 64).u32("attention.sliding_window", 128);
                writer.bools("attention.sliding_window_pattern", {1, 1, 0, 0}).u32("attention.shared_kv_layers", 1);
                writer.u32s("attention.compress_ratios", {0, 4, 128, 0}).u32("attention.indexer.key_length", 32);
                writer.u32("ssm.conv_kernel", 4).u32("ssm.inner_size", 64).u32("ssm.state_size", 16);
                writer.u32("ssm.group_count", 2).u32("ssm.time_step_rank", 4).u32("kda.head_dim", 32);
                writer.u32("shortconv.l_cache", 3).u32("wkv.head_size", 32).u32("nextn_predict_layers", 1);
            }
            writer.texts("tokenizer.ggml.tokens", {"a", "bc"}).text("general.name", "seed");
            writer.tensor("blk.0.attn_k.weight", {256, 64}, 1, 32'768)
                .tensor("blk.3.nextn.eh_proj.weight", {32}, 2, 18);
            out.push_back(writer.header());
        }
    }
    return out;
}

void feed(const std::string& bytes)
{
    QCOMPARE(
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0); // aborts if not
}

} // namespace

class GgufFuzzTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void asTheyAre();
    void changed();
    void noise();
};

void GgufFuzzTest::asTheyAre()
{
    feed({});
    for (const std::string& seed : seeds())
        feed(seed);
}

void GgufFuzzTest::changed()
{
    std::mt19937 dice(61);
    const std::vector<std::string> all = seeds();
    for (int round = 0; round < 4000; ++round)
        feed(test::mutated(all[dice() % all.size()], dice));
}

void GgufFuzzTest::noise()
{
    std::mt19937 dice(67);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes("GGUF\3\0\0\0", 8);
        for (std::size_t i = dice() % 200; i > 0; --i)
            bytes += static_cast<char>(dice() % 3 == 0 ? dice() : 0);
        feed(bytes);
    }
}

QTEST_APPLESS_MAIN(GgufFuzzTest)
#include "tst_gguf_fuzz.moc"
