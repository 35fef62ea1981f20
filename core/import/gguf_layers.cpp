// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_layers.h"

#include "import/gguf_shape.h"
#include "import/gguf_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

/// What one layer keeps; layers that keep the same make a group.
struct LayerState
{
    std::string id {}; ///< of its group
    std::string name {}; ///< for people
    LayerKind kind = LayerKind::Full;
    bool isDraft = false;
    std::int64_t reads = -1; ///< layer whose state it reads; -1: its own
    std::vector<StateTensor> tensors {};
    std::vector<TensorSources> sources {}; ///< of the tensors
    std::vector<std::int64_t> layers {}; ///< filled for the first of its kind

    bool isLike(const LayerState& other) const
    {
        return id == other.id && isDraft == other.isDraft && tensors == other.tensors && reads == other.reads;
    }
    void call(LayerKind newKind, std::string newId, std::string newName)
    {
        kind = newKind;
        id = std::move(newId);
        name = std::move(newName);
    }
};

class LayerBuilder
{
public:
    LayerBuilder(const GgufFields& fields, const GgufArch& arch, const GgufShape& shape, ModelSpec& model)
        : m_fields(fields)
        , m_arch(arch)
        , m_shape(shape)
        , m_model(model)
    {}

    Result<void> build()
    {
        if (m_arch.state != GgufState::None) {
            Result<GgufMixer> mixer = readGgufState(m_fields, m_arch, m_shape);
            if (!mixer)
                return mixer.error();
            m_mixer = std::move(*mixer);
        }
        const bool indexer = !m_shape.ratios.empty()
            || std::find(m_shape.indexed.begin(), m_shape.indexed.end(), true) != m_shape.indexed.end();
        if (indexer) {
            const auto width = m_fields.integer("attention.indexer.key_length", 1, 1'000'000);
            if (!width)
                return width.error();
            if (!*width)
                return m_fields.missing("attention.indexer.key_length", "the width of the indexer's keys");
            m_indexWidth = **width;
        }
        for (std::int64_t layer = 0; layer < m_shape.layers; ++layer)
            addLayer(layer);
        if (m_states.empty())
            return m_fields.error("block_count", "import.no_state", "no layer keeps state", {}, "a layer with heads");
        for (const LayerKind kind : {LayerKind::Full, LayerKind::Sliding, LayerKind::Chunked, LayerKind::Mla,
                 LayerKind::MlaSparse, LayerKind::Compressed, LayerKind::Recurrent, LayerKind::Shared})
            addGroups(kind, false);
        for (const LayerKind kind : {LayerKind::Full, LayerKind::Sliding, LayerKind::Mla, LayerKind::MlaSparse})
            addGroups(kind, true);
        noteLayers();
        return {};
    }

private:
    bool is(const std::vector<bool>& flags, std::int64_t layer) const { return flags[static_cast<std::size_t>(layer)]; }
    std::int64_t kvHeads(std::int64_t layer) const { return m_shape.kvHeads[static_cast<std::size_t>(layer)]; }

    void addLayer(std::int64_t layer)
    {
        const bool recurrent = is(m_shape.recurrent, layer);
        if (is(m_shape.stateless, layer) || (!recurrent && kvHeads(layer) == 0)) {
            ++m_stateless;
            return;
        }
        LayerState state;
        state.isDraft = layer >= m_shape.trunk();
        if (layer >= m_shape.ownLayers) {
            share(state, layer);
            return put(std::move(state), layer);
        }
        if (kvHeads(layer) > 0 && (!recurrent || m_arch.recurrence == GgufRecurrence::Beside)) {
            LayerState attention = state;
            addAttention(attention, layer);
            put(std::move(attention), layer);
        }
        if (recurrent) {
            state.call(LayerKind::Recurrent, m_mixer.id, m_mixer.name);
            for (const StatePart& part : m_mixer.parts) {
                state.tensors.push_back(part.tensor);
                state.sources.push_back(part.sources);
            }
            put(std::move(state), layer);
        }
    }

    /// Adds the layer to those that keep the same.
    void put(LayerState state, std::int64_t layer)
    {
        auto same = std::find_if(
            m_states.begin(), m_states.end(), [&](const LayerState& other) { return other.isLike(state); });
        if (same == m_states.end())
            same = m_states.insert(m_states.end(), std::move(state));
        same->layers.push_back(layer);
    }

    /// Layers without state of their own read the last of their kind that has it.
    void share(LayerState& state, std::int64_t layer) const
    {
        state.reads = m_shape.ownLayers - 1;
        while (state.reads > 0 && is(m_shape.windowed, state.reads) != is(m_shape.windowed, layer))
            --state.reads;
        const std::string from = is(m_shape.windowed, state.reads) ? "sliding" : "full";
        state.call(LayerKind::Shared, "shared_" + from, fmt::format("Shared: read layer {} of {}", state.reads, from));
    }

    void addAttention(LayerState& state, std::int64_t layer)
    {
        const bool windowed = m_shape.window && is(m_shape.windowed, layer);
        GrowthLaw growth;
        if (windowed && m_arch.chunked) {
            growth.form = GrowthForm::Chunked;
            growth.chunk = m_shape.window->value;
        } else if (windowed) {
            growth.limit = m_shape.window->value;
        }
        if (!m_shape.ratios.empty()) {
            addCompressed(state, layer, growth);
        } else if (m_shape.latent) {
            addLatent(state, layer, growth);
        } else {
            nameAttention(state, windowed);
            const Stated& key = windowed ? m_shape.windowKeyWidth : m_shape.keyWidth;
            const Stated& value = windowed ? m_shape.windowValueWidth : m_shape.valueWidth;
            state.tensors = attentionTensors(kvHeads(layer), key.value, value.value, growth);
            state.sources = {attentionSources(key.source), attentionSources(value.source)};
        }
        if (is(m_shape.indexed, layer) && layer < m_shape.trunk()) {
            if (m_shape.latent)
                state.call(LayerKind::MlaSparse, "mla_sparse", "MLA latent, sparse");
            else
                state.call(LayerKind::Full, "block_sparse", "Block-sparse attention, kept whole");
            addIndex(state, 1);
        }
    }

    void nameAttention(LayerState& state, bool windowed) const
    {
        if (!windowed)
            state.call(LayerKind::Full, "full", "Full attention");
        else if (m_arch.chunked)
            state.call(LayerKind::Chunked, "chunked", fmt::format("Chunks of {}", m_shape.window->value));
        else
            state.call(LayerKind::Sliding, "sliding", fmt::format("Sliding window {}", m_shape.window->value));
    }

    TensorSources attentionSources(const Source& width) const
    {
        TensorSources out {m_shape.headsSource, width, std::nullopt, std::nullopt};
        if (m_shape.window)
            out.limit = m_shape.window->source;
        return out;
    }

    void addLatent(LayerState& state, std::int64_t layer, const GrowthLaw& growth)
    {
        if (m_arch.indexer == GgufIndexer::None || layer >= m_shape.trunk())
            state.call(LayerKind::Mla, "mla", "MLA latent");
        else
            state.call(LayerKind::MlaSparse, "mla_sparse_shared", "MLA latent, sparse by another layer's indexer");
        const std::int64_t row = m_shape.keyWidth.value;
        const std::int64_t latent = m_shape.latentWidth ? m_shape.latentWidth->value : row;
        state.tensors = latentTensors(latent, row - latent);
        state.sources = {attentionSources(m_shape.latentWidth ? m_shape.latentWidth->source : m_shape.keyWidth.source),
            attentionSources(m_fields.fileSource("attention.key_length", "less attention.kv_lora_rank"))};
        if (latent == row) {
            state.tensors.pop_back();
            state.sources.pop_back();
        }
        for (StateTensor& tensor : state.tensors) {
            tensor.heads = kvHeads(layer);
            tensor.growth = growth;
        }
    }

    StateTensor& addTensor(LayerState& state, std::string id, TensorRole role, std::int64_t width, const Source& source)
    {
        StateTensor tensor;
        tensor.id = std::move(id);
        tensor.role = role;
        tensor.width = width;
        tensor.shard = ShardRule::Replicated;
        state.tensors.push_back(std::move(tensor));
        state.sources.push_back(
            {m_fields.rule("one head serves all query heads", false), source, std::nullopt, std::nullopt});
        return state.tensors.back();
    }

    void addIndex(LayerState& state, std::int64_t stride)
    {
        StateTensor& index = addTensor(state, "index", TensorRole::IndexKey, m_indexWidth.value, m_indexWidth.source);
        index.growth.stride = stride;
        state.sources.back().growth = m_shape.indexSource;
    }

    /// DeepSeek V4: one row that is key and value of all heads, over a window; compressed ones; partial windows.
    void addCompressed(LayerState& state, std::int64_t layer, const GrowthLaw& growth)
    {
        nameAttention(state, true);
        const std::int64_t width = m_shape.keyWidth.value;
        addTensor(state, "kv", TensorRole::Latent, width, m_shape.keyWidth.source).growth = growth;
        state.sources.back().limit = m_shape.window->source;
        state.tensors.back().heads = kvHeads(layer);
        state.sources.back().heads = m_shape.headsSource;
        const std::int64_t ratio = layer < m_shape.trunk() ? m_shape.ratios[static_cast<std::size_t>(layer)] : 0;
        if (ratio == 0)
            return;
        const bool sparse = ratio == 4;
        state.call(LayerKind::Compressed, sparse ? "compressed_sparse" : "compressed_heavy",
            fmt::format("Compressed, {}, 1 entry for {} tokens", sparse ? "sparse" : "heavily", ratio));
        addTensor(state, "compressed", TensorRole::Latent, width, m_shape.keyWidth.source).growth.stride = ratio;
        state.sources.back().growth = m_shape.indexSource;
        if (sparse)
            addIndex(state, ratio);
        // The sparse kind's windows overlap: twice the rows, and twice the width, for the two halves.
        addBuffer(state, "buffer", sparse ? 2 * ratio : ratio, sparse ? 2 * width : width);
        if (sparse)
            addBuffer(state, "index_buffer", 2 * ratio, 2 * m_indexWidth.value);
    }

    /// Values and scores of a partial window.
    void addBuffer(LayerState& state, std::string id, std::int64_t rows, std::int64_t width)
    {
        const Source source = m_fields.rule("the compressor's running windows, f32 (llama-kv-cache-dsv4.cpp)", false);
        StateTensor& buffer = addTensor(state, std::move(id), TensorRole::Buffer, width, source);
        buffer.elementType = ElementType::Fp32;
        buffer.growth.form = GrowthForm::Fixed;
        buffer.growth.entries = 2 * rows;
        state.sources.back().growth = source;
    }

    void addGroups(LayerKind kind, bool drafts)
    {
        for (const LayerState& state : m_states) {
            if (state.kind != kind || state.isDraft != drafts)
                continue;
            LayerGroup group;
            group.id = freeId(drafts ? "draft" : state.id);
            group.name = (drafts ? "Draft layers: " : "") + state.name;
            group.kind = kind;
            group.layers = static_cast<std::int64_t>(state.layers.size());
            group.layerIndices = layerRanges(state.layers);
            group.tensors = state.tensors;
            if (drafts)
                group.use = GroupUse::Speculation;
            if (state.reads >= 0)
                group.readsGroup = groupOf(state.reads);
            addProvenance(state, group);
            m_model.groups.push_back(std::move(group));
        }
    }

    /// The id, with a number where a group has it already.
    std::string freeId(const std::string& id) const
    {
        std::string out = id;
        const auto isTaken = [&](const LayerGroup& group) { return group.id == out; };
        for (int number = 2; std::any_of(m_model.groups.begin(), m_model.groups.end(), isTaken); ++number)
            out = fmt::format("{}_{}", id, number);
        return out;
    }

    /// The group that has the layer. REQUIRES that it is made already: shared layers come last.
    std::string groupOf(std::int64_t layer) const
    {
        for (const LayerGroup& group : m_model.groups) {
            const Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
            if (layers && std::binary_search(layers->begin(), layers->end(), layer))
                return group.id;
        }
        return {};
    }

    void addProvenance(const LayerState& state, const LayerGroup& group)
    {
        const std::string path = "groups." + group.id;
        Source layers = m_shape.layersSource;
        if (group.kind == LayerKind::Recurrent)
            layers = m_shape.recurrentSource;
        else if (group.kind == LayerKind::Shared)
            layers = m_shape.ownSource;
        else if (m_shape.window && m_arch.window != GgufWindow::Every)
            layers = m_shape.windowSource;
        else if (group.use == GroupUse::Speculation)
            layers = m_fields.fileSource("nextn_predict_layers");
        m_model.provenance.set(path + ".layers", layers);
        if (!group.readsGroup.empty())
            m_model.provenance.set(path + ".readsGroup", m_shape.ownSource);
        if (group.use == GroupUse::Speculation)
            m_model.provenance.set(path + ".countsWhen", m_fields.fileSource("nextn_predict_layers"));
        for (std::size_t i = 0; i < group.tensors.size(); ++i) {
            const std::string tensor = path + ".tensors." + group.tensors[i].id;
            const TensorSources& sources = state.sources[i];
            m_model.provenance.set(tensor + ".heads", sources.heads);
            m_model.provenance.set(tensor + ".width", sources.width);
            if (group.tensors[i].elementType != ElementType::NotStated)
                m_model.provenance.set(
                    tensor + ".elementType", m_fields.rule("f32, whatever the type of the cache is", false));
            if (group.tensors[i].shard == ShardRule::Replicated)
                m_model.provenance.set(tensor + ".shard", m_fields.rule("it cannot be divided", false));
            const GrowthLaw& law = group.tensors[i].growth;
            if (sources.limit && law.limit)
                m_model.provenance.set(tensor + ".limit", *sources.limit);
            if (sources.limit && law.form == GrowthForm::Chunked)
                m_model.provenance.set(tensor + ".chunk", *sources.limit);
            if (sources.growth && law.form == GrowthForm::Fixed)
                m_model.provenance.set(tensor + ".entries", *sources.growth);
            if (sources.growth && law.stride != 1)
                m_model.provenance.set(tensor + ".stride", *sources.growth);
        }
    }

    void note(std::string id, std::string message, std::string_view key, Severity severity = Severity::Note)
    {
        m_model.diagnostics.push_back({severity, std::move(id), std::move(message), {}, m_fields.where(key)});
    }

    void noteLayers()
    {
        if (m_stateless > 0)
            note("import.stateless_layers", fmt::format("{} layers have no attention and keep no state.", m_stateless),
                "attention.head_count_kv");
        if (m_shape.drafts > 0 && m_arch.draftsApart)
            note("import.draft_layers",
                fmt::format("nextn_predict_layers = {}: the state of draft layers is not part of the state unless "
                            "speculation is on.",
                    m_shape.drafts),
                "nextn_predict_layers");
        else if (m_shape.drafts > 0)
            note("import.draft_layers_in_trunk",
                fmt::format(
                    "nextn_predict_layers = {}: since 2026-07-10 llama.cpp makes the cache of this architecture "
                    "for its draft layers too, with and without speculation.",
                    m_shape.drafts),
                "nextn_predict_layers", Severity::Warning);
        if (m_arch.indexer == GgufIndexer::AfterDense && m_indexWidth.value != 0)
            note("import.indexer_values",
                fmt::format("Beside the indexer's keys llama.cpp makes room for values of one head, {} elements, which "
                            "nothing uses.",
                    m_shape.valueWidth.value),
                "attention.indexer.key_length");
    }

    const GgufFields& m_fields;
    const GgufArch& m_arch;
    const GgufShape& m_shape;
    ModelSpec& m_model;
    GgufMixer m_mixer {};
    Stated m_indexWidth {};
    std::vector<LayerState> m_states;
    std::int64_t m_stateless = 0;
};

} // namespace

Result<void> addGgufLayerGroups(const GgufFields& fields, const GgufArch& arch, ModelSpec& model)
{
    const Result<GgufShape> shape = readGgufShape(fields, arch, model);
    if (!shape)
        return shape.error();
    return LayerBuilder(fields, arch, *shape, model).build();
}

} // namespace kvw
