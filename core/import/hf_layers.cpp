// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_layers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace kvw {

namespace {

/// Finds out what the layers of one configuration are.
class LayerReader
{
public:
    LayerReader(const HfReading& reading, const Stated& layers)
        : m_reading(reading)
        , m_fields(reading.fields)
        , m_family(reading.family)
        , m_count(static_cast<std::size_t>(layers.value))
    {
        m_plan.roles.assign(m_count, LayerRole::Full);
        m_plan.source = layers.source;
    }

    Result<LayerPlan> read()
    {
        const Result<bool> listed = readLayerList(m_reading, m_plan);
        if (!listed)
            return listed.error();
        if (!*listed) {
            if (const Result<void> ruled = applyRule(); !ruled)
                return ruled.error();
        }
        m_listed = *listed || m_family.layerRule != LayerRule::Attention;
        for (const auto step : {&LayerReader::readCross, &LayerReader::readChunk, &LayerReader::readWindows,
                 &LayerReader::forceLast, &LayerReader::readShapes, &LayerReader::readShared}) {
            if (const Result<void> status = (this->*step)(); !status)
                return status.error();
        }
        return std::move(m_plan);
    }

private:
    /// What the layers are when no list says so.
    Result<void> applyRule()
    {
        switch (m_family.layerRule) {
        case LayerRule::Attention:
            if (m_family.mixer != Mixer::None)
                return assumeRule("no list says which layers are attention: as in the class, all are.");
            return {};
        case LayerRule::Interval:
            return everyNth("full_attention_interval", LayerRole::Mixer);
        case LayerRule::Chunks:
            return chunks();
        case LayerRule::Period:
            return period();
        case LayerRule::Alternate:
            for (std::size_t i = 0; i < m_count; ++i)
                m_plan.roles[i] = i % 2 == 0 ? LayerRole::Full : LayerRole::Mixer;
            return assumeRule("no list says what each layer is: as in the class, attention and the mixer take turns.");
        case LayerRule::Mixer:
            std::fill(m_plan.roles.begin(), m_plan.roles.end(), LayerRole::Mixer);
            m_plan.source.note = "every layer keeps recurrent state";
            return {};
        case LayerRule::Hybrid:
            std::fill(m_plan.roles.begin(), m_plan.roles.end(), LayerRole::Hybrid);
            m_plan.source.note = "every layer has attention and recurrent state side by side";
            return {};
        case LayerRule::Required:
            break;
        }
        return m_fields.missing("layer_types", "what each layer of this model type is");
    }

    Result<void> assumeRule(std::string text)
    {
        m_reading.model.assumptions.push_back({"import.layers_class_default", text, "worksheet.groups"});
        m_plan.source.note = std::move(text);
        return {};
    }

    Result<void> everyNth(std::string_view field, LayerRole others)
    {
        const Result<std::optional<Stated>> stated = m_fields.integer({field}, 1, mostLayers);
        if (!stated)
            return stated.error();
        const std::int64_t n = *stated ? (*stated)->value : m_family.pattern;
        for (std::size_t i = 0; i < m_count; ++i)
            m_plan.roles[i] = (static_cast<std::int64_t>(i) + 1) % n == 0 ? LayerRole::Full : others;
        const std::string note = fmt::format("layer i, counted from 0, is full where (i + 1) mod {} is 0", n);
        if (!*stated)
            return assumeRule(fmt::format("{} is not stated: as in the class, {}.", field, note));
        m_plan.source = (*stated)->source;
        m_plan.source.note = note;
        return {};
    }

    /// 1 in no_rope_layers stands for rotary positions, and these layers attend within their chunk.
    Result<void> chunks()
    {
        const auto list = m_fields.find({"no_rope_layers"});
        if (list && !statesNothing(*list))
            return readLayerFlags(
                m_reading, *list, LayerRole::Full, LayerRole::Chunked, "1 is chunked, 0 is full", m_plan);
        return everyNth("no_rope_layer_interval", LayerRole::Chunked);
    }

    Result<void> period()
    {
        const Result<Stated> length = m_reading.numberOr({"attn_layer_period"}, 1, mostLayers, 8, "full.layers");
        if (!length)
            return length.error();
        const Result<Stated> offset = m_reading.numberOr(
            {"attn_layer_offset"}, 0, length->value - 1, std::min<std::int64_t>(4, length->value - 1), "full.layers");
        if (!offset)
            return offset.error();
        for (std::size_t i = 0; i < m_count; ++i)
            m_plan.roles[i]
                = static_cast<std::int64_t>(i) % length->value == offset->value ? LayerRole::Full : LayerRole::Mixer;
        m_plan.source = length->source;
        if (m_plan.source.kind != Source::Kind::Assumption)
            m_plan.source.note = fmt::format("attention where i mod {} is {}", length->value, offset->value);
        return {};
    }

    Result<void> readCross()
    {
        if (m_family.crossRule != CrossRule::Image)
            return {};
        if (const auto list = m_fields.find({"cross_attention_layers"})) {
            if (statesNothing(*list))
                return {};
            m_plan.source = m_fields.fileSource(list->pointer());
            return readLayerNumbers(m_reading, *list, LayerRole::Cross, m_plan);
        }
        for (std::size_t i = 3; i < m_count; i += 5)
            m_plan.roles[i] = LayerRole::Cross;
        return assumeRule("cross_attention_layers is not stated: as in the class, layers 3, 8, 13 … read the images.");
    }

    bool any(LayerRole role) const
    {
        return std::find(m_plan.roles.begin(), m_plan.roles.end(), role) != m_plan.roles.end();
    }

    Result<void> readChunk()
    {
        if (!any(LayerRole::Chunked))
            return {};
        const auto stated = m_fields.text().find("attention_chunk_size");
        if (stated && stated->isNull()) {
            std::replace(m_plan.roles.begin(), m_plan.roles.end(), LayerRole::Chunked, LayerRole::Full);
            m_reading.note("import.chunk_null", "attention_chunk_size is null: all layers are full.",
                "attention_chunk_size", Severity::Warning);
            return {};
        }
        const Result<Stated> chunk
            = m_reading.numberOr({"attention_chunk_size"}, 1, mostTokens, m_family.chunk, "chunked.tensors.k.chunk");
        if (!chunk)
            return chunk.error();
        m_plan.chunk = *chunk;
        return {};
    }

    Result<void> readWindows() { return planWindows(m_reading, m_listed, m_plan); }

    Result<void> forceLast()
    {
        if (!m_family.lastIsFull || m_plan.roles.back() == LayerRole::Full)
            return {};
        m_plan.roles.back() = LayerRole::Full;
        m_reading.note("import.last_layer_full", "The last layer of this class is always full, whatever its type.",
            "layer_types", Severity::Warning);
        if (!any(LayerRole::Sliding))
            m_plan.window.reset();
        return {};
    }

    /// per_layer_config: an object by layer number, with the fields that a layer has of its own.
    Result<void> readShapes()
    {
        const auto all = m_fields.find({"per_layer_config"});
        if (!all)
            return {};
        if (!all->isObject() || all->size() > m_count)
            return all->error("json.type", "not an object with one member a layer", "an object by layer number");
        for (const std::string& key : all->keys()) {
            const JsonView own = *all->find(key);
            const Result<std::vector<std::int64_t>> number = parseLayerRanges(key);
            if (!number || number->size() != 1 || static_cast<std::size_t>(number->front()) >= m_count
                || !own.isObject())
                return own.error("import.inconsistent", "not the settings of a layer",
                    fmt::format("a layer number below {}", m_count));
            LayerShape& shape = m_plan.shapes[number->front()];
            for (const std::string& name : own.keys()) {
                const bool heads = name == "num_key_value_heads";
                if (!heads && name != "head_dim")
                    continue;
                const Result<std::int64_t> value = own.find(name)->integer(1, heads ? mostHeads : mostWidth);
                if (!value)
                    return value.error();
                (heads ? shape.kvHeads : shape.width) = Stated {*value, m_fields.fileSource(own.find(name)->pointer())};
            }
        }
        return {};
    }

    Result<void> readShared()
    {
        if (!hasWord(m_family.reads, "num_kv_shared_layers"))
            return {};
        const Result<Stated> shared
            = m_reading.numberOr({"num_kv_shared_layers"}, 0, static_cast<std::int64_t>(m_count) - 1,
                std::min(m_family.sharedLayers, static_cast<std::int64_t>(m_count) - 1), "shared.layers");
        if (!shared)
            return shared.error();
        if (shared->value == 0 && shared->source.kind == Source::Kind::Assumption)
            m_reading.model.assumptions.pop_back(); // none, as everywhere else: nothing to explain
        m_plan.shared = shared->value;
        m_plan.sharedSource = shared->source;
        return {};
    }

    const HfReading& m_reading;
    const HfFields& m_fields;
    const HfFamily& m_family;
    const std::size_t m_count;
    bool m_listed = false;
    LayerPlan m_plan;
};

} // namespace

Result<Stated> readLayerCount(const HfReading& reading)
{
    const HfFields& fields = reading.fields;
    const HfFields::Names usual {"num_hidden_layers", "n_layer", "num_layers", "n_layers"};
    const HfFields::Names bart {"decoder_layers", "num_hidden_layers"};
    const HfFields::Names t5 {"num_decoder_layers", "num_layers"};
    // Where a layer has two attention blocks, num_hidden_layers counts the blocks, if it is there at all.
    const HfFields::Names twofold {"num_layers", "n_layers", "num_hidden_layers"};
    const CrossRule rule = reading.family.crossRule;
    const Result<std::optional<Stated>> layers = fields.integer(rule == CrossRule::Bart ? bart
            : rule == CrossRule::T5                                                     ? t5
            : reading.family.latents > 1                                                ? twofold
                                                                                        : usual,
        1, mostLayers);
    if (!layers)
        return layers.error();
    if (*layers)
        return **layers;
    // Some files state the layers by their list alone.
    for (const std::string_view name : {"layers_block_type", "hybrid_override_pattern"}) {
        const auto list = hasWord(reading.family.reads, name) ? fields.find({name}) : std::nullopt;
        if (!list)
            continue;
        const std::size_t size = list->isString() ? list->string()->size() : list->isArray() ? list->size() : 0;
        if (size == 0 || size > static_cast<std::size_t>(mostLayers))
            return list->error("json.range", "not one entry a layer", fmt::format("1 to {} entries", mostLayers));
        return Stated {static_cast<std::int64_t>(size), fields.fileSource(list->pointer(), "one entry a layer")};
    }
    if (fields.isNested() && reading.family.nestedLayers != 0)
        return reading.numberOr({"num_hidden_layers"}, 1, mostLayers, reading.family.nestedLayers, "full.layers");
    return fields.missing("num_hidden_layers", "the number of layers, as every Hugging Face config.json has it");
}

Result<LayerPlan> planLayers(const HfReading& reading, const Stated& layers)
{
    return LayerReader(reading, layers).read();
}

} // namespace kvw
