// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// What weights are for, as far as their tensors' names say.
enum class WeightComponent : std::uint8_t {
    Embedding, ///< of tokens and positions
    Attention, ///< projections of attention, its indexers and its recurrent and convolutional relatives
    Mlp, ///< dense feed-forward layers, shared experts too
    Experts, ///< routed experts and their router
    Norm,
    Output, ///< the head over the vocabulary, where it is not the embedding itself
    Vision, ///< towers for images, video and audio, and what joins them to the model
    Draft, ///< layers that predict further tokens (MTP, NextN)
    Other,
};
std::span<const std::string_view> weightComponentNames(); ///< "embedding", "attention", "mlp", "experts", "norm", …

/// Weights of one component that are stored in one type.
struct WeightPart
{
    WeightComponent component = WeightComponent::Other;
    std::string type; ///< as the file names it: "BF16", "q4_K"
    std::int64_t tensors = 0;
    std::int64_t elements = 0; ///< as stored: of packed types the elements of the container
    std::int64_t bytes = 0; ///< exact

    bool operator==(const WeightPart&) const = default;
};

/// Adds tensors up by component and type.
class WeightSum
{
public:
    /// False when the sum of bytes or elements would not fit into 63 bits; then nothing is added.
    bool add(WeightComponent component, std::string_view type, std::int64_t elements, std::int64_t bytes);
    /// In the order of components, then of type names.
    std::vector<WeightPart> parts() const;
    std::int64_t bytes() const { return m_bytes; }
    std::int64_t tensors() const { return m_tensors; }

private:
    std::vector<WeightPart> m_parts; ///< a few, so that they are looked through
    std::int64_t m_bytes = 0;
    std::int64_t m_elements = 0;
    std::int64_t m_tensors = 0;
};

/// The component of a tensor by the name that it has in Hugging Face checkpoints (safetensors).
WeightComponent componentOfCheckpointTensor(std::string_view name);
/// The component of a tensor by the name that llama.cpp gives it (gguf-py/gguf/constants.py, August 2026).
WeightComponent componentOfGgufTensor(std::string_view name);

/// The number behind a layer prefix in a tensor's name ("model.layers.12.", "blk.3.", "transformer.h.7."), or nothing.
std::optional<std::int64_t> layerOfTensor(std::string_view name);

} // namespace kvw
