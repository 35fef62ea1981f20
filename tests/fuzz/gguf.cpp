// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// A GGUF header of any bytes is read or refused, the same each time; whatever is imported holds together.

#include "fuzz/fuzz.h"
#include "import/gguf_file.h"
#include "support/gguf_writer.h"

using namespace kvw;
using fuzz::require;

namespace {

void checkModel(const ModelSpec& model)
{
    require(!model.groups.empty() && model.dtype != ElementType::NotStated);
    for (const LayerGroup& group : model.groups) {
        const Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
        require(layers.ok() && static_cast<std::int64_t>(layers->size()) == group.layers);
        require(group.tensors.empty() == (group.kind == LayerKind::Shared));
        for (const StateTensor& tensor : group.tensors) {
            require(tensor.heads >= 1 && tensor.width >= 1 && tensor.growth.stride >= 1 && tensor.growth.chunk >= 1);
            require(!tensor.growth.limit || *tensor.growth.limit >= 1);
        }
    }
    std::int64_t bytes = 0;
    for (const WeightPart& part : model.weights)
        bytes += part.bytes;
    require(model.weights.empty() || bytes == model.weightBytes);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    ByteReader first(bytes, "fuzz.gguf");
    const Result<ModelSpec> model = importGguf(first);
    ByteReader second(bytes, "fuzz.gguf");
    const Result<ModelSpec> again = importGguf(second);
    require(model.ok() == again.ok());
    if (model) {
        require(model->groups == again->groups);
        checkModel(*model);
    } else {
        require(!model.error().code.empty() && model.error().code == again.error().code);
    }
    return 0;
}

/// One header of each kind of state, in both byte orders.
std::vector<std::string> fuzz::seeds()
{
    std::vector<std::string> out;
    for (const bool bigEndian : {false, true}) {
        for (const char* architecture : {"llama", "gpt-oss", "gemma4", "gemma3n", "qwen35", "nemotron_h", "kimi-linear",
                 "deepseek2", "deepseek4", "glm-dsa", "lfm2", "rwkv7", "minimax-01", "falcon-h1", "novel"}) {
            test::GgufWriter writer(architecture, bigEndian);
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
