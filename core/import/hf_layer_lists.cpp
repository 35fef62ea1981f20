// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_layers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace kvw {

namespace {

struct NamedRole
{
    std::string_view name;
    LayerRole role;
};

// The strings of transformers' layer_types and layers_block_type, and those that older files have.
constexpr NamedRole namedRoles[] = {
    {"full_attention", LayerRole::Full},
    {"attention", LayerRole::Full},
    {"global_attention", LayerRole::Full},
    {"deepseek_sparse_attention", LayerRole::Full},
    {"sliding_attention", LayerRole::Sliding},
    {"local_attention", LayerRole::Sliding},
    {"chunked_attention", LayerRole::Chunked},
    {"minimax_m3_sparse", LayerRole::BlockSparse},
    {"linear_attention", LayerRole::Mixer},
    {"mamba", LayerRole::Mixer},
    {"recurrent", LayerRole::Mixer},
    {"conv", LayerRole::Mixer},
    {"hybrid", LayerRole::Hybrid},
    {"hybrid_sliding", LayerRole::HybridSliding},
    {"moe", LayerRole::None},
    {"mlp", LayerRole::None},
};

bool mixes(LayerRole role)
{
    return role == LayerRole::Mixer || role == LayerRole::Hybrid || role == LayerRole::HybridSliding;
}

/// Reads the list of one configuration that says what each layer is. Each read…() fills the roles and says what they
/// rest on.
class ListReader
{
public:
    ListReader(const HfReading& reading, LayerPlan& plan)
        : m_reading(reading)
        , m_fields(reading.fields)
        , m_family(reading.family)
        , m_count(plan.roles.size())
        , m_plan(plan)
    {}

    /// The first list that is there decides. A field that the family does not read has been refused before.
    Result<bool> read()
    {
        static constexpr std::array<List, 12> lists {{
            {"layer_types", &ListReader::readNames},
            {"layers_block_type", &ListReader::readNames},
            {"_block_types", &ListReader::readCycle},
            {"block_types", &ListReader::readCycle},
            {"hybrid_override_pattern", &ListReader::readLetters},
            {"hybrid_layer_pattern", &ListReader::readSlidingFlags},
            {"attn_type_list", &ListReader::readSoftmaxFlags},
            {"linear_attn_config", &ListReader::readNumbersFromOne},
            {"full_attn_idxs", &ListReader::readAttentionNumbers},
            {"attn_layer_indices", &ListReader::readAttentionNumbers},
            {"block_configs", &ListReader::readBlocks},
            {"sparse_attention_config", &ListReader::readSparse},
        }};
        for (const List& list : lists) {
            const auto found = m_fields.find({list.field});
            if (!found || statesNothing(*found))
                continue;
            if (list.field.ends_with("block_types") && m_family.mixer == Mixer::None)
                continue; // a name that other classes use for other things
            if (const Result<void> status = (this->*list.read)(*found); !status)
                return status.error();
            return true;
        }
        return false;
    }

    /// 0 or 1, one a layer.
    Result<void> flags(const JsonView& list, LayerRole zero, LayerRole one, std::string note)
    {
        return readFlags(list, zero, one, std::move(note));
    }

    /// Layer numbers.
    Result<void> numbers(const JsonView& list, LayerRole role) { return readNumbers(list, role, 0); }

private:
    using Reader = Result<void> (ListReader::*)(const JsonView&);
    struct List
    {
        std::string_view field;
        Reader read;
    };

    Source fileSource(const JsonView& view, std::string note = {}) const
    {
        return m_fields.fileSource(view.pointer(), std::move(note));
    }

    /// Sets layer `i`, or a draft layer beyond the last one.
    Result<void> put(std::size_t i, LayerRole role, const JsonView& at)
    {
        const bool unknown
            = (mixes(role) && m_family.mixer == Mixer::None) || (role == LayerRole::Chunked && m_family.chunk == 0);
        if (unknown)
            return at.error("import.unsupported", "layers of this type keep state that cannot be read yet",
                "full_attention or sliding_attention");
        if (i < m_count)
            m_plan.roles[i] = role;
        else
            m_plan.draftRoles.push_back(role);
        return {};
    }

    /// Strings, one a layer. Some files go on with the types of the draft layers.
    Result<void> readNames(const JsonView& names)
    {
        const Result<std::optional<Stated>> drafts
            = m_fields.integer({"num_nextn_predict_layers", "num_mtp_layers"}, 0, mostLayers);
        if (!drafts)
            return drafts.error();
        const std::size_t withDrafts = m_count + (*drafts ? static_cast<std::size_t>((*drafts)->value) : 0);
        if (!names.isArray() || (names.size() != m_count && names.size() != withDrafts))
            return names.error("import.inconsistent",
                fmt::format(
                    "{} does not fit num_hidden_layers", names.pointer().substr(names.pointer().rfind('/') + 1)),
                fmt::format("an array of {} strings", m_count));
        for (std::size_t i = 0; i < names.size(); ++i) {
            const JsonView name = names.at(i);
            const Result<std::string> text = name.string();
            if (!text)
                return text.error();
            const std::optional<LayerRole> role = roleNamed(*text);
            if (!role && i < m_count)
                return name.error("import.unsupported", "layers of this type keep state that cannot be read yet",
                    "full_attention or sliding_attention");
            if (i < m_count
                || (role && (!mixes(*role) || m_family.mixer != Mixer::None) && *role != LayerRole::Chunked)) {
                if (const Result<void> status = put(i, *role, name); !status)
                    return status;
            }
        }
        m_plan.source = fileSource(names);
        return {};
    }

    /// Strings that are used over and over until every layer has one.
    Result<void> readCycle(const JsonView& names)
    {
        if (!names.isArray() || names.size() > static_cast<std::size_t>(mostLayers))
            return names.error("json.type", "not a list of block types", "an array of strings");
        for (std::size_t i = 0; i < m_count; ++i) {
            const JsonView name = names.at(i % names.size());
            const Result<std::string> text = name.string();
            if (!text)
                return text.error();
            const std::optional<LayerRole> role = roleNamed(*text);
            if (!role)
                return name.error("import.unsupported", "layers of this type keep state that cannot be read yet");
            // The class's attention is local: it keeps its window.
            const bool local = *role == LayerRole::Full && m_family.window != 0;
            if (const Result<void> status = put(i, local ? LayerRole::Sliding : *role, name); !status)
                return status;
        }
        m_plan.source = fileSource(names, "used over and over");
        return {};
    }

    Result<void> readLetters(const JsonView& pattern)
    {
        const Result<std::string> text = pattern.string();
        if (!text)
            return text.error();
        if (text->size() != m_count)
            return pattern.error("import.inconsistent", "the pattern does not fit num_hidden_layers",
                fmt::format("{} letters", m_count));
        for (std::size_t i = 0; i < m_count; ++i) {
            const std::optional<LayerRole> role = roleOfLetter((*text)[i]);
            if (!role)
                return pattern.error("import.unsupported",
                    fmt::format("the pattern has a letter at {} that is not known", i), "M, *, E and -");
            if (const Result<void> status = put(i, *role, pattern); !status)
                return status;
        }
        m_plan.source = fileSource(pattern, "M mixer, * attention, E experts, - MLP");
        return {};
    }

    /// 0 or 1, one a layer.
    Result<void> readFlags(const JsonView& flags, LayerRole zero, LayerRole one, std::string note)
    {
        if (!flags.isArray() || flags.size() != m_count)
            return flags.error("import.inconsistent", "the list does not fit num_hidden_layers",
                fmt::format("an array of {} numbers, 0 or 1", m_count));
        for (std::size_t i = 0; i < m_count; ++i) {
            const Result<std::int64_t> flag = flags.at(i).integer(0, 1);
            if (!flag)
                return flag.error();
            if (const Result<void> status = put(i, *flag == 1 ? one : zero, flags.at(i)); !status)
                return status;
        }
        m_plan.source = fileSource(flags, std::move(note));
        return {};
    }

    Result<void> readSlidingFlags(const JsonView& flags)
    {
        return readFlags(flags, LayerRole::Full, LayerRole::Sliding, "1 slides, 0 is full");
    }

    Result<void> readSoftmaxFlags(const JsonView& flags)
    {
        return readFlags(flags, LayerRole::Mixer, LayerRole::Full, "1 is softmax attention, 0 lightning attention");
    }

    /// Gives the layers whose numbers `list` has the role, counted from `first`.
    Result<void> readNumbers(const JsonView& list, LayerRole role, std::int64_t first)
    {
        if (!list.isArray() || list.size() > m_count)
            return list.error("import.inconsistent", "not a list of layers",
                fmt::format("an array of at most {} layer numbers", m_count));
        for (std::size_t i = 0; i < list.size(); ++i) {
            const JsonView number = list.at(i);
            const Result<std::int64_t> layer = number.integer(first, first + static_cast<std::int64_t>(m_count) - 1);
            if (!layer)
                return layer.error();
            if (const Result<void> status = put(static_cast<std::size_t>(*layer - first), role, number); !status)
                return status;
        }
        return {};
    }

    Result<void> readAttentionNumbers(const JsonView& list)
    {
        if (m_family.mixer == Mixer::None)
            return list.error(
                "import.unsupported", "the layers that are not listed keep state that cannot be read yet");
        std::fill(m_plan.roles.begin(), m_plan.roles.end(), LayerRole::Mixer);
        m_plan.source = fileSource(list, "the layers listed are attention");
        return readNumbers(list, LayerRole::Full, 0);
    }

    /// kda_layers and full_attn_layers count from 1, and together name every layer once. Where a file has only one of
    /// the two, the other layers are of the other kind.
    Result<void> readNumbersFromOne(const JsonView& config)
    {
        const auto mixers = config.findValue("kda_layers");
        const auto full = config.findValue("full_attn_layers");
        if (!mixers && !full)
            return config.error("import.missing_field", "neither kda_layers nor full_attn_layers is stated",
                "the layers of each kind, counted from 1");
        std::fill(m_plan.roles.begin(), m_plan.roles.end(), full ? LayerRole::Mixer : LayerRole::Full);
        if (full) {
            if (const Result<void> status = readNumbers(*full, LayerRole::Full, 1); !status)
                return status;
        }
        const std::vector<LayerRole> byFull = m_plan.roles;
        if (mixers) {
            if (const Result<void> status = readNumbers(*mixers, LayerRole::Mixer, 1); !status)
                return status;
        }
        const bool both = mixers && full;
        if (both && (m_plan.roles != byFull || mixers->size() + full->size() != m_count))
            return config.error("import.inconsistent", "kda_layers and full_attn_layers do not name every layer once",
                fmt::format("{} layer numbers, counted from 1", m_count));
        m_plan.source = fileSource(full ? *full : *mixers, "layers are counted from 1");
        return {};
    }

    /// Blocks of a searched architecture: attention with n_heads_in_group, replaced by a linear layer, or left out.
    Result<void> readBlocks(const JsonView& blocks)
    {
        if (!blocks.isArray() || blocks.size() != m_count)
            return blocks.error("import.inconsistent", "block_configs does not fit num_hidden_layers",
                fmt::format("an array of {} objects", m_count));
        const Result<std::optional<Stated>> heads = m_fields.integer({"num_attention_heads"}, 1, mostHeads);
        if (!heads)
            return heads.error();
        if (!*heads)
            return m_fields.missing("num_attention_heads", "the number of query heads");
        for (std::size_t i = 0; i < m_count; ++i) {
            const JsonView block = blocks.at(i);
            const auto attention = block.findValue("attention");
            if (!attention || !attention->isObject())
                return block.error("import.missing_field", "the block does not say what its attention is", "attention");
            const Result<LayerRole> role = blockRole(*attention, **heads, static_cast<std::int64_t>(i));
            if (!role)
                return role.error();
            m_plan.roles[i] = *role;
        }
        m_plan.source = fileSource(blocks, "blocks whose attention is no_op or replace_with_linear keep nothing");
        return {};
    }

    Result<LayerRole> blockRole(const JsonView& attention, const Stated& heads, std::int64_t layer)
    {
        for (const std::string_view name : {"no_op", "replace_with_linear"}) {
            if (const auto flag = attention.findValue(name)) {
                const Result<bool> out = flag->boolean();
                if (!out)
                    return out.error();
                if (*out)
                    return LayerRole::None;
            }
        }
        for (const std::string_view name : {"window_length", "sparsify", "is_mamba", "mamba", "llama4"}) {
            const auto other = attention.findValue(name);
            if (other && !statesNothing(*other))
                return other->error("import.unsupported", "blocks with this setting cannot be read yet", "null");
        }
        const auto group = attention.findValue("n_heads_in_group");
        if (!group)
            return attention.error("import.missing_field", "n_heads_in_group is not stated",
                "the query heads for each key and value head");
        const Result<std::int64_t> size = group->integer(1, heads.value);
        if (!size)
            return size.error();
        if (heads.value % *size != 0)
            return group->error("import.inconsistent", "the query heads cannot be divided into groups of this size",
                fmt::format("a divisor of {}", heads.value));
        m_plan.shapes[layer].kvHeads = Stated {
            heads.value / *size, fileSource(*group, fmt::format("{} query heads ÷ n_heads_in_group", heads.value))};
        return LayerRole::Full;
    }

    /// Layers that choose blocks keep every token all the same.
    Result<void> readSparse(const JsonView& config)
    {
        const auto used = config.findValue("use_sparse_attention");
        const auto freq = config.findValue("sparse_attention_freq");
        if ((used && used->json() == false) || !freq)
            return {};
        m_reading.note("import.sparse_index_keys",
            "Layers of block-sparse attention keep every token's K and V. Whether an engine keeps the keys of their "
            "index heads too is not known; they are not counted.",
            "sparse_attention_config", Severity::Warning);
        return readFlags(*freq, LayerRole::Full, LayerRole::BlockSparse, "1 reads chosen blocks only");
    }

    const HfReading& m_reading;
    const HfFields& m_fields;
    const HfFamily& m_family;
    const std::size_t m_count;
    LayerPlan& m_plan;
};

} // namespace

bool attends(LayerRole role)
{
    return role != LayerRole::None && role != LayerRole::Mixer && role != LayerRole::Cross;
}

std::optional<LayerRole> roleNamed(std::string_view name)
{
    for (const NamedRole& named : namedRoles) {
        if (named.name == name)
            return named.role;
    }
    return std::nullopt;
}

std::optional<LayerRole> roleOfLetter(char letter)
{
    switch (letter) {
    case 'M':
        return LayerRole::Mixer;
    case '*':
        return LayerRole::Full;
    case 'E':
    case '-':
        return LayerRole::None;
    default:
        return std::nullopt;
    }
}

Result<bool> readLayerList(const HfReading& reading, LayerPlan& plan)
{
    return ListReader(reading, plan).read();
}

Result<void> readLayerFlags(
    const HfReading& reading, const JsonView& list, LayerRole zero, LayerRole one, std::string note, LayerPlan& plan)
{
    return ListReader(reading, plan).flags(list, zero, one, std::move(note));
}

Result<void> readLayerNumbers(const HfReading& reading, const JsonView& list, LayerRole role, LayerPlan& plan)
{
    return ListReader(reading, plan).numbers(list, role);
}

} // namespace kvw
