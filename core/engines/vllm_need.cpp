// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "engines/vllm_need.h"

#include "units/amount.h"

#include <algorithm>
#include <map>
#include <set>

namespace kvw::vllm {

namespace {

/// A group's layers on one stage; of the whole model with stage < 0.
std::vector<std::size_t> layersOn(const SizingInput& input, const CacheGroup& group, std::int64_t stage)
{
    std::vector<std::size_t> out;
    for (const std::size_t layer : group.layers) {
        if (stage < 0 || input.layers[layer].stage == stage)
            out.push_back(layer);
    }
    return out;
}

/// Layers by page size.
std::map<std::int64_t, std::int64_t> pageCounts(const Grouping& grouping, const std::vector<std::size_t>& layers)
{
    std::map<std::int64_t, std::int64_t> out;
    for (const std::size_t layer : layers)
        ++out[grouping.pageAt(layer)];
    return out;
}

Whole packedBlock(const SizingInput& input, const Grouping& grouping, std::int64_t stage)
{
    Whole largest = 0;
    std::map<std::int64_t, std::int64_t> slots;
    for (const CacheGroup& group : grouping.groups) {
        const std::vector<std::size_t> layers = layersOn(input, group, stage);
        const Whole bytes = pagesOf(grouping, layers);
        largest = largest && bytes ? Whole(std::max(*largest, *bytes)) : std::nullopt;
        for (const auto& [page, count] : pageCounts(grouping, layers))
            slots[page] = std::max(slots[page], count);
    }
    if (input.rules.overlaysGroups)
        return largest;
    Whole out = 0;
    for (const auto& [page, count] : slots)
        out = add(out, multiply(page, count));
    return out;
}

/// The check's need of packed groups: every block counts as many tuples as the fullest group has, each of one page of
/// every size of the full group. That is more than the block really takes.
Whole packedNeed(const SizingInput& input, const Grouping& grouping, std::int64_t stage, std::int64_t length)
{
    std::int64_t tuples = 0;
    Whole tuple = 0;
    for (std::size_t g = 0; g < grouping.groups.size(); ++g) {
        for (const auto& [page, count] : pageCounts(grouping, layersOn(input, grouping.groups[g], stage))) {
            tuples = std::max(tuples, count);
            if (g == 0)
                tuple = add(tuple, page);
        }
    }
    return multiply(multiply(tuples, tuple), requestBlocks(input, grouping, length));
}

/// A group with pages of its own, on its own: every layer's blocks.
Whole ownPagesNeed(const SizingInput& input, const Grouping& grouping, std::int64_t stage, std::int64_t length)
{
    Whole out = 0;
    for (const std::size_t layer : layersOn(input, grouping.groups.front(), stage)) {
        const std::int64_t blocks = blocksPerRequest(grouping.specAt(layer), input.rules, input.request, length);
        out = add(out, multiply(grouping.pageAt(layer), blocks));
    }
    return out;
}

} // namespace

Whole add(Whole a, Whole b)
{
    return a && b ? checkedAdd(*a, *b) : std::nullopt;
}

Whole multiply(Whole a, Whole b)
{
    return a && b ? checkedMultiply(*a, *b) : std::nullopt;
}

Whole pagesOf(const Grouping& grouping, const std::vector<std::size_t>& layers)
{
    Whole out = 0;
    for (const std::size_t layer : layers)
        out = add(out, grouping.pageAt(layer));
    return out;
}

std::int64_t groupBlocks(
    const SizingInput& input, const Grouping& grouping, const CacheGroup& group, std::int64_t length)
{
    if (!group.ownPages)
        return blocksPerRequest(grouping.specAt(group.layers.front()), input.rules, input.request, length);
    std::set<std::size_t> specs;
    std::int64_t out = 0;
    for (const std::size_t layer : group.layers) {
        if (specs.insert(grouping.specOf[layer]).second)
            out = std::max(out, blocksPerRequest(grouping.specAt(layer), input.rules, input.request, length));
    }
    return out;
}

Whole requestBlocks(const SizingInput& input, const Grouping& grouping, std::int64_t length)
{
    Whole out = 0;
    for (const CacheGroup& group : grouping.groups)
        out = add(out, groupBlocks(input, grouping, group, length));
    return out;
}

std::int64_t groupSizeOn(const SizingInput& input, const Grouping& grouping, std::int64_t stage)
{
    std::size_t out = 0;
    for (const CacheGroup& group : grouping.groups)
        out = std::max(out, layersOn(input, group, stage).size());
    return static_cast<std::int64_t>(out);
}

Whole bytesPerBlock(const SizingInput& input, const Grouping& grouping, std::int64_t stage)
{
    if (grouping.groups.size() == 1)
        return pagesOf(grouping, layersOn(input, grouping.groups.front(), stage));
    if (grouping.packed())
        return packedBlock(input, grouping, stage);
    return multiply(grouping.pageAt(grouping.groups.front().layers.front()), groupSizeOn(input, grouping, stage));
}

std::optional<std::int64_t> needBytes(
    const SizingInput& input, const Grouping& grouping, std::int64_t stage, std::int64_t length)
{
    if (grouping.groups.empty())
        return 0;
    if (grouping.groups.size() == 1 && grouping.groups.front().ownPages)
        return ownPagesNeed(input, grouping, stage, length);
    if (grouping.packed())
        return packedNeed(input, grouping, stage, length);
    return multiply(bytesPerBlock(input, grouping, stage), requestBlocks(input, grouping, length));
}

std::int64_t largestLength(
    const SizingInput& input, const Grouping& grouping, std::int64_t stage, std::int64_t available, std::int64_t atMost)
{
    const auto fits = [&](std::int64_t length) {
        const std::optional<std::int64_t> need = needBytes(input, grouping, stage, length);
        return need && *need <= available;
    };
    if (atMost < 1 || !fits(1))
        return 0;
    std::int64_t low = 1; // fits
    std::int64_t high = atMost;
    while (low < high) {
        const std::int64_t middle = low + (high - low + 1) / 2;
        if (fits(middle))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

} // namespace kvw::vllm
