// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_shape.h"

#include <fmt/format.h>

namespace kvw {

namespace {

constexpr std::int64_t mostTokens = std::int64_t {1} << 40;

/// Files of the first GLM-5.2 do not say which layers have an indexer of their own: the first two, then every fourth
/// from layer 2 on (llama.cpp, src/models/glm-dsa.cpp).
bool indexedInGlm52(std::int64_t layer)
{
    return layer < 2 || (layer - 2) % 4 == 0;
}

class IndexerReader
{
public:
    IndexerReader(const GgufFields& fields, const GgufArch& arch, GgufShape& shape, ModelSpec& model)
        : m_fields(fields)
        , m_arch(arch)
        , m_shape(shape)
        , m_model(model)
    {}

    Result<void> readIndexer()
    {
        const auto count = static_cast<std::size_t>(m_shape.layers);
        switch (m_arch.indexer) {
        case GgufIndexer::None:
            return {};
        case GgufIndexer::EveryLayer:
            m_shape.indexed.assign(count, true);
            m_shape.indexSource = m_fields.rule("every layer of this architecture", false);
            return {};
        case GgufIndexer::ByTypes:
            return readIndexerTypes();
        case GgufIndexer::AfterDense: {
            const auto dense = m_fields.integer("leading_dense_block_count", 0, m_shape.layers);
            if (!dense)
                return dense.error();
            const std::int64_t first = *dense ? (*dense)->value : 0;
            for (std::int64_t i = first; i < m_shape.layers; ++i)
                m_shape.indexed[static_cast<std::size_t>(i)] = true;
            m_shape.indexSource = m_fields.fileSource("leading_dense_block_count", "layers from here on");
            return {};
        }
        case GgufIndexer::Compressed:
            break;
        }
        return readRatios();
    }

private:
    Result<std::optional<std::vector<std::int64_t>>> perLayer(
        std::string_view name, std::int64_t minimum, std::int64_t maximum) const
    {
        return readGgufPerLayer(m_fields, m_shape, name, minimum, maximum);
    }
    void assume(std::string id, std::string text)
    {
        m_model.assumptions.push_back({std::move(id), std::move(text), {}});
    }

    Result<void> readIndexerTypes()
    {
        const auto flags = perLayer("attention.indexer.types", 0, 1);
        if (!flags)
            return flags.error();
        const auto trunk = static_cast<std::size_t>(m_shape.trunk());
        if (*flags) {
            m_shape.indexSource = m_fields.fileSource("attention.indexer.types", "layers with 1");
            for (std::size_t i = 0; i < trunk; ++i)
                m_shape.indexed[i] = (**flags)[i] != 0;
            return {};
        }
        constexpr std::int64_t contextOf52 = 1'048'576;
        const bool shared = m_model.maximumPositions && *m_model.maximumPositions >= contextOf52;
        const std::string text = shared
            ? "attention.indexer.types is not stated, and the context is that of GLM-5.2: the layers that have an "
              "indexer there were taken, as llama.cpp does."
            : "attention.indexer.types is not stated: an indexer in every layer was taken, as llama.cpp does.";
        m_shape.indexSource = m_fields.rule(text);
        assume("import.indexer_default", text);
        for (std::size_t i = 0; i < trunk; ++i)
            m_shape.indexed[i] = !shared || indexedInGlm52(static_cast<std::int64_t>(i));
        return {};
    }

    Result<void> readRatios()
    {
        constexpr std::string_view key = "attention.compress_ratios";
        const auto ratios = perLayer(key, 0, mostTokens);
        if (!ratios)
            return ratios.error();
        if (!*ratios)
            return m_fields.missing(key, "tokens for each compressed entry of each layer, 0 for none");
        for (std::size_t i = 0; i < static_cast<std::size_t>(m_shape.trunk()); ++i) {
            const std::int64_t ratio = (**ratios)[i];
            if (ratio != 0 && ratio != 4 && ratio != 128)
                return m_fields.error(key, "import.unsupported",
                    fmt::format("layer {} compresses in a way that is not known here", i), fmt::format("{}", ratio),
                    "0, 4 or 128");
        }
        m_shape.ratios = **ratios;
        m_shape.indexSource = m_fields.fileSource(key);
        return {};
    }

    const GgufFields& m_fields;
    const GgufArch& m_arch;
    GgufShape& m_shape;
    ModelSpec& m_model;
};

} // namespace

Result<void> readGgufIndexer(const GgufFields& fields, const GgufArch& arch, GgufShape& shape, ModelSpec& model)
{
    return IndexerReader(fields, arch, shape, model).readIndexer();
}

} // namespace kvw
