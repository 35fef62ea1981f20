// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_compressed.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::string_view sparseName = "compressed_sparse_attention";
constexpr std::string_view heavyName = "heavily_compressed_attention";

/// What one layer adds to its window.
struct Compression
{
    std::int64_t ratio = 0; ///< tokens per entry; 0: window only
    bool indexed = false; ///< keeps an indexer's keys, one an entry
    std::int64_t overlap = 1; ///< windows that its compressor holds at a time

    bool operator==(const Compression&) const = default;
};

Source oneRow(std::string note)
{
    Source out;
    out.kind = Source::Kind::Definition;
    out.name = "shared K and V";
    out.note = std::move(note);
    return out;
}

class CompressedReader
{
public:
    CompressedReader(const HfReading& reading, std::int64_t layers, LayerGroups& groups)
        : m_reading(reading)
        , m_fields(reading.fields)
        , m_count(static_cast<std::size_t>(layers))
        , m_groups(groups)
    {}

    Result<LayerState> read()
    {
        if (const Result<void> widths = readWidths(); !widths)
            return widths.error();
        const bool sources = m_reading.family.compressionRule == CompressionRule::Sources;
        if (const Result<void> added = sources ? addSources() : addEach(); !added)
            return added.error();
        return windowState();
    }

private:
    Result<void> readWidths()
    {
        const HfFamily& family = m_reading.family;
        const Result<Stated> width
            = m_reading.numberOr({"head_dim"}, 1, mostWidth, family.headDim, "sliding.tensors.kv.width");
        if (!width)
            return width.error();
        m_width = *width;
        const Result<Stated> window = m_reading.numberOr(
            {"sliding_window", "window_size"}, 1, mostTokens, family.window, "sliding.tensors.kv.limit");
        if (!window)
            return window.error();
        m_window = *window;
        const Result<Stated> index
            = m_reading.numberOr({"index_head_dim"}, 1, mostWidth, 128, "compressed.tensors.index.width");
        if (!index)
            return index.error();
        m_indexWidth = *index;
        const Result<std::optional<Stated>> heads = m_fields.integer({"num_key_value_heads"}, 1, mostHeads);
        if (!heads)
            return heads.error();
        if (*heads && (*heads)->value != 1)
            return m_fields.find({"num_key_value_heads"})
                ->error("import.unsupported", "K and V of these layers are one row that all heads share", "1");
        return {};
    }

    void add(LayerState& state, const char* id, TensorRole role, const Stated& width, GrowthLaw growth,
        const char* why) const
    {
        StateTensor tensor;
        tensor.id = id;
        tensor.role = role;
        tensor.width = width.value;
        tensor.growth = growth;
        tensor.shard = ShardRule::Replicated;
        state.add(tensor, oneRow(why), width.source);
        state.sources[fmt::format("tensors.{}.shard", id)] = oneRow("one row cannot be divided: every rank keeps it");
    }

    LayerState windowState() const
    {
        LayerState out {.group
            = {.id = "sliding", .name = fmt::format("Sliding window {}", m_window.value), .kind = LayerKind::Sliding}};
        addWindow(out);
        return out;
    }

    void addWindow(LayerState& state) const
    {
        GrowthLaw growth;
        growth.limit = m_window.value;
        add(state, "kv", TensorRole::Latent, m_width, growth, "K and V are one row, kept once");
        state.sources["tensors.kv.limit"] = m_window.source;
    }

    void addEntries(LayerState& state, const Compression& compression) const
    {
        GrowthLaw growth;
        growth.stride = compression.ratio;
        add(state, "compressed", TensorRole::Latent, m_width, growth, "compressed K and V are one row, kept once");
        state.sources["tensors.compressed.stride"] = m_ratioSource;
        if (compression.indexed) {
            add(state, "index", TensorRole::IndexKey, m_indexWidth, growth,
                "the indexer has one key head; index_n_heads counts its queries");
            state.sources["tensors.index.stride"] = m_ratioSource;
        }
    }

    /// Rows of a partial window: kv and score (or gate), side by side.
    void addBuffer(LayerState& state, const char* id, const Stated& width, std::int64_t rows, ElementType type,
        const char* why) const
    {
        GrowthLaw growth;
        growth.form = GrowthForm::Fixed;
        growth.entries = 2 * rows;
        add(state, id, TensorRole::Buffer, width, growth, "the compressor's partial window: one row a token");
        state.group.tensors.back().elementType = type;
        state.sources[fmt::format("tensors.{}.elementType", id)] = oneRow(why);
        Source made = m_ratioSource;
        if (made.kind != Source::Kind::Assumption)
            made.note = fmt::format("2 × {} rows: values and scores of a partial window", rows);
        state.sources[fmt::format("tensors.{}.entries", id)] = made;
    }

    LayerState eachState(const Compression& compression) const
    {
        if (compression.ratio == 0)
            return windowState();
        LayerState out;
        out.group.id = compression.indexed ? "compressed_sparse" : "compressed_heavy";
        out.group.name = fmt::format("{}, 1 entry for {} tokens",
            compression.indexed ? "Compressed, sparse" : "Compressed, heavily", compression.ratio);
        out.group.kind = LayerKind::Compressed;
        addWindow(out);
        addEntries(out, compression);
        const std::int64_t rows = compression.ratio * compression.overlap;
        const char* const why = "the compressor's state is fp32";
        addBuffer(out, "buffer", m_width, rows, ElementType::Fp32, why);
        if (compression.indexed)
            addBuffer(out, "index_buffer", m_indexWidth, rows, ElementType::Fp32, why);
        return out;
    }

    /// tokens per entry by kind: compress_rates, or the fields of older files, or the class's own.
    Result<std::int64_t> rate(std::string_view kind, std::string_view legacy, std::int64_t byDefault) const
    {
        const auto rates = m_fields.find({"compress_rates"});
        std::optional<JsonView> stated = rates ? rates->findValue(kind) : std::nullopt;
        if (!stated)
            stated = m_fields.find({legacy});
        return stated ? stated->integer(1, mostTokens) : Result<std::int64_t>(byDefault);
    }

    Result<void> addEach()
    {
        const Result<std::int64_t> sparse = rate(sparseName, "compress_rate_csa", 4);
        if (!sparse)
            return sparse.error();
        const Result<std::int64_t> heavy = rate(heavyName, "compress_rate_hca", 128);
        if (!heavy)
            return heavy.error();
        const Compression sparseLayer {*sparse, true, 2}; // its windows overlap by half
        const Compression heavyLayer {*heavy, false, 1};
        if (const auto types = m_fields.find({"layer_types"}))
            return addNamed(*types, sparseLayer, heavyLayer);
        if (const auto ratios = m_fields.find({"compress_ratios"}))
            return addRatios(*ratios, sparseLayer, heavyLayer);
        m_ratioSource = m_fields.assumption(m_fields.pointer("compress_ratios"), {});
        m_ratioSource.note
            = "Neither layer_types nor compress_ratios is stated: as in the class, two heavily compressed "
              "layers, then heavily compressed and sparse ones in turn.";
        m_reading.model.assumptions.push_back({"import.layers_class_default", m_ratioSource.note, "worksheet.groups"});
        m_source = m_ratioSource;
        for (std::size_t i = 0; i < m_count; ++i) {
            if (const Result<void> added = put(i, i < 2 || i % 2 == 0 ? heavyLayer : sparseLayer); !added)
                return added;
        }
        return {};
    }

    Result<void> put(std::size_t layer, const Compression& compression)
    {
        return m_groups.add(static_cast<std::int64_t>(layer), eachState(compression), m_fields);
    }

    Error misfit(const JsonView& list) const
    {
        return list.error("import.inconsistent", "the list does not fit num_hidden_layers",
            fmt::format("an array of {} entries, and one for each draft layer", m_count));
    }

    /// The list may go on with the draft layers.
    Result<bool> fits(const JsonView& list) const
    {
        const Result<std::optional<Stated>> drafts = m_fields.integer({"num_nextn_predict_layers"}, 0, mostLayers);
        if (!drafts)
            return drafts.error();
        const std::size_t most = m_count + (*drafts ? static_cast<std::size_t>((*drafts)->value) : 1);
        return list.isArray() && list.size() >= m_count && list.size() <= most;
    }

    Result<void> addNamed(const JsonView& types, const Compression& sparseLayer, const Compression& heavyLayer)
    {
        const Result<bool> fit = fits(types);
        if (!fit || !*fit)
            return fit ? misfit(types) : fit.error();
        m_source = m_fields.fileSource(types.pointer());
        m_ratioSource = m_fields.fileSource(
            m_fields.find({"compress_rates"}) ? m_fields.pointer("compress_rates") : types.pointer());
        for (std::size_t i = 0; i < m_count; ++i) {
            const Result<std::string> name = types.at(i).string();
            if (!name)
                return name.error();
            if (*name != sparseName && *name != heavyName && *name != "sliding_attention")
                return types.at(i).error("import.unsupported", "layers of this type keep state that cannot be read yet",
                    "sliding_attention, compressed_sparse_attention or heavily_compressed_attention");
            const Compression layer = *name == sparseName ? sparseLayer
                : *name == heavyName                      ? heavyLayer
                                                          : Compression {};
            if (const Result<void> added = put(i, layer); !added)
                return added;
        }
        return {};
    }

    Result<void> addRatios(const JsonView& ratios, const Compression& sparseLayer, const Compression& heavyLayer)
    {
        const Result<bool> fit = fits(ratios);
        if (!fit || !*fit)
            return fit ? misfit(ratios) : fit.error();
        m_source = m_fields.fileSource(ratios.pointer());
        m_ratioSource = m_source;
        for (std::size_t i = 0; i < m_count; ++i) {
            const Result<std::int64_t> ratio = ratios.at(i).integer(0, mostTokens);
            if (!ratio)
                return ratio.error();
            if (*ratio != 0 && *ratio != sparseLayer.ratio && *ratio != heavyLayer.ratio)
                return ratios.at(i).error("import.unsupported",
                    "layers of this ratio keep state that cannot be read yet",
                    fmt::format("0, {} or {}", sparseLayer.ratio, heavyLayer.ratio));
            const Compression layer = *ratio == 0 ? Compression {}
                : *ratio == sparseLayer.ratio     ? sparseLayer
                                                  : heavyLayer;
            if (const Result<void> added = put(i, layer); !added)
                return added;
        }
        return {};
    }

    /// V4.1: ratios by layer, and the layers that publish entries for those up to the next source.
    Result<void> addSources()
    {
        const Result<std::vector<std::int64_t>> ratios = sourceRatios();
        if (!ratios)
            return ratios.error();
        const Result<std::vector<bool>> sources = sourceLayers(*ratios);
        if (!sources)
            return sources.error();
        std::string readFrom;
        for (std::size_t i = 0; i < m_count; ++i) {
            const std::int64_t ratio = (*ratios)[i];
            LayerState state;
            if ((*sources)[i]) {
                state = sourceState(ratio);
            } else {
                state = windowState();
                if (ratio > 0 && readFrom.empty())
                    return Error {"import.inconsistent",
                        fmt::format("layer {} reads compressed entries, but no layer before it publishes them", i),
                        {m_fields.root().file(), m_fields.pointer("kv_source_layer_ids")}, {},
                        "a kv_source_layer_ids entry at or before it"};
                if (ratio > 0) {
                    state.group.id = "sliding_" + readFrom;
                    state.group.name += ", reads " + m_sourceNames[readFrom];
                    state.group.readsGroup = readFrom;
                    state.sources["readsGroup"] = m_sourcesSource;
                }
            }
            if (const Result<void> added = m_groups.add(static_cast<std::int64_t>(i), state, m_fields); !added)
                return added;
            if ((*sources)[i]) {
                readFrom = m_groups.idOf(static_cast<std::int64_t>(i));
                m_sourceNames[readFrom] = state.group.name;
            }
        }
        return {};
    }

    LayerState sourceState(std::int64_t ratio) const
    {
        LayerState out;
        out.group.id = fmt::format("source_{}", ratio);
        out.group.name
            = ratio == 1 ? "Shared entries, 1 for each token" : fmt::format("Shared entries, 1 for {} tokens", ratio);
        out.group.kind = LayerKind::Compressed;
        addWindow(out);
        addEntries(out, {ratio, true, 1});
        if (ratio > 1)
            addBuffer(out, "buffer", m_width, ratio - 1, m_reading.model.dtype,
                "the partial group has the model's element type");
        return out;
    }

    Result<std::vector<std::int64_t>> sourceRatios()
    {
        std::vector<std::int64_t> out(m_count);
        const auto list = m_fields.find({"compress_ratios"});
        if (!list) {
            const std::size_t window = std::min<std::size_t>(2, m_count);
            const std::size_t pooled = m_count == 40 ? 18 : (m_count - window + 1) / 2;
            for (std::size_t i = window; i < m_count; ++i)
                out[i] = i < window + pooled ? 2 : 1;
            const std::string text
                = "compress_ratios is not stated: as in the class, two layers of a window only, then "
                  "layers that pool two tokens, then layers that pool none.";
            m_reading.model.assumptions.push_back({"import.layers_class_default", text, "worksheet.groups"});
            m_source = m_fields.assumption(m_fields.pointer("compress_ratios"), text);
            m_ratioSource = m_source;
            return out;
        }
        const Result<bool> fit = fits(*list);
        if (!fit || !*fit)
            return fit ? misfit(*list) : fit.error();
        for (std::size_t i = 0; i < m_count; ++i) {
            const Result<std::int64_t> ratio = list->at(i).integer(0, mostTokens);
            if (!ratio)
                return ratio.error();
            out[i] = *ratio;
        }
        m_source = m_fields.fileSource(list->pointer());
        m_ratioSource = m_source;
        return out;
    }

    Result<std::vector<bool>> sourceLayers(const std::vector<std::int64_t>& ratios)
    {
        std::vector<bool> out(m_count);
        const auto list = m_fields.find({"kv_source_layer_ids"});
        if (!list) {
            // As in the class: the released schedule's own four, else the first layer of each run of one ratio.
            std::vector<std::int64_t> released(m_count);
            for (std::size_t i = 2; i < m_count; ++i)
                released[i] = i < 20 ? 2 : 1;
            for (std::size_t i = 0; i < m_count; ++i)
                out[i] = ratios[i] > 0
                    && (ratios == released && m_count == 40 ? i == 2 || i == 8 || i == 14 || i == 20
                                                            : i == 0 || ratios[i - 1] != ratios[i]);
            m_sourcesSource = m_ratioSource;
            return out;
        }
        m_sourcesSource = m_fields.fileSource(list->pointer());
        if (!list->isArray() || list->size() > m_count)
            return list->error("json.type", "not a list of layers", "an array of layer numbers");
        for (std::size_t i = 0; i < list->size(); ++i) {
            const Result<std::int64_t> layer = list->at(i).integer(0, static_cast<std::int64_t>(m_count) - 1);
            if (!layer)
                return layer.error();
            if (ratios[static_cast<std::size_t>(*layer)] == 0)
                return list->at(i).error(
                    "import.inconsistent", "this layer publishes entries, but its ratio is 0", "a layer with a ratio");
            out[static_cast<std::size_t>(*layer)] = true;
        }
        return out;
    }

public:
    const Source& layersSource() const { return m_source; }

private:
    const HfReading& m_reading;
    const HfFields& m_fields;
    const std::size_t m_count;
    LayerGroups& m_groups;
    Stated m_width {};
    Stated m_window {};
    Stated m_indexWidth {};
    Source m_source {};
    Source m_ratioSource {};
    Source m_sourcesSource {};
    std::map<std::string, std::string> m_sourceNames {};
};

} // namespace

Result<LayerState> addCompressedLayers(
    const HfReading& reading, std::int64_t layers, LayerGroups& groups, Source& layersSource)
{
    CompressedReader reader(reading, layers, groups);
    Result<LayerState> out = reader.read();
    layersSource = reader.layersSource();
    return out;
}

} // namespace kvw
