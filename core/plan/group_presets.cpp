// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/group_presets.h"

#include <algorithm>
#include <array>

namespace kvw {

namespace {

constexpr std::int64_t mostHeads = 65'536;
constexpr std::int64_t mostWidth = 4'096; // of one factor: two of them, and twice, stay below a tensor's most
constexpr std::int64_t mostInner = 65'536;
constexpr std::int64_t mostTokens = 1'000'000'000;

using Numbers = std::span<const std::int64_t>;

// Usual values are those of models in wide use; each is an assumption until somebody states it.
constexpr PresetNumber heads {"heads", "KV heads", Unit::Head, 1, mostHeads, 8, TensorRole::Key, "heads"};
constexpr PresetNumber keyWidth {
    "keyWidth", "Width of a K head", Unit::Element, 1, mostInner, 128, TensorRole::Key, "width"};
constexpr PresetNumber valueWidth {
    "valueWidth", "Width of a V head", Unit::Element, 1, mostInner, 128, TensorRole::Value, "width"};
constexpr PresetNumber window {"window", "Window", Unit::Token, 1, mostTokens, 4'096, TensorRole::Key, "limit"};
constexpr PresetNumber chunk {"chunk", "Chunk", Unit::Token, 1, mostTokens, 8'192, TensorRole::Key, "chunk"};
constexpr PresetNumber latentWidth {
    "latentWidth", "Width of the latent", Unit::Element, 1, mostInner, 512, TensorRole::Latent, "width"};
constexpr PresetNumber positionalWidth {
    "positionalWidth", "Width of the rotary key", Unit::Element, 1, mostInner, 64, TensorRole::PositionalKey, "width"};
constexpr PresetNumber indexWidth {
    "indexWidth", "Width of an index key", Unit::Element, 1, mostInner, 128, TensorRole::IndexKey, "width"};
constexpr PresetNumber rowWindow {
    "window", "Window of whole rows", Unit::Token, 1, mostTokens, 128, TensorRole::Latent, "limit"};
constexpr PresetNumber ratio {"ratio", "Tokens of a compressed row", Unit::Token, 1, mostTokens, 4};
constexpr PresetNumber kept {
    "kept", "Inputs that the convolution keeps", Unit::Entry, 1, 1'000, 3, TensorRole::ConvolutionState, "entries"};
constexpr PresetNumber stateHeads {
    "heads", "Value heads", Unit::Head, 1, mostHeads, 32, TensorRole::RecurrentState, "heads"};
constexpr PresetNumber keyHeads {
    "keyHeads", "Key heads", Unit::Head, 1, mostHeads, 16, TensorRole::ConvolutionState, "heads"};
constexpr PresetNumber stateKeyWidth {"keyWidth", "Width of a key head", Unit::Element, 1, mostWidth / 8, 128};
constexpr PresetNumber stateValueWidth {"valueWidth", "Width of a value head", Unit::Element, 1, mostWidth / 8, 128};
constexpr PresetNumber channels {
    "channels", "Inner channels", Unit::Head, 1, mostHeads, 8'192, TensorRole::RecurrentState, "heads"};
constexpr PresetNumber depth {
    "depth", "State of a channel", Unit::Element, 1, mostWidth, 16, TensorRole::RecurrentState, "width"};
constexpr PresetNumber ssmHeads {"heads", "Heads", Unit::Head, 1, mostHeads, 128, TensorRole::RecurrentState, "heads"};
constexpr PresetNumber ssmWidth {"width", "Width of a head", Unit::Element, 1, mostWidth / 8, 64};
constexpr PresetNumber ssmGroups {"groups", "Groups of B and C", Unit::Head, 1, mostHeads, 8};
constexpr PresetNumber ssmDepth {"depth", "State of an element", Unit::Element, 1, mostWidth / 8, 128};

constexpr std::array attention {heads, keyWidth, valueWidth};
constexpr std::array sliding {heads, keyWidth, valueWidth, window};
constexpr std::array chunked {heads, keyWidth, valueWidth, chunk};
constexpr std::array mla {latentWidth, positionalWidth};
constexpr std::array mlaSparse {latentWidth, positionalWidth, indexWidth};
constexpr std::array compressed {latentWidth, rowWindow, ratio};
constexpr std::array linear {stateHeads, stateValueWidth, keyHeads, stateKeyWidth, kept};
constexpr std::array mamba1 {channels, depth, kept};
constexpr std::array mamba2 {ssmHeads, ssmWidth, ssmGroups, ssmDepth, kept};

StateTensor row(const char* id, TensorRole role, std::int64_t headCount, std::int64_t width, GrowthLaw growth,
    ShardRule shard = ShardRule::Heads)
{
    return {id, role, headCount, width, ElementType::NotStated, growth, shard};
}

GrowthLaw fixed(std::int64_t entries)
{
    return {.form = GrowthForm::Fixed, .entries = entries};
}

std::vector<StateTensor> indexed(Numbers n)
{
    std::vector<StateTensor> out = latentTensors(n[0], n[1]);
    out.push_back(row("index", TensorRole::IndexKey, 1, n[2], {}, ShardRule::Replicated));
    return out;
}

std::vector<StateTensor> compressedRows(Numbers n)
{
    return {row("kv", TensorRole::Latent, 1, n[0], {.limit = n[1]}, ShardRule::Replicated),
        row("compressed", TensorRole::Latent, 1, n[0], {.stride = n[2]}, ShardRule::Replicated)};
}

/// The convolution runs over query, key and value: for each key head two rows of its width, and its values.
std::vector<StateTensor> linearState(Numbers n)
{
    const std::int64_t values = std::max<std::int64_t>(1, n[0] / n[2]) * n[1];
    return {row("conv", TensorRole::ConvolutionState, n[2], 2 * n[3] + values, fixed(n[4])),
        row("state", TensorRole::RecurrentState, n[0], n[1] * n[3], fixed(1))};
}

std::vector<StateTensor> mamba1State(Numbers n)
{
    return {row("conv", TensorRole::ConvolutionState, n[0], 1, fixed(n[2])),
        row("state", TensorRole::RecurrentState, n[0], n[1], fixed(1))};
}

std::vector<StateTensor> mamba2State(Numbers n)
{
    return {row("conv", TensorRole::ConvolutionState, n[0], n[1], fixed(n[4])),
        row("conv_bc", TensorRole::ConvolutionState, n[2], 2 * n[3], fixed(n[4])),
        row("state", TensorRole::RecurrentState, n[0], n[1] * n[3], fixed(1))};
}

// The one table: what a preset is called, what it sets, and from which numbers.
constexpr std::array presets {
    GroupPreset {"full", "Full attention", LayerKind::Full, "K and V of every token.", attention,
        [](Numbers n) { return attentionTensors(n[0], n[1], n[2], {}); }},
    GroupPreset {"sliding", "Sliding window", LayerKind::Sliding, "K and V of the last tokens, as many as the window.",
        sliding, [](Numbers n) { return attentionTensors(n[0], n[1], n[2], {.limit = n[3]}); }},
    GroupPreset {"chunked", "Chunks", LayerKind::Chunked, "K and V of the chunk that is being written.", chunked,
        [](Numbers n) { return attentionTensors(n[0], n[1], n[2], {.form = GrowthForm::Chunked, .chunk = n[3]}); }},
    GroupPreset {"mla", "MLA latent", LayerKind::Mla, "One latent row and one rotary key a token, whole on every rank.",
        mla, [](Numbers n) { return latentTensors(n[0], n[1]); }},
    GroupPreset {"mla_sparse", "MLA latent, sparse", LayerKind::MlaSparse,
        "A latent row, a rotary key and an indexer's key a token, whole on every rank.", mlaSparse, indexed},
    GroupPreset {"compressed", "Compressed", LayerKind::Compressed,
        "A window of whole rows, and beside it one row for every few tokens, whole on every rank. The compressor's "
        "own buffers are not in it: add them as tensors.",
        compressed, compressedRows},
    GroupPreset {"linear", "Linear attention", LayerKind::Recurrent,
        "One matrix a value head and the convolution's last inputs, of the same size at any length, as in Gated "
        "DeltaNet.",
        linear, linearState},
    GroupPreset {"mamba1", "Mamba", LayerKind::Recurrent,
        "The state of each inner channel and the convolution's last inputs, of the same size at any length.", mamba1,
        mamba1State},
    GroupPreset {"mamba2", "Mamba 2", LayerKind::Recurrent,
        "One matrix a head and the convolution's last inputs (of the heads, and of B and C), of the same size at any "
        "length.",
        mamba2, mamba2State},
    GroupPreset {"cross", "Cross attention to the encoder", LayerKind::Cross,
        "K and V of every encoder token; nothing grows with the text.", attention,
        [](Numbers n) { return attentionTensors(n[0], n[1], n[2], {.variable = GrowthVariable::EncoderTokens}); }},
    GroupPreset {"cross_image", "Cross attention to images", LayerKind::Cross,
        "K and V of every image token; nothing grows with the text.", attention,
        [](Numbers n) { return attentionTensors(n[0], n[1], n[2], {.variable = GrowthVariable::ImageTokens}); }},
    GroupPreset {"shared", "Reads another group", LayerKind::Shared, "No state of its own.", {}, nullptr},
};

} // namespace

std::span<const GroupPreset> groupPresets()
{
    return presets;
}

const GroupPreset* groupPreset(std::string_view id)
{
    const auto found
        = std::find_if(presets.begin(), presets.end(), [&](const GroupPreset& preset) { return preset.id == id; });
    return found == presets.end() ? nullptr : &*found;
}

} // namespace kvw
