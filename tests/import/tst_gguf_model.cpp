// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Layer groups from GGUF keys. Expected groups are the published shapes of the models; expected bytes are what
// llama.cpp's own sizing code (August 2026) gave for such files at 32768 cells and one sequence.

#include "import/gguf_file.h"
#include "spec_text.h"
#include "support/gguf_writer.h"

#include <QTest>

#include <functional>

using namespace kvw;
using namespace kvw::test;

namespace {

struct Case
{
    const char* name;
    std::function<void(GgufWriter&)> write;
    const char* architecture;
    const char* groups;
    double mebibytes = 0; ///< of llama.cpp's caches, f16; 0: not known
};

/// "k 8x128", with its growth where that is not one entry a token, and its type where it is not the cache's.
QString tensorText(const StateTensor& tensor)
{
    QString out = QStringLiteral("%1 %2x%3").arg(q(tensor.id)).arg(tensor.heads).arg(tensor.width);
    if (tensor.growth.form == GrowthForm::Fixed)
        out += QStringLiteral(" *%1").arg(tensor.growth.entries);
    if (tensor.growth.form == GrowthForm::Chunked)
        out += QStringLiteral(" mod %1").arg(tensor.growth.chunk);
    if (tensor.growth.stride != 1)
        out += QStringLiteral(" /%1").arg(tensor.growth.stride);
    if (tensor.growth.limit)
        out += QStringLiteral(" <=%1").arg(*tensor.growth.limit);
    if (tensor.elementType != ElementType::NotStated)
        out += u' ' + q(factsOf(tensor.elementType).name);
    return out;
}

QString textOf(const ModelSpec& model)
{
    QStringList groups;
    for (const LayerGroup& group : model.groups) {
        QStringList tensors;
        for (const StateTensor& tensor : group.tensors)
            tensors += tensorText(tensor);
        groups += QStringLiteral("%1 %2 [%3]%4 %5")
                      .arg(q(group.id))
                      .arg(group.layers)
                      .arg(q(group.layerIndices), group.readsGroup.empty() ? QString() : " of " + q(group.readsGroup),
                          tensors.join(QStringLiteral(", ")))
                      .trimmed();
    }
    return groups.join(QStringLiteral("; "));
}

std::int64_t padded(std::int64_t cells)
{
    return (cells + 255) / 256 * 256;
}

/// What llama.cpp allocates for one sequence of 32768 tokens: cells of each cache, times its rows.
double mebibytesOf(const ModelSpec& model, bool withDrafts)
{
    constexpr std::int64_t cells = 32'768;
    constexpr std::int64_t batch = 512;
    std::int64_t bytes = 0;
    for (const LayerGroup& group : model.groups) {
        if (group.use == GroupUse::Speculation && !withDrafts)
            continue;
        for (const StateTensor& tensor : group.tensors) {
            const GrowthLaw& law = tensor.growth;
            std::int64_t rows = cells;
            if (law.form == GrowthForm::Fixed)
                rows = law.entries;
            else if (law.form == GrowthForm::Chunked)
                rows = padded(std::min(cells, law.chunk + batch));
            else if (law.limit)
                rows = padded(std::min(cells, *law.limit + batch));
            else if (law.stride != 1)
                rows = padded((cells + law.stride - 1) / law.stride);
            const std::int64_t width = tensor.elementType == ElementType::Fp32 ? 4 : 2;
            bytes += group.layers * rows * tensor.heads * tensor.width * width;
        }
    }
    return static_cast<double>(bytes) / (1 << 20);
}

/// The keys that every model has.
GgufWriter& base(GgufWriter& out, std::uint32_t layers, std::uint32_t embedding, std::uint32_t heads)
{
    return out.u32("block_count", layers)
        .u32("embedding_length", embedding)
        .u32("context_length", 131'072)
        .u32("attention.head_count", heads);
}

GgufWriter& widths(GgufWriter& out, std::uint32_t kvHeads, std::uint32_t key, std::uint32_t value)
{
    return out.u32("attention.head_count_kv", kvHeads)
        .u32("attention.key_length", key)
        .u32("attention.value_length", value);
}

GgufWriter& ssm(GgufWriter& out, std::uint32_t kernel, std::uint32_t inner, std::uint32_t state, std::uint32_t groups,
    std::uint32_t rank)
{
    return out.u32("ssm.conv_kernel", kernel)
        .u32("ssm.inner_size", inner)
        .u32("ssm.state_size", state)
        .u32("ssm.group_count", groups)
        .u32("ssm.time_step_rank", rank);
}

GgufWriter& latent(GgufWriter& out)
{
    widths(out, 1, 576, 512);
    return out.u32("attention.kv_lora_rank", 512)
        .u32("attention.key_length_mla", 192)
        .u32("attention.value_length_mla", 128);
}

/// `count` numbers, `value` where (i + offset) mod period is 0, else `other`.
std::vector<std::uint32_t> periodic(
    std::uint32_t count, std::uint32_t period, std::uint32_t offset, std::uint32_t value, std::uint32_t other)
{
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < count; ++i)
        out.push_back((i + offset) % period == 0 ? value : other);
    return out;
}

std::vector<std::uint8_t> flags(const std::vector<std::uint32_t>& values)
{
    return {values.begin(), values.end()};
}

/// M, *, E and - of a Nemotron-H pattern as two arrays.
GgufWriter& pattern(GgufWriter& out, const std::string& letters, std::uint32_t kvHeads, std::uint32_t forward)
{
    std::vector<std::uint32_t> heads;
    std::vector<std::uint32_t> widths;
    for (const char letter : letters) {
        heads.push_back(letter == '*' ? kvHeads : 0);
        widths.push_back(letter == 'E' || letter == '-' ? forward : 0);
    }
    return out.u32s("attention.head_count_kv", heads).u32s("feed_forward_length", widths);
}

const std::vector<Case>& cases()
{
    static const std::vector<Case> out {
        {"Llama 3.1 8B", [](GgufWriter& w) { base(w, 32, 4096, 32).u32("attention.head_count_kv", 8); }, "llama",
            "full 32 [0-31] k 8x128, v 8x128"},
        {"Llama 2 7B: no key and value heads stated", [](GgufWriter& w) { base(w, 32, 4096, 32); }, "llama",
            "full 32 [0-31] k 32x128, v 32x128"},
        {"Mistral 7B v0.1: its window is not used",
            [](GgufWriter& w) {
                base(w, 32, 4096, 32).u32("attention.head_count_kv", 8).u32("attention.sliding_window", 4096);
            },
            "llama", "full 32 [0-31] k 8x128, v 8x128"},
        {"Mistral Small 24B: width of heads stated", [](GgufWriter& w) { widths(base(w, 40, 5120, 32), 8, 128, 128); },
            "llama", "full 40 [0-39] k 8x128, v 8x128", 5120},
        {"Phi-4 14B: its window is not used",
            [](GgufWriter& w) {
                base(w, 40, 5120, 40).u32("attention.head_count_kv", 10).u32("attention.sliding_window", 0);
            },
            "phi3", "full 40 [0-39] k 10x128, v 10x128", 6400},
        {"gpt-oss-120b",
            [](GgufWriter& w) { widths(base(w, 36, 2880, 64), 8, 64, 64).u32("attention.sliding_window", 128); },
            "gpt-oss", "full 18 [1-35:2] k 8x64, v 8x64; sliding 18 [0-34:2] k 8x64 <=128, v 8x64 <=128", 1179},
        {"Gemma 2 9B", [](GgufWriter& w) { widths(base(w, 42, 3584, 16), 8, 256, 256); }, "gemma2",
            "full 21 [1-41:2] k 8x256, v 8x256; sliding 21 [0-40:2] k 8x256 <=4096, v 8x256 <=4096"},
        {"Gemma 3 27B",
            [](GgufWriter& w) { widths(base(w, 62, 5376, 32), 16, 128, 128).u32("attention.sliding_window", 1024); },
            "gemma3",
            "full 10 [5-59:6] k 16x128, v 16x128; sliding 52 [0-4,6-10,12-16,18-22,24-28,30-34,36-40,42-46,48-52,54-58,"
            "60-61] k 16x128 <=1024, v 16x128 <=1024",
            3184},
        {"Gemma 3n E4B: the last 15 layers have none of their own",
            [](GgufWriter& w) { widths(base(w, 35, 2048, 8), 2, 256, 256).u32("attention.sliding_window", 512); },
            "gemma3n",
            "full 4 [4-19:5] k 2x256, v 2x256; sliding 16 [0-3,5-8,10-13,15-18] k 2x256 <=512, v 2x256 <=512; "
            "shared_sliding 12 [20-23,25-28,30-33] of sliding; shared_full 3 [24-34:5] of full"},
        {"Gemma 4 31B: two shapes of heads",
            [](GgufWriter& w) {
                base(w, 60, 5376, 32)
                    .u32s("attention.head_count_kv", periodic(60, 6, 1, 4, 16))
                    .u32("attention.key_length", 512)
                    .u32("attention.value_length", 512)
                    .u32("attention.key_length_swa", 256)
                    .u32("attention.value_length_swa", 256)
                    .u32("attention.sliding_window", 1024)
                    .u32("attention.shared_kv_layers", 0)
                    .bools("attention.sliding_window_pattern", flags(periodic(60, 6, 1, 0, 1)));
            },
            "gemma4",
            "full 10 [5-59:6] k 4x512, v 4x512; sliding 50 [0-4,6-10,12-16,18-22,24-28,30-34,36-40,42-46,48-52,54-58] "
            "k "
            "16x256 <=1024, v 16x256 <=1024",
            3760},
        {"Gemma 4 E4B: shared layers",
            [](GgufWriter& w) {
                widths(base(w, 42, 2560, 8), 2, 512, 512)
                    .u32("attention.key_length_swa", 256)
                    .u32("attention.value_length_swa", 256)
                    .u32("attention.sliding_window", 512)
                    .u32("attention.shared_kv_layers", 18)
                    .bools("attention.sliding_window_pattern", flags(periodic(42, 6, 1, 0, 1)));
            },
            "gemma4",
            "full 4 [5-23:6] k 2x512, v 2x512; sliding 20 [0-4,6-10,12-16,18-22] k 2x256 <=512, v 2x256 <=512; "
            "shared_sliding 15 [24-28,30-34,36-40] of sliding; shared_full 3 [29-41:6] of full",
            552},
        {"Llama 4 Scout: chunks, whatever the key says",
            [](GgufWriter& w) { widths(base(w, 48, 5120, 40), 8, 128, 128); }, "llama4",
            "full 12 [3-47:4] k 8x128, v 8x128; chunked 36 "
            "[0-2,4-6,8-10,12-14,16-18,20-22,24-26,28-30,32-34,36-38,40-42,"
            "44-46] k 8x128 mod 8192, v 8x128 mod 8192"},
        {"SmallThinker: the first of four is full",
            [](GgufWriter& w) { widths(base(w, 8, 1536, 12), 2, 128, 128).u32("attention.sliding_window", 4096); },
            "smallthinker", "full 2 [0,4] k 2x128, v 2x128; sliding 6 [1-3,5-7] k 2x128 <=4096, v 2x128 <=4096"},
        {"MiMo-V2-Flash: heads by kind of layer, values narrower",
            [](GgufWriter& w) {
                base(w, 12, 4096, 64)
                    .u32s("attention.head_count_kv", periodic(12, 6, 0, 4, 8))
                    .u32("attention.key_length", 192)
                    .u32("attention.value_length", 128)
                    .u32("attention.sliding_window", 128)
                    .u32s("attention.sliding_window_pattern", periodic(12, 6, 0, 0, 1));
            },
            "mimo2", "full 2 [0,6] k 4x192, v 4x128; sliding 10 [1-5,7-11] k 8x192 <=128, v 8x128 <=128"},
        {"DeepSeek-V3 with *_mla keys", [](GgufWriter& w) { latent(base(w, 61, 7168, 128)); }, "deepseek2",
            "mla 61 [0-60] latent 1x512, rope 1x64", 2196},
        {"DeepSeek-V3 without them: keys and values of every head",
            [](GgufWriter& w) { widths(base(w, 61, 7168, 128), 128, 192, 128).u32("attention.kv_lora_rank", 512); },
            "deepseek2", "full 61 [0-60] k 128x192, v 128x128", 156'160},
        {"DeepSeek-V2-Lite", [](GgufWriter& w) { latent(base(w, 27, 2048, 16)); }, "deepseek2",
            "mla 27 [0-26] latent 1x512, rope 1x64", 972},
        {"DeepSeek-V3.2",
            [](GgufWriter& w) {
                latent(base(w, 62, 7168, 128)).u32("attention.indexer.key_length", 128).u32("nextn_predict_layers", 1);
            },
            "deepseek32",
            "mla_sparse 61 [0-60] latent 1x512, rope 1x64, index 1x128; draft 1 [61] latent 1x512, rope 1x64"},
        {"GLM-5.2: which layers have an indexer is not stated",
            [](GgufWriter& w) {
                w.u32("block_count", 78).u32("embedding_length", 6144).u32("attention.head_count", 64);
                latent(w.u32("context_length", 1'048'576)).u32("attention.indexer.key_length", 128);
            },
            "glm-dsa",
            "mla_sparse 21 [0-2,6-74:4] latent 1x512, rope 1x64, index 1x128; mla_sparse_shared 57 "
            "[3-5,7-9,11-13,15-17,19-21,23-25,27-29,31-33,35-37,39-41,43-45,47-49,51-53,55-57,59-61,63-65,67-69,71-73,"
            "75-77] latent 1x512, rope 1x64",
            2976},
        {"GLM-5: all layers have one",
            [](GgufWriter& w) { latent(base(w, 4, 6144, 64)).u32("attention.indexer.key_length", 128); }, "glm-dsa",
            "mla_sparse 4 [0-3] latent 1x512, rope 1x64, index 1x128"},
        {"GLM-DSA: stated types",
            [](GgufWriter& w) {
                latent(base(w, 4, 6144, 64))
                    .u32("attention.indexer.key_length", 128)
                    .bools("attention.indexer.types", {1, 0, 0, 1});
            },
            "glm-dsa",
            "mla_sparse 2 [0,3] latent 1x512, rope 1x64, index 1x128; mla_sparse_shared 2 [1-2] latent 1x512, rope "
            "1x64"},
        {"DeepSeek-V4-Flash",
            [](GgufWriter& w) {
                std::vector<std::uint32_t> ratios {0, 0};
                for (std::uint32_t i = 0; i < 41; ++i)
                    ratios.push_back(i % 2 == 0 ? 4 : 128);
                ratios.push_back(0);
                widths(base(w, 43, 4096, 64), 1, 512, 512)
                    .u32("attention.sliding_window", 128)
                    .u32("attention.indexer.key_length", 128)
                    .u32s("attention.compress_ratios", ratios);
            },
            "deepseek4",
            "sliding 2 [0-1] kv 1x512 <=128; compressed_sparse 21 [2-42:2] kv 1x512 <=128, compressed 1x512 /4, index "
            "1x128 /4, buffer 1x1024 *16 fp32, index_buffer 1x256 *16 fp32; compressed_heavy 20 [3-41:2] kv 1x512 "
            "<=128, compressed 1x512 /128, buffer 1x512 *256 fp32",
            258.890625},
        {"GLM-4.5-Air with a NextN layer",
            [](GgufWriter& w) { widths(base(w, 47, 4096, 96), 8, 128, 128).u32("nextn_predict_layers", 1); }, "glm4moe",
            "full 46 [0-45] k 8x128, v 8x128; draft 1 [46] k 8x128, v 8x128", 6016},
        {"Qwen3-Next-80B", [](GgufWriter& w) { ssm(widths(base(w, 48, 2048, 16), 2, 256, 256), 4, 4096, 128, 16, 32); },
            "qwen3next",
            "full 12 [3-47:4] k 2x256, v 2x256; gated_delta_net 36 "
            "[0-2,4-6,8-10,12-14,16-18,20-22,24-26,28-30,32-34,36-38,"
            "40-42,44-46] conv 16x512 *3 fp32, state 32x16384 *1 fp32",
            843.375},
        {"Qwen3.5-27B with a NextN layer",
            [](GgufWriter& w) {
                ssm(widths(base(w, 65, 5120, 24), 4, 256, 256), 4, 6144, 128, 16, 48)
                    .u32("full_attention_interval", 4)
                    .u32("nextn_predict_layers", 1);
            },
            "qwen35",
            "full 16 [3-63:4] k 4x256, v 4x256; gated_delta_net 48 "
            "[0-2,4-6,8-10,12-14,16-18,20-22,24-26,28-30,32-34,36-38,"
            "40-42,44-46,48-50,52-54,56-58,60-62] conv 16x640 *3 fp32, state 48x16384 *1 fp32; "
            "draft 1 [64] k 4x256, v 4x256",
            2197.625},
        {"Qwen3.5: a list of recurrent layers",
            [](GgufWriter& w) {
                ssm(widths(base(w, 4, 1024, 8), 2, 256, 256), 4, 2048, 128, 16, 16)
                    .bools("attention.recurrent_layers", {0, 1, 1, 0});
            },
            "qwen35moe",
            "full 2 [0,3] k 2x256, v 2x256; gated_delta_net 2 [1-2] conv 16x384 *3 fp32, state 16x16384 *1 fp32"},
        {"Nemotron-3-Nano-30B",
            [](GgufWriter& w) {
                base(w, 52, 2688, 32).u32("attention.key_length", 128).u32("attention.value_length", 128);
                pattern(w, "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", 2, 1856);
                ssm(w, 4, 4096, 128, 8, 64);
            },
            "nemotron_h_moe",
            "full 6 [5-33:7,42] k 2x128, v 2x128; mamba2 23 [0-4:2,7-11:2,14-18:2,21-25:2,28-32:2,35-41:2,"
            "44-50:2] conv 64x64 *3 fp32, conv_bc 8x256 *3 fp32, state 64x8192 *1 fp32",
            239.6171875},
        {"Granite-4.0-H-Small",
            [](GgufWriter& w) {
                base(w, 40, 4096, 32).u32s("attention.head_count_kv", periodic(40, 10, 5, 8, 0));
                ssm(w, 4, 8192, 128, 1, 128);
            },
            "granitehybrid",
            "full 4 [5-35:10] k 8x128, v 8x128; mamba2 36 [0-4,6-14,16-24,26-34,36-39] conv 128x64 *3 fp32, conv_bc "
            "1x256 *3 fp32, state "
            "128x8192 *1 fp32",
            659.48046875},
        {"Kimi-Linear-48B",
            [](GgufWriter& w) {
                base(w, 27, 2304, 32)
                    .u32s("attention.head_count_kv",
                        [] {
                            std::vector<std::uint32_t> heads = periodic(27, 4, 1, 1, 0);
                            heads.back() = 1;
                            return heads;
                        }())
                    .u32("attention.key_length", 576)
                    .u32("attention.value_length", 512)
                    .u32("attention.key_length_mla", 192)
                    .u32("attention.value_length_mla", 128)
                    .u32("attention.kv_lora_rank", 512)
                    .u32("ssm.conv_kernel", 4)
                    .u32("kda.head_dim", 128);
            },
            "kimi-linear",
            "mla 7 [3-23:4,26] latent 1x512, rope 1x64; kda 20 [0-2,4-6,8-10,12-14,16-18,20-22,24-25] conv "
            "32x384 "
            "*3 fp32, state 32x16384 *1 fp32",
            294.8125},
        {"LFM2-1.2B",
            [](GgufWriter& w) {
                std::vector<std::uint32_t> heads(16, 0);
                for (const std::size_t layer : {2, 5, 8, 10, 12, 14})
                    heads[layer] = 8;
                base(w, 16, 2048, 32).u32s("attention.head_count_kv", heads).u32("shortconv.l_cache", 3);
            },
            "lfm2", "full 6 [2-8:3,10-14:2] k 8x64, v 8x64; short_conv 10 [0-1,3-4,6-7,9-15:2] conv 2048x1 *2 fp32",
            384.15625},
        {"Jamba: Mamba 1 has no heads",
            [](GgufWriter& w) {
                base(w, 8, 4096, 32)
                    .u32s("attention.head_count_kv", periodic(8, 8, 4, 8, 0))
                    .u32("ssm.conv_kernel", 4)
                    .u32("ssm.inner_size", 8192)
                    .u32("ssm.state_size", 16)
                    .u32("ssm.time_step_rank", 256);
            },
            "jamba", "full 1 [4] k 8x128, v 8x128; mamba1 7 [0-3,5-7] conv 8192x1 *3 fp32, state 8192x16 *1 fp32"},
        {"Falcon-H1: both in every layer",
            [](GgufWriter& w) { ssm(widths(base(w, 4, 2048, 8), 2, 128, 128), 4, 3072, 256, 1, 24); }, "falcon-h1",
            "full 4 [0-3] k 2x128, v 2x128; mamba2 4 [0-3] conv 24x128 *3 fp32, conv_bc 1x512 *3 fp32, state 24x32768 "
            "*1 fp32"},
        {"Mamba 2",
            [](GgufWriter& w) {
                w.u32("block_count", 4).u32("embedding_length", 2560);
                ssm(w, 4, 5120, 128, 1, 80);
            },
            "mamba2", "mamba2 4 [0-3] conv 80x64 *3 fp32, conv_bc 1x256 *3 fp32, state 80x8192 *1 fp32"},
        {"RWKV 7",
            [](GgufWriter& w) { w.u32("block_count", 4).u32("embedding_length", 2048).u32("wkv.head_size", 64); },
            "rwkv7", "rwkv 4 [0-3] shift 1x2048 *2 fp32, state 32x4096 *1 fp32"},
        {"MiniMax-Text-01", [](GgufWriter& w) { widths(base(w, 16, 6144, 64), 8, 128, 128); }, "minimax-01",
            "full 2 [7,15] k 8x128, v 8x128; lightning 14 [0-6,8-14] state 64x16384 *1 fp32"},
        {"MiniMax-M3: indexer after the dense layers",
            [](GgufWriter& w) {
                widths(base(w, 6, 6144, 64), 4, 128, 128)
                    .u32("leading_dense_block_count", 3)
                    .u32("attention.indexer.key_length", 128);
            },
            "minimax-m3", "full 3 [0-2] k 4x128, v 4x128; block_sparse 3 [3-5] k 4x128, v 4x128, index 1x128"},
        {"Nemotron-NAS: layers without attention",
            [](GgufWriter& w) {
                base(w, 4, 4096, 32).u32s("attention.head_count_kv", {8, 0, 4, 8}).u32("attention.key_length", 128);
            },
            "deci", "full 2 [0,3] k 8x128, v 8x128; full_2 1 [2] k 4x128, v 4x128"},
        {"An architecture that nobody knows, with nothing special",
            [](GgufWriter& w) { widths(base(w, 3, 512, 8), 2, 64, 64); }, "novel", "full 3 [0-2] k 2x64, v 2x64"},
    };
    return out;
}

Result<ModelSpec> import(const std::string& header)
{
    ByteReader reader(header, "t/model.gguf");
    return importGguf(reader);
}

} // namespace

class GgufModelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void groups_data();
    void groups();
    void provenance_data() { groups_data(); }
    void provenance();
    void refused_data();
    void refused();
    void notes();
    void weights();
    void weightsDiffer();
};

void GgufModelTest::groups_data()
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < cases().size(); ++i)
        QTest::newRow(cases()[i].name) << static_cast<int>(i);
}

void GgufModelTest::groups()
{
    QFETCH(int, index);
    const Case& one = cases()[static_cast<std::size_t>(index)];
    for (const bool bigEndian : {false, true}) {
        for (const std::uint32_t version : {2U, 3U}) {
            GgufWriter writer(one.architecture, bigEndian, version);
            one.write(writer);
            const auto model = import(writer.header());
            QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
            QCOMPARE(textOf(*model), QString::fromUtf8(one.groups));
            QCOMPARE(model->dtype, ElementType::Fp16);
            if (one.mebibytes != 0) // the trunk's cache has the draft layers of some architectures too
                QCOMPARE(mebibytesOf(*model, qstrcmp(one.architecture, "glm4moe") == 0), one.mebibytes);
        }
    }
}

void GgufModelTest::provenance()
{
    QFETCH(int, index);
    const Case& one = cases()[static_cast<std::size_t>(index)];
    GgufWriter writer(one.architecture);
    one.write(writer);
    const std::string header = writer.header();
    const auto model = import(header);
    QVERIFY(model.ok());
    for (const LayerGroup& group : model->groups) {
        const std::string path = "groups." + group.id;
        QVERIFY2(model->provenance.find(path + ".layers"), path.c_str());
        const auto layers = parseLayerRanges(group.layerIndices);
        QVERIFY(layers && static_cast<std::int64_t>(layers->size()) == group.layers);
        for (const StateTensor& tensor : group.tensors) {
            const std::string field = path + ".tensors." + tensor.id;
            QVERIFY2(model->provenance.find(field + ".heads"), field.c_str());
            QVERIFY2(model->provenance.find(field + ".width"), field.c_str());
            if (tensor.growth.limit)
                QVERIFY2(model->provenance.find(field + ".limit"), field.c_str());
            if (tensor.growth.form == GrowthForm::Fixed)
                QVERIFY2(model->provenance.find(field + ".entries"), field.c_str());
        }
    }
    for (const auto& [path, source] : model->provenance.entries()) {
        if (source->kind == Source::Kind::File) {
            QCOMPARE(source->name, std::string("model.gguf"));
            QCOMPARE(source->sha256, Sha256::hex(header));
        } else {
            QCOMPARE(source->name, std::string("llama.cpp"));
        }
    }
}

void GgufModelTest::refused_data()
{
    QTest::addColumn<int>("index");
    QTest::addColumn<QString>("outcome");
    const char* const outcomes[] = {"no architecture: import.missing_field general.architecture",
        "encoder: import.no_state general.architecture", "projector: import.unsupported general.architecture",
        "no layers: import.missing_field llama.block_count", "0 layers: gguf.value_range llama.block_count",
        "10^6 layers: gguf.value_range llama.block_count", "no width: import.missing_field llama.embedding_length",
        "short array: gguf.value_count llama.attention.head_count_kv",
        "text for a number: gguf.value_type llama.attention.head_count_kv",
        "a float for a number: gguf.value_type llama.block_count",
        "negative heads: gguf.value_range llama.attention.head_count_kv",
        "one mla key: import.inconsistent deepseek2.attention.key_length_mla",
        "unknown with state: import.unsupported novel.ssm.inner_size",
        "unknown with headless layers: import.unsupported novel.attention.head_count_kv",
        "no window: import.missing_field gpt-oss.attention.sliding_window",
        "no pattern: import.missing_field gemma4.attention.sliding_window_pattern",
        "no forward widths: import.missing_field nemotron_h.feed_forward_length",
        "no state size: import.missing_field mamba.ssm.state_size",
        "ratio: import.unsupported deepseek4.attention.compress_ratios",
        "no index width: import.missing_field deepseek32.attention.indexer.key_length",
        "only drafts: gguf.value_range llama.nextn_predict_layers", "no state: import.no_state llama.block_count"};
    int index = 0;
    for (const char* outcome : outcomes) {
        const QString text = QString::fromUtf8(outcome);
        const int colon = static_cast<int>(text.indexOf(u':'));
        QTest::newRow(qPrintable(text.left(colon))) << index++ << text.mid(colon + 2);
    }
}

void GgufModelTest::refused()
{
    static const std::vector<std::pair<const char*, std::function<void(GgufWriter&)>>> writers {
        {"", [](GgufWriter& w) { w.text("general.name", "x"); }},
        {"bert", [](GgufWriter& w) { base(w, 12, 768, 12); }},
        {"clip", [](GgufWriter& w) { w.u32("vision.block_count", 27); }},
        {"llama", [](GgufWriter& w) { w.u32("embedding_length", 4096); }},
        {"llama", [](GgufWriter& w) { base(w, 0, 4096, 32); }},
        {"llama", [](GgufWriter& w) { base(w, 1'000'000, 4096, 32); }},
        {"llama", [](GgufWriter& w) { w.u32("block_count", 4).u32("attention.head_count", 4); }},
        {"llama",
            [](GgufWriter& w) {
                base(w, 4, 4096, 32).u32s("attention.head_count_kv", {8, 8, 8});
            }},
        {"llama", [](GgufWriter& w) { base(w, 4, 4096, 32).text("attention.head_count_kv", "8"); }},
        {"llama", [](GgufWriter& w) { w.f32("block_count", 4).u32("embedding_length", 64); }},
        {"llama",
            [](GgufWriter& w) {
                base(w, 2, 4096, 32).i32s("attention.head_count_kv", {8, -8});
            }},
        {"deepseek2", [](GgufWriter& w) { base(w, 2, 4096, 32).u32("attention.key_length_mla", 192); }},
        {"novel", [](GgufWriter& w) { base(w, 2, 4096, 32).u32("ssm.inner_size", 8192); }},
        {"novel",
            [](GgufWriter& w) {
                base(w, 2, 4096, 32).u32s("attention.head_count_kv", {8, 0});
            }},
        {"gpt-oss", [](GgufWriter& w) { base(w, 2, 4096, 32); }},
        {"gemma4", [](GgufWriter& w) { base(w, 2, 4096, 32).u32("attention.sliding_window", 512); }},
        {"nemotron_h",
            [](GgufWriter& w) {
                base(w, 2, 4096, 32).u32s("attention.head_count_kv", {8, 0});
            }},
        {"mamba",
            [](GgufWriter& w) {
                w.u32("block_count", 2)
                    .u32("embedding_length", 64)
                    .u32("ssm.conv_kernel", 4)
                    .u32("ssm.inner_size", 128);
            }},
        {"deepseek4",
            [](GgufWriter& w) {
                widths(base(w, 2, 4096, 64), 1, 512, 512)
                    .u32("attention.sliding_window", 128)
                    .u32s("attention.compress_ratios", {4, 3});
            }},
        {"deepseek32", [](GgufWriter& w) { latent(base(w, 2, 4096, 64)); }},
        {"llama", [](GgufWriter& w) { base(w, 2, 4096, 32).u32("nextn_predict_layers", 2); }},
        {"llama", [](GgufWriter& w) { base(w, 2, 4096, 32).u32("attention.head_count_kv", 0); }},
    };
    QFETCH(int, index);
    QFETCH(QString, outcome);
    const auto& [architecture, write] = writers.at(static_cast<std::size_t>(index));
    GgufWriter writer(architecture);
    write(writer);
    const auto model = import(writer.header());
    QVERIFY(!model.ok());
    // The key, and the byte at which its value stands when there is one.
    QCOMPARE(q(model.error().code) + u' ' + q(model.error().where.at).section(u' ', 0, 0), outcome);
    QCOMPARE(model.error().where.file, std::string("t/model.gguf"));
}

void GgufModelTest::notes()
{
    GgufWriter mistral("llama");
    base(mistral, 2, 4096, 32).u32("attention.sliding_window", 4096).text("general.name", "A Mistral");
    const auto model = import(mistral.header());
    QVERIFY(model.ok());
    QCOMPARE(model->name, std::string("A Mistral"));
    QCOMPARE(model->maximumPositions.value_or(0), std::int64_t {131'072});
    QCOMPARE(diagnosticIds(*model), QStringLiteral("import.window_not_used import.no_weights"));
    QCOMPARE(assumptionIds(*model),
        QStringLiteral("import.cache_type_default import.kv_heads_default import.head_dim_computed "
                       "import.head_dim_computed"));
    QVERIFY(!model->weightBytes);

    GgufWriter tokens("llama");
    base(tokens, 2, 4096, 32).texts("tokenizer.ggml.tokens", {"a", "b", "c"});
    QCOMPARE(import(tokens.header())->vocabulary.value_or(0), std::int64_t {3});
    QCOMPARE(import(tokens.header())->name, std::string("model"));

    GgufWriter novel("novel");
    base(novel, 2, 4096, 32);
    QVERIFY(diagnosticIds(*import(novel.header())).startsWith(QStringLiteral("import.unknown_architecture!")));

    GgufWriter old("deepseek2");
    widths(base(old, 2, 7168, 128), 128, 192, 128).u32("attention.kv_lora_rank", 512);
    QVERIFY(diagnosticIds(*import(old.header())).contains(QStringLiteral("import.latent_expanded!")));
}

void GgufModelTest::weights()
{
    GgufWriter writer("llama");
    widths(base(writer, 3, 4096, 32), 8, 128, 128).u32("nextn_predict_layers", 1);
    // Bytes by hand: f32 4, q4_K 144 for 256, q6_K 210 for 256, q8_0 34 for 32, mxfp4 17 for 32.
    writer.tensor("token_embd.weight", {4096, 1000}, 12, 4'096'000 / 256 * 144);
    writer.tensor("blk.0.attn_k.weight", {4096, 1024}, 12, 4'194'304 / 256 * 144);
    writer.tensor("blk.0.attn_v.weight", {4096, 1024}, 14, 4'194'304 / 256 * 210);
    writer.tensor("blk.0.attn_norm.weight", {4096}, 0, 16'384);
    writer.tensor("blk.1.ffn_up_exps.weight", {4096, 32, 4}, 39, 524'288 / 32 * 17);
    writer.tensor("blk.1.ffn_down.weight", {4096, 64}, 8, 262'144 / 32 * 34);
    writer.tensor("blk.2.attn_k.weight", {4096, 1024}, 12, 4'194'304 / 256 * 144);
    writer.tensor("blk.2.nextn.eh_proj.weight", {8192, 4096}, 1, 67'108'864);
    writer.tensor("output.weight", {4096, 1000}, 14, 4'096'000 / 256 * 210);
    const std::string header = writer.header();
    const auto model = import(header);
    QVERIFY2(model.ok(), model.ok() ? "" : model.error().text().c_str());
    QStringList parts;
    for (const WeightPart& part : model->weights)
        parts += QStringLiteral("%1 %2 %3 %4")
                     .arg(q(weightComponentNames()[static_cast<std::size_t>(part.component)]), q(part.type))
                     .arg(part.tensors)
                     .arg(part.bytes);
    QCOMPARE(parts.join(QStringLiteral("; ")),
        QStringLiteral(
            "embedding q4_K 1 2304000; attention q4_K 1 2359296; attention q6_K 1 3440640; mlp q8_0 1 278528; "
            "experts mxfp4 1 278528; norm f32 1 16384; output q6_K 1 3360000; draft f16 1 67108864; "
            "draft q4_K 1 2359296"));
    std::int64_t sum = 0;
    for (const WeightPart& part : model->weights)
        sum += part.bytes;
    QCOMPARE(model->weightBytes.value_or(0), sum);
    QCOMPARE(sum, std::int64_t {81'505'536});
    const auto source = model->provenance.find("weightBytes");
    QVERIFY(source && source->kind == Source::Kind::File);
    QCOMPARE(source->sha256, Sha256::hex(header));
    // The file ends with its header: that is said, and the numbers are there all the same.
    QVERIFY(diagnosticIds(*model).contains(QStringLiteral("import.file_incomplete!")));
}

void GgufModelTest::weightsDiffer()
{
    GgufWriter writer("llama");
    widths(base(writer, 2, 4096, 32), 8, 128, 128);
    writer.tensor("blk.0.attn_k.weight", {4096, 1024}, 1, 8'388'608);
    writer.tensor("blk.0.attn_v.weight", {4096, 512}, 1, 4'194'304);
    writer.tensor("blk.3.attn_k.weight", {4096, 1024}, 1, 8'388'608);
    const auto model = import(writer.header());
    QVERIFY(model.ok());
    QStringList found;
    for (const Diagnostic& diagnostic : model->diagnostics) {
        if (diagnostic.id.starts_with("import.weights"))
            found += q(diagnostic.id) + u' ' + q(diagnostic.where.at) + u' ' + q(diagnostic.message);
    }
    QCOMPARE(found.size(), 3);
    QVERIFY(found[0].contains(QStringLiteral("layers 1,")));
    QVERIFY(found[1].startsWith(QStringLiteral("import.weights_layers blk.3.attn_k.weight")));
    QVERIFY(found[2].startsWith(QStringLiteral("import.weights_shape blk.0.attn_v.weight")));
    QVERIFY(found[2].contains(QStringLiteral("512 elements of values")));
    QVERIFY(found[2].contains(QStringLiteral("says 1024")));
}

QTEST_APPLESS_MAIN(GgufModelTest)
#include "tst_gguf_model.moc"
