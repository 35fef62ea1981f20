// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::int64_t mostLayers = 10'000;
constexpr std::int64_t mostHeads = 65'536;
constexpr std::int64_t mostWidth = 1'000'000;

class ShapeReader
{
public:
    ShapeReader(const GgufFields& fields, const GgufArch& arch, ModelSpec& model)
        : m_fields(fields)
        , m_arch(arch)
        , m_model(model)
    {}

    Result<GgufShape> read()
    {
        using Step = Result<void> (ShapeReader::*)();
        for (const Step step : {&ShapeReader::readLayers, &ShapeReader::readHeads, &ShapeReader::readWidths,
                 &ShapeReader::readLatent, &ShapeReader::readRecurrence}) {
            if (Result<void> status = (this->*step)(); !status)
                return status.error();
        }
        for (const auto step : {readGgufWindow, readGgufIndexer}) {
            if (Result<void> status = step(m_fields, m_arch, m_shape, m_model); !status)
                return status.error();
        }
        return std::move(m_shape);
    }

private:
    std::vector<bool> noLayers() const { return std::vector<bool>(static_cast<std::size_t>(m_shape.layers), false); }

    void assume(std::string id, std::string text)
    {
        m_model.assumptions.push_back({std::move(id), std::move(text), {}});
    }
    void note(std::string id, std::string message, std::string_view key, Severity severity = Severity::Note)
    {
        m_model.diagnostics.push_back({severity, std::move(id), std::move(message), {}, m_fields.where(key)});
    }

    Result<void> readLayers()
    {
        const auto layers = m_fields.integer("block_count", 1, mostLayers);
        if (!layers)
            return layers.error();
        if (!*layers)
            return m_fields.missing("block_count", "the number of layers");
        m_shape.layers = (*layers)->value;
        m_shape.layersSource = (*layers)->source;
        const auto drafts = m_fields.integer("nextn_predict_layers", 0, m_shape.layers - 1);
        if (!drafts)
            return drafts.error();
        m_shape.drafts = *drafts ? (*drafts)->value : 0;
        const auto embedding = m_fields.integer("embedding_length", 1, mostWidth);
        if (!embedding)
            return embedding.error();
        if (!*embedding)
            return m_fields.missing("embedding_length", "the width of the model");
        m_shape.embedding = (*embedding)->value;
        m_shape.recurrent = m_shape.windowed = m_shape.indexed = m_shape.stateless = noLayers();
        m_shape.ownLayers = m_shape.layers;
        return {};
    }

    Result<std::optional<std::vector<std::int64_t>>> perLayer(
        std::string_view name, std::int64_t minimum, std::int64_t maximum) const
    {
        return readGgufPerLayer(m_fields, m_shape, name, minimum, maximum);
    }

    Result<void> readHeads()
    {
        const auto heads = perLayer("attention.head_count", 0, mostHeads);
        if (!heads)
            return heads.error();
        if (*heads)
            m_shape.heads = **heads;
        else if (m_arch.recurrence == GgufRecurrence::Every)
            m_shape.heads.assign(static_cast<std::size_t>(m_shape.layers), 0);
        else
            return m_fields.missing("attention.head_count", "the number of query heads");
        const auto kvHeads = perLayer("attention.head_count_kv", 0, mostHeads);
        if (!kvHeads)
            return kvHeads.error();
        m_shape.kvHeads = kvHeads->value_or(m_shape.heads);
        m_shape.headsSource = m_fields.fileSource("attention.head_count_kv");
        if (!*kvHeads) {
            const std::string text = "attention.head_count_kv is not stated: one key and value head for each query "
                                     "head was taken, as llama.cpp does.";
            m_shape.headsSource = m_fields.rule(text);
            if (m_arch.recurrence != GgufRecurrence::Every)
                assume("import.kv_heads_default", text);
        }
        return {};
    }

    Result<Stated> width(std::string_view name, const std::optional<Stated>& otherwise, std::string_view defaultText)
    {
        const auto stated = m_fields.integer(name, 1, mostWidth);
        if (!stated)
            return stated.error();
        if (*stated)
            return **stated;
        if (!otherwise)
            return m_fields.missing(name, "the width of a head");
        if (!defaultText.empty())
            assume("import.head_dim_computed", fmt::format("{} is not stated: {} was taken.", name, defaultText));
        return *otherwise;
    }

    Result<void> readWidths()
    {
        if (m_arch.recurrence == GgufRecurrence::Every)
            return {};
        // llama.cpp computes the widths of heads from the first layer alone.
        const std::int64_t heads = m_shape.heads[0];
        if (heads == 0)
            return m_fields.error("attention.head_count", "import.inconsistent",
                "the first layer has no query heads, and widths of heads are counted by it", "0", "at least 1");
        const std::string text = fmt::format("embedding_length {} ÷ {} query heads", m_shape.embedding, heads);
        std::optional<Stated> computed;
        if (m_shape.embedding >= heads)
            computed = Stated {m_shape.embedding / heads, m_fields.rule(text)};
        struct
        {
            std::string_view name;
            Stated* to;
            std::optional<Stated> otherwise;
            std::string_view text;
        } const widths[] = {{"attention.key_length", &m_shape.keyWidth, computed, text},
            {"attention.value_length", &m_shape.valueWidth, computed, text},
            {"attention.key_length_swa", &m_shape.windowKeyWidth, std::nullopt, {}},
            {"attention.value_length_swa", &m_shape.windowValueWidth, std::nullopt, {}}};
        for (const auto& one : widths) {
            const bool ofKeys = one.to == &m_shape.windowKeyWidth;
            const bool ofWindow = ofKeys || one.to == &m_shape.windowValueWidth;
            const Result<Stated> found = width(
                one.name, ofWindow ? (ofKeys ? m_shape.keyWidth : m_shape.valueWidth) : one.otherwise, one.text);
            if (!found)
                return found.error();
            *one.to = *found;
        }
        return {};
    }

    Result<void> readLatent()
    {
        const auto key = m_fields.integer("attention.key_length_mla", 1, mostWidth);
        if (!key)
            return key.error();
        const auto value = m_fields.integer("attention.value_length_mla", 1, mostWidth);
        if (!value)
            return value.error();
        if (key->has_value() != value->has_value())
            return m_fields.error(*key ? "attention.key_length_mla" : "attention.value_length_mla",
                "import.inconsistent", "a latent cache has both of key_length_mla and value_length_mla, or it is none",
                {}, "both, or neither");
        const auto rank = m_fields.integer("attention.kv_lora_rank", 1, mostWidth);
        if (!rank)
            return rank.error();
        m_shape.latent = key->has_value();
        if (m_shape.latent && *rank && (*rank)->value < m_shape.keyWidth.value)
            m_shape.latentWidth = **rank;
        if (!m_shape.latent && *rank)
            note("import.latent_expanded",
                "The file has no key_length_mla and value_length_mla: llama.cpp keeps keys and values of every head, "
                "not "
                "the latent that they are made of. A file that was converted anew has them.",
                "attention.kv_lora_rank", Severity::Warning);
        return {};
    }

    Result<void> readRecurrence()
    {
        const auto count = static_cast<std::size_t>(m_shape.layers);
        switch (m_arch.recurrence) {
        case GgufRecurrence::None:
            break;
        case GgufRecurrence::Every:
        case GgufRecurrence::Beside:
            m_shape.recurrent.assign(count, true);
            m_shape.recurrentSource = m_fields.rule("every layer of this architecture", false);
            break;
        case GgufRecurrence::NoHeads:
            m_shape.recurrentSource = m_fields.fileSource("attention.head_count_kv", "layers with 0 heads");
            for (std::size_t i = 0; i < count; ++i)
                m_shape.recurrent[i] = m_shape.kvHeads[i] == 0;
            break;
        case GgufRecurrence::NoHeadsNoFeedForward:
            return readPattern();
        case GgufRecurrence::Interval:
            return readInterval();
        }
        return {};
    }

    /// Nemotron-H: each layer is one of three things, told by what it has.
    Result<void> readPattern()
    {
        const auto forward = perLayer("feed_forward_length", 0, INT64_MAX);
        if (!forward)
            return forward.error();
        if (!*forward)
            return m_fields.missing("feed_forward_length", "the width of each layer's feed-forward part, 0 for none");
        m_shape.recurrentSource
            = m_fields.fileSource("attention.head_count_kv", "layers with 0 heads and feed_forward_length 0");
        for (std::size_t i = 0; i < m_shape.recurrent.size(); ++i) {
            m_shape.recurrent[i] = m_shape.kvHeads[i] == 0 && (**forward)[i] == 0;
            m_shape.stateless[i] = (**forward)[i] != 0;
        }
        return {};
    }

    Result<void> readInterval()
    {
        const auto trunk = static_cast<std::size_t>(m_shape.trunk());
        if (m_fields.find("attention.recurrent_layers")) {
            const auto flags = perLayer("attention.recurrent_layers", 0, 1);
            if (!flags)
                return flags.error();
            for (std::size_t i = 0; i < trunk; ++i)
                m_shape.recurrent[i] = (**flags)[i] != 0;
            m_shape.recurrentSource = m_fields.fileSource("attention.recurrent_layers");
            return {};
        }
        const auto stated = m_fields.integer("full_attention_interval", 1, mostLayers);
        if (!stated)
            return stated.error();
        const std::int64_t interval = *stated ? (*stated)->value : m_arch.interval;
        const std::string text
            = fmt::format("layer i, counted from 0, has keys and values where (i + 1) mod {} is 0", interval);
        m_shape.recurrentSource = *stated ? m_fields.fileSource("full_attention_interval", text) : m_fields.rule(text);
        if (!*stated)
            assume("import.interval_default",
                fmt::format(
                    "Neither attention.recurrent_layers nor full_attention_interval is stated: every {}th layer "
                    "has keys and values, as in llama.cpp.",
                    interval));
        for (std::size_t i = 0; i < trunk; ++i)
            m_shape.recurrent[i] = (static_cast<std::int64_t>(i) + 1) % interval != 0;
        return {};
    }

    const GgufFields& m_fields;
    const GgufArch& m_arch;
    ModelSpec& m_model;
    GgufShape m_shape {};
};

} // namespace

Result<std::optional<std::vector<std::int64_t>>> readGgufPerLayer(
    const GgufFields& fields, const GgufShape& shape, std::string_view name, std::int64_t minimum, std::int64_t maximum)
{
    const GgufValue* value = fields.find(name);
    const bool whole = value && (!value->isArray || value->count >= static_cast<std::uint64_t>(shape.layers));
    auto out = fields.perLayer(name, whole ? shape.layers : shape.trunk(), minimum, maximum);
    if (out && *out)
        (*out)->resize(static_cast<std::size_t>(shape.layers), (*out)->back());
    return out;
}

Result<GgufShape> readGgufShape(const GgufFields& fields, const GgufArch& arch, ModelSpec& model)
{
    return ShapeReader(fields, arch, model).read();
}

} // namespace kvw
