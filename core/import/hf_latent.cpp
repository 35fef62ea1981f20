// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_latent.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

Source oneHead(std::string note)
{
    Source out;
    out.kind = Source::Kind::Definition;
    out.name = "multi-head latent attention";
    out.note = std::move(note);
    return out;
}

void addLatent(LayerState& state, StateTensor tensor, const Source& width)
{
    const std::string path = "tensors." + tensor.id + ".";
    state.add(std::move(tensor), oneHead("the latent and its rotary key serve all query heads: one head"), width);
    state.sources[path + "shard"]
        = oneHead("the one head cannot be divided: every tensor-parallel rank keeps all of it");
}

Result<LayerState> plainState(const HfReading& reading)
{
    const HfFields& fields = reading.fields;
    const Result<std::optional<Stated>> latent
        = fields.integer({"kv_lora_rank", "attention_kv_lora_dim"}, 1, mostWidth);
    if (!latent)
        return latent.error();
    if (!*latent)
        return fields.missing("kv_lora_rank", "the width of the latent that this model type keeps");
    const Result<std::optional<Stated>> positional
        = fields.integer({"qk_rope_head_dim", "attention_qk_rope_dim"}, reading.family.plainLatent ? 0 : 1, mostWidth);
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

    LayerState out {.group = {.id = "mla", .name = "MLA latent", .kind = LayerKind::Mla}};
    for (std::int64_t block = 0; block < reading.family.latents; ++block) {
        const std::string suffix = block == 0 ? "" : fmt::format("_{}", block + 1);
        for (StateTensor& tensor : latentTensors((*latent)->value, std::max<std::int64_t>((*positional)->value, 1))) {
            const bool isLatent = tensor.role == TensorRole::Latent;
            if (!isLatent && (*positional)->value == 0)
                continue;
            tensor.id += suffix;
            addLatent(out, std::move(tensor), (isLatent ? **latent : **positional).source);
        }
    }
    if (const auto ignored = fields.find({"num_key_value_heads", "head_dim"}))
        reading.model.diagnostics.push_back({Severity::Note, "import.mla_heads",
            "num_key_value_heads and head_dim do not count for the state: all heads share one latent.", {},
            {ignored->file(), ignored->pointer()}});
    return out;
}

/// Which layers run the indexer themselves and so keep its keys.
class IndexerReader
{
public:
    IndexerReader(const HfReading& reading, std::size_t layers)
        : m_fields(reading.fields)
        , m_layers(layers)
    {}

    Result<std::vector<bool>> read() const
    {
        if (const auto types = m_fields.find({"indexer_types"}))
            return fromNames(*types);
        if (const auto pattern = m_fields.find({"index_topk_pattern"}))
            return pattern->isString() ? fromLetters(*pattern) : fromNames(*pattern);
        const Result<std::optional<Stated>> freq = m_fields.integer({"index_topk_freq"}, 0, mostLayers);
        if (!freq)
            return freq.error();
        const Result<std::optional<Stated>> offset = m_fields.integer({"index_skip_topk_offset"}, 0, mostLayers);
        if (!offset)
            return offset.error();
        const std::int64_t every = std::max<std::int64_t>(*freq ? (*freq)->value : 1, 1);
        const std::int64_t first = *offset ? (*offset)->value : 2;
        std::vector<bool> out(m_layers);
        for (std::size_t i = 0; i < m_layers; ++i)
            out[i] = std::max<std::int64_t>(static_cast<std::int64_t>(i) - first + 1, 0) % every == 0;
        return out;
    }

private:
    Error misfit(const JsonView& list) const
    {
        return list.error("import.inconsistent", "the list does not fit num_hidden_layers",
            fmt::format("\"full\" or \"shared\" for each of {} layers", m_layers));
    }

    /// May go on with the draft layers.
    Result<std::vector<bool>> fromNames(const JsonView& names) const
    {
        if (!names.isArray() || names.size() < m_layers || names.size() > m_layers + 64)
            return misfit(names);
        std::vector<bool> out(m_layers);
        for (std::size_t i = 0; i < m_layers; ++i) {
            const Result<std::string> name = names.at(i).string();
            if (!name)
                return name.error();
            if (*name != "full" && *name != "shared")
                return names.at(i).error("import.unsupported", "not a known kind of indexer", "full or shared");
            out[i] = *name == "full";
        }
        return out;
    }

    Result<std::vector<bool>> fromLetters(const JsonView& pattern) const
    {
        const std::string letters = *pattern.string();
        if (letters.size() < m_layers || letters.size() > m_layers + 64)
            return misfit(pattern);
        std::vector<bool> out(m_layers);
        for (std::size_t i = 0; i < m_layers; ++i) {
            if (letters[i] != 'F' && letters[i] != 'S')
                return pattern.error("import.unsupported", "not a known kind of indexer", "letters F and S");
            out[i] = letters[i] == 'F';
        }
        return out;
    }

    const HfFields& m_fields;
    const std::size_t m_layers;
};

} // namespace

Result<LatentStates> readLatentStates(const HfReading& reading, std::size_t layers)
{
    const Result<LayerState> plain = plainState(reading);
    if (!plain)
        return plain.error();
    LatentStates out {*plain, *plain};
    if (!reading.family.indexer)
        return out;
    const Result<std::vector<bool>> indexers = IndexerReader(reading, layers).read();
    if (!indexers)
        return indexers.error();
    const Result<Stated> width
        = reading.numberOr({"index_head_dim"}, 1, mostWidth, 128, "mla_sparse.tensors.index.width");
    if (!width)
        return width.error();
    const Result<std::optional<Stated>> pool = reading.fields.integer({"index_kpool"}, 1, mostTokens);
    if (!pool)
        return pool.error();
    if (*pool && (*pool)->value > 1)
        reading.model.assumptions.push_back({"import.index_pool",
            fmt::format(
                "index_kpool {}: how an engine keeps pooled index keys is not known; one key a token was taken.",
                (*pool)->value),
            "worksheet.groups.mla_sparse.tensors.index.stride"});
    StateTensor keys;
    keys.id = "index";
    keys.role = TensorRole::IndexKey;
    keys.width = width->value;
    keys.shard = ShardRule::Replicated;
    out.indexed.group.id = "mla_sparse";
    out.indexed.group.name = "MLA latent, sparse";
    out.indexed.group.kind = LayerKind::MlaSparse;
    out.indexed.add(keys, oneHead("the indexer has one key head; index_n_heads counts its queries"), width->source);
    out.indexed.sources["tensors.index.shard"] = oneHead("the one key head is kept whole on every rank");
    out.plain.group.id = "mla_sparse_shared";
    out.plain.group.name = "MLA latent, sparse by another layer's indexer";
    out.plain.group.kind = LayerKind::MlaSparse;
    out.hasIndexer = *indexers;
    return out;
}

} // namespace kvw
