// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "model/model_spec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kvw {

/// How tensors are named.
enum class WeightNaming : std::uint8_t {
    Checkpoint, ///< as in Hugging Face checkpoints; the first dimension counts a projection's outputs
    Gguf, ///< as in GGUF files; the second dimension does
};

/// Tensors added up by component, type and layer, and what their shapes say about the heads of each layer. Its memory
/// is bounded by the number of layers, not of tensors.
class WeightLayout
{
public:
    explicit WeightLayout(WeightNaming naming)
        : m_naming(naming)
    {}

    /// Adds a tensor of `file`. False when the sums do not fit into 63 bits.
    bool add(std::string_view name, std::string_view type, std::span<const std::int64_t> shape, std::int64_t elements,
        std::int64_t bytes, const std::string& file);
    /// Layers from here on predict further tokens; else they are told by tensors that only such layers have.
    void setFirstDraftLayer(std::int64_t layer) { m_firstDraft = layer; }

    std::int64_t bytes() const { return m_bytes; }
    std::int64_t tensors() const { return m_tensors; }
    /// The sums, those of draft layers under WeightComponent::Draft.
    std::vector<WeightPart> parts() const;

    /// Compares layers and heads with the groups of `model`; each difference becomes a diagnostic of it, with a tensor
    /// that shows it: import.weights_layers, import.weights_shape.
    void compare(ModelSpec& model) const;

private:
    /// What a tensor's shape can be held against.
    enum class Projection : std::uint8_t {
        None,
        Key,
        Value,
        Latent, ///< with its rotary key
        IndexKey,
    };
    /// What a name says, its numbers left out.
    struct Pattern
    {
        WeightComponent component = WeightComponent::Other;
        Projection projection = Projection::None;
        int layerNumber = -1; ///< which number of the name is the layer's; -1: it is of no layer of the model
        bool ofDraft = false;
    };
    struct Seen
    {
        std::int64_t outputs = 0;
        std::string name;
        std::string file;
    };
    struct Layer
    {
        WeightSum sum;
        bool isDraft = false;
        std::map<Projection, Seen> projections;
    };

    const Pattern& patternOf(std::string_view name);
    Pattern readPattern(std::string_view name) const;
    Projection projectionOf(std::string_view name) const;
    bool isDraft(std::int64_t number, const Layer& layer) const;
    void compareGroup(const LayerGroup& group, ModelSpec& model) const;
    void compareLayers(ModelSpec& model) const;

    WeightNaming m_naming;
    std::int64_t m_firstDraft = INT64_MAX;
    std::int64_t m_bytes = 0;
    std::int64_t m_tensors = 0;
    WeightSum m_others; ///< of no layer
    std::map<std::int64_t, Layer> m_layers;
    std::int64_t m_lastNumber = -1; ///< tensors of a layer mostly stand together
    Layer* m_lastLayer = nullptr; ///< of m_layers, whose nodes stay where they are
    std::unordered_map<std::string, Pattern> m_patterns;
    std::string m_key; ///< the name with # for each number
    std::vector<std::int64_t> m_numbers; ///< of the name
};

} // namespace kvw
