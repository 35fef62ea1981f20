// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Whatever a config.json says: it becomes a model whose every number is within bounds and has a source, or an error
// that says where. The first byte of the input chooses a model type; the rest is put beside its usual fields, or is the
// whole file.

#include "import/hf_config.h"

#include <array>
#include <cstdlib>
#include <string>

using namespace kvw;

namespace {

void require(bool condition)
{
    if (!condition)
        std::abort();
}

/// Types of every kind of family, so that the inner readers are reached.
constexpr std::array<const char*, 26> types {"llama", "gemma3_text", "gemma3n_text", "gemma4_text", "llama4_text",
    "mimo_v2_flash", "nemotron-nas", "minimax_m3", "deepseek_v3", "glm_moe_dsa", "deepseek_v4", "deepseek_v41_text",
    "qwen3_next", "kimi_linear", "glm5_next_text", "nemotron_h", "granitemoehybrid", "falcon_h1", "jamba", "lfm2",
    "minimax_text_01", "rwkv5", "recurrent_gemma", "mllama_text_model", "whisper", "something_new"};

void check(const ModelSpec& model)
{
    require(!model.groups.empty() && model.dtype != ElementType::NotStated);
    for (const LayerGroup& group : model.groups) {
        const Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
        require(layers.ok() && static_cast<std::int64_t>(layers->size()) == group.layers);
        require(group.layers >= 1 && group.layers <= 10'000 && group.tensors.size() <= 64);
        require(group.kind == LayerKind::Shared ? !group.readsGroup.empty() : !group.tensors.empty());
        for (const StateTensor& tensor : group.tensors) {
            require(tensor.heads >= 1 && tensor.heads <= 65'536 && tensor.width >= 1 && tensor.width <= 1'000'000);
            const GrowthLaw& growth = tensor.growth;
            require(growth.stride >= 1 && growth.chunk >= 1 && growth.entries >= 0);
            require(!growth.limit || *growth.limit >= 1);
            const std::string path = "groups." + group.id + ".tensors." + tensor.id;
            require(model.provenance.find(path + ".heads") && model.provenance.find(path + ".width"));
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::size_t choice = data[0] % (types.size() + 1);
    std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
    if (choice < types.size())
        text = std::string(R"({"model_type":")") + types[choice]
            + R"(","vocab_size":9,"num_attention_heads":8,"hidden_size":64,)" + text + "}";
    const Result<JsonDocument> document
        = parseJson(text, "config.json", {.bytes = 1 << 20, .depth = 32, .values = 100'000});
    if (!document) {
        require(!document.error().code.empty());
        return 0;
    }
    const Result<ModelSpec> model = importHuggingFaceConfig(*document);
    if (model)
        check(*model);
    else
        require(!model.error().code.empty() && model.error().where.file == "config.json");
    return 0;
}
