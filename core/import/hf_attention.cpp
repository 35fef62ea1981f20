// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_attention.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kvw {

namespace {

/// Heads and widths of the keys and values of one configuration.
class ShapeReader
{
public:
    /// `group` is the first layer group: assumptions lead to its fields.
    ShapeReader(const HfReading& reading, const std::string& group)
        : m_reading(reading)
        , m_fields(reading.fields)
        , m_family(reading.family)
        , m_path(group + ".tensors.k.")
    {}

    Result<Stated> keyValueHeads()
    {
        Result<Stated> heads = readKeyValueHeads();
        if (!heads)
            return heads;
        if (m_family.crossRule == CrossRule::Bart || m_family.crossRule == CrossRule::T5)
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
            const Result<std::optional<Stated>> stated
                = m_fields.integer({"head_dim", "attention_head_dim", "kv_channels", "d_kv"}, 1, mostWidth);
            if (!stated)
                return stated.error();
            if (*stated)
                return **stated;
            if (m_family.headDim != 0)
                return assume("import.head_dim_class_default", "width", "head_dim", m_family.headDim,
                    fmt::format("head_dim is not stated: its class's default, {}, was taken.", m_family.headDim));
        }
        const Result<std::optional<Stated>> hidden
            = m_fields.integer({"hidden_size", "n_embd", "d_model", "n_embed"}, 1, mostWidth);
        if (!hidden)
            return hidden.error();
        if (!*hidden && (m_family.nestedHidden == 0 || !m_fields.isNested()))
            return m_fields.missing("hidden_size", "head_dim, or hidden_size to compute it from");
        Result<Stated> heads = queryHeads();
        if (!heads)
            return heads;
        const std::int64_t size = (*hidden ? (*hidden)->value : m_family.nestedHidden) * m_family.headSpan;
        if (size % heads->value != 0)
            return Error {"import.inconsistent",
                "head_dim is not stated, and hidden_size ÷ query heads is not a whole number",
                {m_fields.root().file(), *hidden ? (*hidden)->source.at : m_fields.pointer("hidden_size")},
                fmt::format("{} ÷ {}", size, heads->value), "head_dim"};
        return assume("import.head_dim_computed", "width", "head_dim", size / heads->value,
            fmt::format("head_dim {}: {} {} ÷ {} query heads was taken.",
                m_family.ignoresHeadDim ? "is never read by its class" : "is not stated",
                !*hidden                     ? "the class's hidden_size"
                    : m_family.headSpan == 1 ? "hidden_size"
                                             : "twice hidden_size,",
                size, heads->value));
    }

    Result<Stated> valueWidth(const Stated& keyWidth)
    {
        // 0 stands in files of latent classes that are told to keep plain keys and values.
        const Result<std::optional<Stated>> stated = m_fields.integer({"v_head_dim"}, 0, mostWidth);
        if (!stated)
            return stated.error();
        return *stated && (*stated)->value > 0 ? **stated : keyWidth;
    }

private:
    Result<std::optional<Stated>> statedQueryHeads() const
    {
        const HfFields::Names usual {"num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads"};
        const HfFields::Names bart {"decoder_attention_heads", "num_attention_heads", "attention_heads"};
        return m_fields.integer(m_family.crossRule == CrossRule::Bart ? bart : usual, 1, mostHeads);
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
        else if (const std::int64_t heads
                 = m_family.heads != 0 || !m_fields.isNested() ? m_family.heads : m_family.nestedHeads;
                 heads == 0)
            return m_fields.missing("num_attention_heads", "the number of query heads");
        else
            m_queryHeads = assume("import.heads_class_default", "heads", "num_attention_heads", heads,
                fmt::format("num_attention_heads is not stated: its class's default, {}, was taken.", heads));
        return *m_queryHeads;
    }

    Result<Stated> readKeyValueHeads()
    {
        if (m_family.headRule == HeadRule::MultiQuery || m_family.headRule == HeadRule::QueryGroups)
            return headsBySwitch();
        if (m_family.headRule == HeadRule::Falcon)
            return headsOfFalcon();
        if (m_family.headRule == HeadRule::Nested)
            return headsOfAttentionConfig();
        const Result<std::optional<Stated>> stated = m_fields.integer(
            {"num_key_value_heads", "n_head_kv", "num_kv_heads", "num_attention_groups"}, 1, mostHeads);
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
            return oneForEachQueryHead("multi_query_attention is not stated, as in the first files of the class");
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

    /// The new decoder states its heads; the old one has one head, unless multi_query is false.
    Result<Stated> headsOfFalcon()
    {
        const Result<std::optional<bool>> grouped = m_fields.flag("new_decoder_architecture");
        if (!grouped)
            return grouped.error();
        const Result<std::optional<Stated>> stated = m_fields.integer({"n_head_kv", "num_kv_heads"}, 1, mostHeads);
        if (!stated)
            return stated.error();
        const Result<std::optional<bool>> multiQuery = m_fields.flag("multi_query");
        if (!multiQuery)
            return multiQuery.error();
        // The first files of the new decoder say neither of the two.
        const bool bare = !*grouped && !*multiQuery;
        if (grouped->value_or(false) || (bare && *stated))
            return *stated ? **stated : oneForEachQueryHead("num_kv_heads is not stated");
        return headsBySwitch();
    }

    /// attn_config, an object of its own.
    Result<Stated> headsOfAttentionConfig()
    {
        const auto config = m_fields.find({"attn_config"});
        if (const auto stated = config ? config->findValue("kv_n_heads") : std::nullopt) {
            const Result<std::int64_t> heads = stated->integer(1, mostHeads);
            if (!heads)
                return heads.error();
            return Stated {*heads, m_fields.fileSource(stated->pointer())};
        }
        const auto type = config ? config->findValue("attn_type") : std::nullopt;
        if (type && type->json() == "multiquery_attention")
            return Stated {1, m_fields.fileSource(type->pointer(), "multi-query attention: one head")};
        if (type && type->json() == "grouped_query_attention")
            return config->error(
                "import.missing_field", "kv_n_heads is not stated", "the number of key and value heads");
        if (m_family.kvHeads != 0)
            return assume("import.kv_heads_class_default", "heads", "attn_config", m_family.kvHeads,
                fmt::format(
                    "attn_config.kv_n_heads is not stated: its class's default, {}, was taken.", m_family.kvHeads));
        return oneForEachQueryHead("attn_config.kv_n_heads is not stated");
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
        return m_reading.assume(std::move(id), m_path + std::string(field), instead, value, std::move(text));
    }

    const HfReading& m_reading;
    const HfFields& m_fields;
    const HfFamily& m_family;
    const std::string m_path;
    std::optional<Stated> m_queryHeads;
};

/// The first of the fields of an object, as a whole number; nothing when there is no such object or field.
Result<std::optional<Stated>> below(
    const HfFields& fields, const std::optional<JsonView>& object, std::string_view name, std::int64_t most)
{
    const auto found = object ? object->findValue(name) : std::nullopt;
    if (!found)
        return std::optional<Stated> {};
    const Result<std::int64_t> value = found->integer(1, most);
    if (!value)
        return value.error();
    return std::optional<Stated>(Stated {*value, fields.fileSource(found->pointer())});
}

} // namespace

Result<AttentionShape> readAttentionShape(const HfReading& reading, const std::string& group)
{
    ShapeReader shape(reading, group);
    const Result<Stated> heads = shape.keyValueHeads();
    if (!heads)
        return heads.error();
    const Result<Stated> keyWidth = shape.keyWidth();
    if (!keyWidth)
        return keyWidth.error();
    const Result<Stated> valueWidth = shape.valueWidth(*keyWidth);
    if (!valueWidth)
        return valueWidth.error();
    return AttentionShape {*heads, *keyWidth, *valueWidth};
}

Result<AttentionShape> slidingShape(const HfReading& reading, AttentionShape shape)
{
    const HfFields& fields = reading.fields;
    const auto other = fields.find({"attention_other_setting"});
    const auto replace
        = [&](Stated& value, std::string_view own, std::string_view otherName, std::int64_t most) -> Result<bool> {
        Result<std::optional<Stated>> stated = fields.integer({own}, 1, most);
        if (stated && !*stated)
            stated = below(fields, other, otherName, most);
        if (!stated)
            return stated.error();
        if (*stated)
            value = **stated;
        return stated->has_value();
    };
    if (const Result<bool> read = replace(shape.heads, "swa_num_key_value_heads", "num_attention_groups", mostHeads);
        !read)
        return read.error();
    const bool equal = shape.keyWidth.value == shape.valueWidth.value;
    const Result<bool> width = replace(shape.keyWidth, "swa_head_dim", "head_dim", mostWidth);
    if (!width)
        return width.error();
    if (*width && equal)
        shape.valueWidth = shape.keyWidth;
    if (const Result<bool> read = replace(shape.valueWidth, "swa_v_head_dim", "v_head_dim", mostWidth); !read)
        return read.error();
    return shape;
}

Result<AttentionShape> globalShape(const HfReading& reading, AttentionShape shape)
{
    const HfFields& fields = reading.fields;
    if (reading.family.globalHeadDim == 0 || fields.find({"per_layer_config"}))
        return shape;
    const Result<Stated> width
        = reading.numberOr({"global_head_dim"}, 1, mostWidth, reading.family.globalHeadDim, "full.tensors.k.width");
    if (!width)
        return width.error();
    shape.keyWidth = *width;
    shape.valueWidth = *width;
    // One projection for K and V: K is normed and roped, V is not, so both are kept. The switch decides about heads
    // only.
    const Result<std::optional<bool>> oneProjection = fields.flag("attention_k_eq_v");
    if (!oneProjection)
        return oneProjection.error();
    const Result<std::optional<Stated>> heads = fields.integer({"num_global_key_value_heads"}, 1, mostHeads);
    if (!heads)
        return heads.error();
    if (*heads && oneProjection->value_or(false))
        shape.heads = **heads;
    return shape;
}

LayerState attentionState(LayerGroup group, const AttentionShape& shape, const GrowthLaw& growth)
{
    LayerState out {.group = std::move(group)};
    for (StateTensor& tensor :
        attentionTensors(shape.heads.value, shape.keyWidth.value, shape.valueWidth.value, growth))
        out.add(
            tensor, shape.heads.source, (tensor.role == TensorRole::Value ? shape.valueWidth : shape.keyWidth).source);
    return out;
}

} // namespace kvw
