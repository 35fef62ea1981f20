// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_attention.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::int64_t mostLayers = 10'000;
constexpr std::int64_t mostHeads = 65'536;
constexpr std::int64_t mostWidth = 1'000'000;

/// Heads and widths of the keys and values of one configuration.
class ShapeReader
{
public:
    /// `group` is the first layer group: assumptions lead to its fields.
    ShapeReader(const HfFields& fields, const HfFamily& family, const std::string& group, ModelSpec& model)
        : m_fields(fields)
        , m_family(family)
        , m_path("worksheet.groups." + group + ".tensors.k.")
        , m_model(model)
    {}

    Result<Stated> keyValueHeads()
    {
        Result<Stated> heads = readKeyValueHeads();
        if (!heads)
            return heads;
        const Result<std::optional<Stated>> query = statedQueryHeads();
        if (!query)
            return query.error();
        if (*query && (*query)->value % heads->value != 0)
            return Error {"import.inconsistent", "the query heads cannot be divided over the key and value heads",
                {m_fields.root().file(), heads->source.at}, fmt::format("{} over {}", (*query)->value, heads->value),
                "a whole number of query heads for each"};
        return heads;
    }

    Result<Stated> keyWidth()
    {
        if (!m_family.ignoresHeadDim) {
            const Result<std::optional<Stated>> stated = m_fields.integer({"head_dim", "kv_channels"}, 1, mostWidth);
            if (!stated)
                return stated.error();
            if (*stated)
                return **stated;
            if (m_family.headDim != 0)
                return assume("import.head_dim_class_default", "width", "head_dim", m_family.headDim,
                    fmt::format("head_dim is not stated: its class's default, {}, was taken.", m_family.headDim));
        }
        const Result<std::optional<Stated>> hidden
            = m_fields.integer({"hidden_size", "n_embd", "d_model"}, 1, mostWidth);
        if (!hidden)
            return hidden.error();
        if (!*hidden)
            return m_fields.missing("hidden_size", "head_dim, or hidden_size to compute it from");
        Result<Stated> heads = queryHeads();
        if (!heads)
            return heads;
        const std::int64_t size = (*hidden)->value;
        if (size % heads->value != 0)
            return Error {"import.inconsistent",
                "head_dim is not stated, and hidden_size ÷ query heads is not a whole number",
                {m_fields.root().file(), (*hidden)->source.at}, fmt::format("{} ÷ {}", size, heads->value), "head_dim"};
        return assume("import.head_dim_computed", "width", "head_dim", size / heads->value,
            fmt::format("head_dim {}: hidden_size {} ÷ {} query heads was taken.",
                m_family.ignoresHeadDim ? "is never read by its class" : "is not stated", size, heads->value));
    }

    Result<Stated> valueWidth(const Stated& keyWidth)
    {
        const Result<std::optional<Stated>> stated = m_fields.integer({"v_head_dim"}, 1, mostWidth);
        if (!stated)
            return stated.error();
        return stated->value_or(keyWidth);
    }

private:
    Result<std::optional<Stated>> statedQueryHeads() const
    {
        return m_fields.integer({"num_attention_heads", "n_head", "n_heads"}, 1, mostHeads);
    }

    Result<Stated> queryHeads()
    {
        if (m_queryHeads)
            return *m_queryHeads;
        const Result<std::optional<Stated>> stated = statedQueryHeads();
        if (!stated)
            return stated.error();
        if (*stated)
            m_queryHeads = **stated;
        else if (m_family.heads == 0)
            return m_fields.missing("num_attention_heads", "the number of query heads");
        else
            m_queryHeads = assume("import.heads_class_default", "heads", "num_attention_heads", m_family.heads,
                fmt::format("num_attention_heads is not stated: its class's default, {}, was taken.", m_family.heads));
        return *m_queryHeads;
    }

    Result<Stated> readKeyValueHeads()
    {
        if (m_family.headRule == HeadRule::MultiQuery || m_family.headRule == HeadRule::QueryGroups)
            return headsBySwitch();
        const Result<std::optional<Stated>> stated
            = m_fields.integer({"num_key_value_heads", "n_head_kv"}, 1, mostHeads);
        if (!stated)
            return stated.error();
        if (*stated)
            return **stated;
        const Result<std::optional<bool>> multiQuery = m_fields.flag("multi_query");
        if (!multiQuery)
            return multiQuery.error();
        if (multiQuery->value_or(false))
            return Stated {1, m_fields.fileSource(m_fields.pointer("multi_query"), "multi-query attention: one head")};
        if (m_family.headRule == HeadRule::Required)
            return m_fields.missing("num_key_value_heads", "the number of key and value heads");
        if (m_family.headRule == HeadRule::ClassDefault)
            return assume("import.kv_heads_class_default", "heads", "num_key_value_heads", m_family.kvHeads,
                fmt::format(
                    "num_key_value_heads is not stated: its class's default, {}, was taken.", m_family.kvHeads));
        return oneForEachQueryHead("num_key_value_heads is not stated");
    }

    /// Classes where a switch decides between shared and separate heads.
    Result<Stated> headsBySwitch()
    {
        const bool groups = m_family.headRule == HeadRule::QueryGroups;
        const char* name = groups ? "multi_query_attention" : "multi_query";
        const Result<std::optional<bool>> shared = m_fields.flag(name);
        if (!shared)
            return shared.error();
        if (groups && !*shared)
            return m_fields.missing(name, "true or false");
        if (*shared == std::optional(false))
            return oneForEachQueryHead(fmt::format("{} is false", name));
        if (groups) {
            const Result<std::optional<Stated>> stated = m_fields.integer({"multi_query_group_num"}, 1, mostHeads);
            if (!stated)
                return stated.error();
            if (!*stated)
                return m_fields.missing("multi_query_group_num", "the number of key and value heads");
            return **stated;
        }
        if (*shared)
            return Stated {1, m_fields.fileSource(m_fields.pointer(name), "multi-query attention: one head")};
        return assume("import.kv_heads_class_default", "heads", name, 1,
            "multi_query is not stated: its class's default, true, was taken, so there is one key and value head.");
    }

    Result<Stated> oneForEachQueryHead(std::string_view why)
    {
        Result<Stated> heads = queryHeads();
        if (!heads)
            return heads;
        return assume("import.kv_heads_default", "heads", "num_key_value_heads", heads->value,
            fmt::format("{}: every query head has a key and a value head of its own, {}.", why, heads->value));
    }

    Stated assume(
        std::string id, std::string_view field, std::string_view instead, std::int64_t value, std::string text)
    {
        m_model.assumptions.push_back({std::move(id), text, m_path + std::string(field)});
        return {value, m_fields.assumption(m_fields.pointer(instead), std::move(text))};
    }

    const HfFields& m_fields;
    const HfFamily& m_family;
    const std::string m_path;
    ModelSpec& m_model;
    std::optional<Stated> m_queryHeads;
};

void addGroup(ModelSpec& model, LayerGroup group, std::span<const std::int64_t> layers, const Source& source)
{
    group.layers = static_cast<std::int64_t>(layers.size());
    group.layerIndices = layerRanges(layers);
    const std::string path = "groups." + group.id;
    model.provenance.set(path + ".layers", source);
    model.provenance.set(path + ".layerIndices", source);
    model.groups.push_back(std::move(group));
}

/// Layer numbers where `sliding` is `wanted`.
std::vector<std::int64_t> layersWhere(const std::vector<bool>& sliding, bool wanted)
{
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < sliding.size(); ++i) {
        if (sliding[i] == wanted)
            out.push_back(static_cast<std::int64_t>(i));
    }
    return out;
}

Result<void> addAttention(const HfFields& fields, const HfFamily& family, const LayerPlan& plan, ModelSpec& model)
{
    const std::vector<std::int64_t> full = layersWhere(plan.sliding, false);
    const std::vector<std::int64_t> sliding = layersWhere(plan.sliding, true);
    ShapeReader shape(fields, family, full.empty() ? "sliding" : "full", model);
    const Result<Stated> heads = shape.keyValueHeads();
    if (!heads)
        return heads.error();
    const Result<Stated> keyWidth = shape.keyWidth();
    if (!keyWidth)
        return keyWidth.error();
    const Result<Stated> valueWidth = shape.valueWidth(*keyWidth);
    if (!valueWidth)
        return valueWidth.error();

    const auto add = [&](LayerGroup group, std::span<const std::int64_t> layers, const std::optional<Stated>& window) {
        GrowthLaw growth;
        if (window)
            growth.limit = window->value;
        group.tensors = attentionTensors(heads->value, keyWidth->value, valueWidth->value, growth);
        for (const StateTensor& tensor : group.tensors) {
            const std::string path = "groups." + group.id + ".tensors." + tensor.id + ".";
            model.provenance.set(path + "heads", heads->source);
            model.provenance.set(path + "width", (tensor.role == TensorRole::Value ? valueWidth : keyWidth)->source);
            if (window)
                model.provenance.set(path + "limit", window->source);
        }
        addGroup(model, std::move(group), layers, plan.source);
    };
    if (!full.empty())
        add({.id = "full", .name = "Full attention", .kind = LayerKind::Full}, full, std::nullopt);
    if (!sliding.empty())
        add({.id = "sliding", .name = fmt::format("Sliding window {}", plan.window->value), .kind = LayerKind::Sliding},
            sliding, plan.window);
    return {};
}

Result<void> addLatent(const HfFields& fields, const LayerPlan& plan, ModelSpec& model)
{
    if (plan.window)
        return Error {"import.unsupported", "latent attention with a window cannot be read yet",
            {fields.root().file(), plan.source.at}};
    const Result<std::optional<Stated>> latent = fields.integer({"kv_lora_rank"}, 1, mostWidth);
    if (!latent)
        return latent.error();
    if (!*latent)
        return fields.missing("kv_lora_rank", "the width of the latent that this model type keeps");
    const Result<std::optional<Stated>> positional = fields.integer({"qk_rope_head_dim"}, 1, mostWidth);
    if (!positional)
        return positional.error();
    if (!*positional)
        return fields.missing("qk_rope_head_dim", "the width of the rotary key beside the latent");
    const Result<std::optional<bool>> used = fields.flag("use_mla");
    if (!used)
        return used.error();
    if (!used->value_or(true))
        return fields.find({"use_mla"})
            ->error("import.unsupported", "a latent is stated, but its use is switched off", "true");

    LayerGroup group {.id = "mla", .name = "MLA latent", .kind = LayerKind::Mla};
    group.tensors = latentTensors((*latent)->value, (*positional)->value);
    Source one;
    one.kind = Source::Kind::Definition;
    one.name = "multi-head latent attention";
    one.note = "the latent and its rotary key serve all query heads: one head";
    Source whole = one;
    whole.note = "the one head cannot be divided: every tensor-parallel rank keeps all of it";
    for (const StateTensor& tensor : group.tensors) {
        const std::string path = "groups.mla.tensors." + tensor.id + ".";
        model.provenance.set(path + "heads", one);
        model.provenance.set(path + "shard", whole);
        model.provenance.set(path + "width", (tensor.role == TensorRole::Latent ? **latent : **positional).source);
    }
    addGroup(model, std::move(group), layersWhere(plan.sliding, false), plan.source);

    if (const auto ignored = fields.find({"num_key_value_heads", "head_dim"}))
        model.diagnostics.push_back({Severity::Note, "import.mla_heads",
            "num_key_value_heads and head_dim do not count for the state: all heads share one latent.", {},
            {ignored->file(), ignored->pointer()}});
    return {};
}

} // namespace

Result<void> addLayerGroups(const HfFields& fields, const HfFamily& family, ModelSpec& model)
{
    const Result<std::optional<Stated>> layers
        = fields.integer({"num_hidden_layers", "n_layer", "num_layers", "n_layers"}, 1, mostLayers);
    if (!layers)
        return layers.error();
    if (!*layers)
        return fields.missing("num_hidden_layers", "the number of layers, as every Hugging Face config.json has it");
    const Result<LayerPlan> plan = planLayers(fields, family, **layers, model);
    if (!plan)
        return plan.error();
    if (family.latent || fields.find({"kv_lora_rank"}))
        return addLatent(fields, *plan, model);
    return addAttention(fields, family, *plan, model);
}

} // namespace kvw
