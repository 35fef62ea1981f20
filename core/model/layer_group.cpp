// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "model/layer_group.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace kvw {

std::span<const std::string_view> tensorRoleNames()
{
    static constexpr std::array<std::string_view, 8> names {
        "key", "value", "latent", "positional_key", "index_key", "recurrent_state", "convolution_state", "buffer"};
    return names;
}

std::span<const std::string_view> shardRuleNames()
{
    static constexpr std::array<std::string_view, 2> names {"heads", "replicated"};
    return names;
}

std::span<const std::string_view> layerKindNames()
{
    static constexpr std::array<std::string_view, 9> names {
        "full", "sliding", "chunked", "mla", "mla_sparse", "compressed", "recurrent", "cross", "shared"};
    return names;
}

std::span<const std::string_view> tierNames()
{
    static constexpr std::array<std::string_view, 2> names {"device", "host"};
    return names;
}

std::span<const std::string_view> groupUseNames()
{
    static constexpr std::array<std::string_view, 3> names {"", "always", "speculation"};
    return names;
}

std::optional<std::int64_t> LayerGroup::retentionLimit() const
{
    std::optional<std::int64_t> limit;
    for (const StateTensor& tensor : tensors) {
        if (tensor.growth.form != GrowthForm::Linear)
            continue;
        if (!tensor.growth.limit || (limit && *limit != *tensor.growth.limit))
            return std::nullopt;
        limit = tensor.growth.limit;
    }
    return limit;
}

std::string layerRanges(std::span<const std::int64_t> layers)
{
    std::string out;
    for (std::size_t i = 0; i < layers.size();) {
        std::size_t end = i + 1;
        const std::int64_t step = end < layers.size() ? layers[end] - layers[i] : 1;
        while (end < layers.size() && layers[end] - layers[end - 1] == step)
            ++end;
        // A pair with a gap reads better as two numbers than as a range with a step.
        if (end - i == 2 && step > 1)
            end = i + 1;
        out += out.empty() ? "" : ",";
        if (end - i == 1)
            out += fmt::format("{}", layers[i]);
        else if (step == 1)
            out += fmt::format("{}-{}", layers[i], layers[end - 1]);
        else
            out += fmt::format("{}-{}:{}", layers[i], layers[end - 1], step);
        i = end;
    }
    return out;
}

Result<std::vector<std::int64_t>> parseLayerRanges(std::string_view text)
{
    constexpr std::int64_t maximumLayers = 10'000;
    const auto bad = [&](std::string why) {
        return Error {"layers.syntax", std::move(why), {}, fmt::format("\"{}\"", text), "ranges such as 0-34:2,35"};
    };
    std::vector<std::int64_t> out;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    const auto number = [&](std::int64_t& value) {
        const auto [next, status] = std::from_chars(at, end, value);
        const bool ok = status == std::errc {} && value >= 0 && value < maximumLayers;
        at = next;
        return ok;
    };
    while (at < end) {
        std::int64_t first = 0;
        if (!number(first))
            return bad("not a layer number below 10,000");
        std::int64_t last = first;
        std::int64_t step = 1;
        if (at < end && *at == '-') {
            ++at;
            if (!number(last) || last < first)
                return bad("a range ends before it starts, or not with a layer number");
            if (at < end && *at == ':') {
                ++at;
                if (!number(step) || step < 1)
                    return bad("a step must be at least 1");
            }
        }
        if (!out.empty() && first <= out.back())
            return bad("layer numbers must ascend");
        for (std::int64_t layer = first; layer <= last; layer += step)
            out.push_back(layer);
        if (at < end && (*at++ != ',' || at == end))
            return bad("ranges are parted by commas");
    }
    return out;
}

std::vector<StateTensor> attentionTensors(
    std::int64_t heads, std::int64_t keyWidth, std::int64_t valueWidth, GrowthLaw growth)
{
    StateTensor key;
    key.id = "k";
    key.role = TensorRole::Key;
    key.heads = heads;
    key.width = keyWidth;
    key.growth = growth;
    StateTensor value = key;
    value.id = "v";
    value.role = TensorRole::Value;
    value.width = valueWidth;
    return {key, value};
}

std::vector<StateTensor> latentTensors(std::int64_t latentWidth, std::int64_t positionalWidth)
{
    StateTensor latent;
    latent.id = "latent";
    latent.role = TensorRole::Latent;
    latent.width = latentWidth;
    latent.shard = ShardRule::Replicated;
    StateTensor positional = latent;
    positional.id = "rope";
    positional.role = TensorRole::PositionalKey;
    positional.width = positionalWidth;
    return {latent, positional};
}

} // namespace kvw
