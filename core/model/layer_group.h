// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "model/element_type.h"
#include "model/growth.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// What a tensor of state is for. It decides nothing about sizes; it names the tensor for people and tells K from V.
enum class TensorRole : std::uint8_t {
    Key,
    Value,
    Latent, ///< compressed K and V in one (MLA)
    PositionalKey, ///< the rotary part kept beside a latent
    IndexKey, ///< keys of a sparse indexer
    RecurrentState,
    ConvolutionState,
    Buffer, ///< partial windows of compressors and the like
};
std::span<const std::string_view> tensorRoleNames(); ///< "key", "value", "latent", "positional_key", "index_key", …

/// How tensor parallelism treats a tensor.
enum class ShardRule : std::uint8_t {
    Heads, ///< heads are divided over the ranks; where there are fewer heads than ranks, each is kept more than once
    Replicated, ///< every rank keeps all of it
};
std::span<const std::string_view> shardRuleNames(); ///< "heads", "replicated"

/// One tensor of state in one layer: rows of heads × width elements, as many as its growth law says.
struct StateTensor
{
    std::string id; ///< unique in its group: "k", "v", "latent" …
    TensorRole role = TensorRole::Key;
    std::int64_t heads = 1;
    std::int64_t width = 1; ///< elements of one head
    ElementType elementType = ElementType::NotStated; ///< NotStated: the plan's cache.elementType
    GrowthLaw growth {};
    ShardRule shard = ShardRule::Heads;

    bool operator==(const StateTensor&) const = default;
};

/// A name for a usual combination of tensors. It is only a preset and a label: sizes come from the tensors.
enum class LayerKind : std::uint8_t {
    Full,
    Sliding,
    Chunked,
    Mla,
    MlaSparse,
    Compressed,
    Recurrent,
    Cross,
    Shared, ///< reads another group's state and stores none
};
std::span<const std::string_view>
layerKindNames(); ///< full, sliding, chunked, mla, mla_sparse, compressed, recurrent, cross, shared

/// Where a group's state lives.
enum class Tier : std::uint8_t {
    Device,
    Host,
};
std::span<const std::string_view> tierNames(); ///< "device", "host"

/// When a group's layers run, and so keep state.
enum class GroupUse : std::uint8_t {
    NotStated, ///< as Always
    Always,
    Speculation, ///< draft layers: only while speculation is on
};
std::span<const std::string_view> groupUseNames(); ///< "", "always", "speculation"

/// Layers that keep the same tensors.
struct LayerGroup
{
    std::string id; ///< unique in the model: "full", "sliding" …
    std::string name; ///< for people
    LayerKind kind = LayerKind::Full;
    std::int64_t layers = 1; ///< how many
    std::string layerIndices {}; ///< which, as ranges: "0-34:2" is 0, 2, … 34; empty: not stated
    std::string
        readsGroup {}; ///< id of the group whose state these layers read, instead of (Shared) or beside their own
    std::vector<StateTensor> tensors {};
    std::int64_t pipelineStage = 0; ///< the stage that holds it, when the plan says so
    Tier tier = Tier::Device;
    GroupUse use = GroupUse::NotStated;

    bool operator==(const LayerGroup&) const = default;

    /// The limit that all growing tensors of the group share (a window), or nothing.
    std::optional<std::int64_t> retentionLimit() const;
};

/// Layer numbers as ranges, "0-34:2,35". REQUIRES ascending numbers.
std::string layerRanges(std::span<const std::int64_t> layers);
/// The numbers of layerRanges(). Errors: syntax, numbers not ascending, more than 10,000 layers.
Result<std::vector<std::int64_t>> parseLayerRanges(std::string_view text);

/// Presets: the tensors that a kind usually has. The caller sets widths.
std::vector<StateTensor> attentionTensors(
    std::int64_t heads, std::int64_t keyWidth, std::int64_t valueWidth, GrowthLaw growth);
std::vector<StateTensor> latentTensors(std::int64_t latentWidth, std::int64_t positionalWidth);

} // namespace kvw
