// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

// Whatever a config.json says: it becomes a model whose every number is within bounds and has a source, or an error
// that says where. The first byte of the input chooses a model type; the rest is put beside its usual fields, or is the
// whole file.

#include "import/hf_config.h"
#include "fuzz/fuzz.h"

#include <array>

using namespace kvw;
using fuzz::require;

namespace {

/// Types of every kind of family, so that the inner readers are reached.
constexpr std::array<const char*, 26> types {"llama", "gemma3_text", "gemma3n_text", "gemma4_text", "llama4_text",
    "mimo_v2_flash", "nemotron-nas", "minimax_m3", "deepseek_v3", "glm_moe_dsa", "deepseek_v4", "deepseek_v41_text",
    "qwen3_next", "kimi_linear", "glm5_next_text", "nemotron_h", "granitemoehybrid", "falcon_h1", "jamba", "lfm2",
    "minimax_text_01", "rwkv5", "recurrent_gemma", "mllama_text_model", "whisper", "something_new"};

/// Fields that decide what layers keep, each with a value that some family reads.
const char* const members[] = {R"("num_hidden_layers":4)", R"("num_key_value_heads":2)", R"("head_dim":8)",
    R"("layer_types":["full_attention","sliding_attention","linear_attention","chunked_attention"])",
    R"("layers_block_type":["mamba","moe","attention","hybrid"])", R"("hybrid_override_pattern":"M*E-")",
    R"("hybrid_layer_pattern":[0,1,1,0])", R"("attn_type_list":[0,1,0,1])", R"("full_attn_idxs":[1])",
    R"("linear_attn_config":{"kda_layers":[1,2],"full_attn_layers":[3,4],"num_heads":2,"head_dim":8,
    "short_conv_kernel_size":4})",
    R"("block_configs":[{"attention":{"n_heads_in_group":4}},{"attention":{"no_op":true}},
    {"attention":{"no_op":true}},{"attention":{"n_heads_in_group":8}}])",
    R"("compress_ratios":[0,4,128,4])", R"("kv_source_layer_ids":[1])", R"("sliding_window":16)",
    R"("kv_lora_rank":32,"qk_rope_head_dim":4)", R"("indexer_types":["full","shared","full","shared"])",
    R"("num_kv_shared_layers":2)", R"("per_layer_config":{"3":{"head_dim":16}})", R"("num_nextn_predict_layers":2)",
    R"("cross_attention_layers":[1,3])", R"("no_rope_layers":[1,0,1,0])", R"("index_topk_freq":4)",
    R"("decoder_layers":2,"decoder_attention_heads":8)", R"("mamba_d_state":16,"mamba_n_heads":4)",
    R"("mtp_layers_block_type":["attention","moe"])",
    R"("sparse_attention_config":{"sparse_attention_freq":[0,1,1,1]})",
    R"("linear_num_key_heads":2,"linear_num_value_heads":4)", R"("block_types":["recurrent","attention"])"};

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

/// Each family with every field, and each field alone in a family that is not known.
std::vector<std::string> fuzz::seeds()
{
    std::vector<std::string> out;
    std::string all;
    for (const char* member : members)
        all += (all.empty() ? "" : ",") + std::string(member);
    for (std::size_t choice = 0; choice < types.size(); ++choice) {
        const std::string first(1, static_cast<char>(choice));
        out.push_back(first + all);
        out.push_back(first + R"("num_hidden_layers":4,"num_key_value_heads":2,"head_dim":8,"sliding_window":16)");
    }
    const std::string whole(1, static_cast<char>(types.size()));
    for (const char* member : members)
        out.push_back(whole + R"({"num_hidden_layers":4,"text_config":{"model_type":"gemma3_text",)" + member + "}}");
    return out;
}
