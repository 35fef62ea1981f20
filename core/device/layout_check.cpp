// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/layout_check.h"

#include "device/entry_math.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace kvw {
namespace {

constexpr std::int64_t blockNumbers = std::int64_t {1} << 32;

Error layoutError(std::string at, std::string message, std::string found, std::string expected)
{
    return Error {
        "device.layout", std::move(message), Location {{}, std::move(at)}, std::move(found), std::move(expected)};
}

Error rangeError(const char* what, std::int64_t found, std::int64_t first, std::int64_t end)
{
    return Error {"device.range", fmt::format("{} is outside its range", what), {}, fmt::format("{}", found),
        first < end ? fmt::format("{} to {}", first, end - 1) : std::string("none: there are none")};
}

struct Extent
{
    std::int64_t first = 0;
    std::int64_t end = 0;
};

Result<Extent> tensorExtent(const TensorLayout& tensor, std::int64_t pageBytes, const std::string& at)
{
    if (tensor.pageOffset < 0 || tensor.entryBytes < 0 || tensor.entriesPerBlock < 0) {
        return layoutError(at, "a tensor has a negative size or offset",
            fmt::format(
                "offset {}, {} entries of {} bytes", tensor.pageOffset, tensor.entriesPerBlock, tensor.entryBytes),
            {});
    }
    const std::optional<std::int64_t> bytes = checkedMultiply(tensor.entryBytes, tensor.entriesPerBlock);
    const std::optional<std::int64_t> end = bytes ? checkedAdd(tensor.pageOffset, *bytes) : std::nullopt;
    if (!end || *end > pageBytes) {
        return layoutError(at, "a tensor does not fit into its page",
            fmt::format(
                "{} entries of {} bytes at byte {}", tensor.entriesPerBlock, tensor.entryBytes, tensor.pageOffset),
            fmt::format("an end at or before byte {}", pageBytes));
    }
    return Extent {tensor.pageOffset, *end};
}

Result<void> checkTensors(const GroupLayout& group, const std::string& at)
{
    std::vector<Extent> extents;
    extents.reserve(group.tensors.size());
    for (std::size_t i = 0; i < group.tensors.size(); ++i) {
        Result<Extent> extent = tensorExtent(group.tensors[i], group.pageBytes, fmt::format("{}/tensors/{}", at, i));
        if (!extent)
            return extent.error();
        if (extent->end > extent->first)
            extents.push_back(*extent);
    }
    std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < extents.size(); ++i) {
        if (extents[i].first < extents[i - 1].end) {
            return layoutError(at + "/tensors", "two tensors of a page overlap",
                fmt::format("one ends at byte {}, one starts at byte {}", extents[i - 1].end, extents[i].first), {});
        }
    }
    return {};
}

Result<void> checkGroup(const PoolLayout& layout, const GroupLayout& group, const std::string& at)
{
    if (group.pool >= layout.pools.size())
        return layoutError(at, "the group's pool does not exist", fmt::format("{}", group.pool),
            fmt::format("less than {}", layout.pools.size()));
    if (group.layers < 0 || group.layers > std::numeric_limits<std::uint32_t>::max() || group.blockTokens < 1
        || group.blockTokens > std::numeric_limits<std::int32_t>::max() || group.pageBytes < 0) {
        return layoutError(at, "a size of the group is out of bounds",
            fmt::format(
                "{} layers, {} tokens a block, pages of {} bytes", group.layers, group.blockTokens, group.pageBytes),
            "layers of 32 bits, block tokens of 31 bits and at least 1, no negative page");
    }
    const std::int64_t blockBytes = layout.pools[group.pool].blockBytes.value;
    const std::optional<std::int64_t> pages = checkedMultiply(group.layers, group.pageBytes);
    if (!pages || *pages > blockBytes)
        return layoutError(at, "the group's pages do not fit into a block of its pool",
            fmt::format("{} pages of {} bytes", group.layers, group.pageBytes),
            fmt::format("at most {} bytes", blockBytes));
    return checkTensors(group, at);
}

} // namespace

Result<void> checkLayout(const PoolLayout& layout)
{
    for (std::size_t i = 0; i < layout.pools.size(); ++i) {
        const PoolSpec& pool = layout.pools[i];
        if (pool.blockBytes.value < 1 || pool.blocks.value < 0 || pool.blocks.value > blockNumbers
            || pool.held.value < 0 || pool.held.value > pool.blocks.value) {
            return layoutError(fmt::format("/pools/{}", i), "a size of the pool is out of bounds",
                fmt::format(
                    "{} blocks of {} bytes, {} held", pool.blocks.value, pool.blockBytes.value, pool.held.value),
                "at least 1 byte a block, 0 to 2^32 blocks, no more held than there are");
        }
    }
    const Result<Bytes> total = layout.totalBytes();
    if (!total)
        return layoutError("/pools", total.error().message, {}, {});
    for (std::size_t i = 0; i < layout.groups.size(); ++i) {
        Result<void> group = checkGroup(layout, layout.groups[i], fmt::format("/groups/{}", i));
        if (!group)
            return group;
    }
    return {};
}

Result<void> checkContentLayout(const PoolLayout& layout)
{
    if (layout.groups.size() > static_cast<std::size_t>(tagGroups))
        return layoutError("/groups", "more layer groups than an entry's tag can name",
            fmt::format("{}", layout.groups.size()), fmt::format("at most {}", tagGroups));
    for (std::size_t i = 0; i < layout.groups.size(); ++i) {
        const GroupLayout& group = layout.groups[i];
        if (!holdsState(group))
            continue;
        for (std::size_t k = 0; k < group.tensors.size(); ++k) {
            const TensorLayout& tensor = group.tensors[k];
            if (tensor.entriesPerBlock != group.blockTokens)
                return layoutError(fmt::format("/groups/{}/tensors/{}", i, k),
                    "this device writes only tensors with one entry per token",
                    fmt::format("{} entries a block", tensor.entriesPerBlock), fmt::format("{}", group.blockTokens));
            if (tensor.entryBytes < static_cast<std::int64_t>(tagBytes))
                return layoutError(fmt::format("/groups/{}/tensors/{}", i, k), "an entry is too small for its tag",
                    fmt::format("{} bytes", tensor.entryBytes), fmt::format("at least {} bytes", tagBytes));
        }
    }
    return {};
}

Result<void> checkBlock(const PoolLayout& layout, std::uint32_t pool, std::uint32_t block)
{
    if (pool >= layout.pools.size())
        return rangeError("a pool number", pool, 0, static_cast<std::int64_t>(layout.pools.size()));
    const PoolSpec& spec = layout.pools[pool];
    if (block < spec.held.value || block >= spec.blocks.value)
        return rangeError("a block number", block, spec.held.value, spec.blocks.value);
    return {};
}

Result<void> checkReadable(const PoolLayout& layout, std::uint32_t group, std::uint32_t block)
{
    if (group >= layout.groups.size())
        return rangeError("a group number", group, 0, static_cast<std::int64_t>(layout.groups.size()));
    const std::int64_t blocks = layout.pools[layout.groups[group].pool].blocks.value;
    if (block >= blocks)
        return rangeError("a block number", block, 0, blocks);
    return {};
}

Result<void> checkSpan(const PoolLayout& layout, const EntrySpan& span)
{
    if (span.group >= layout.groups.size())
        return rangeError("a group number", span.group, 0, static_cast<std::int64_t>(layout.groups.size()));
    const GroupLayout& group = layout.groups[span.group];
    Result<void> block = checkBlock(layout, group.pool, span.block);
    if (!block)
        return block;
    if (span.slot < 0 || span.slot >= group.blockTokens)
        return rangeError("a span's first slot", span.slot, 0, group.blockTokens);
    if (span.count < 1 || span.count > group.blockTokens - span.slot)
        return rangeError("a span's number of entries", span.count, 1, group.blockTokens - span.slot + 1);
    if (span.position < 0 || span.position > std::numeric_limits<std::int64_t>::max() - span.count)
        return rangeError("a span's position", span.position, 0, std::numeric_limits<std::int64_t>::max() - span.count);
    return {};
}

Result<void> checkCopies(
    const PoolLayout& layout, std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> fromTo)
{
    for (const auto& [from, to] : fromTo) {
        for (const std::uint32_t block : {from, to}) {
            Result<void> checked = checkBlock(layout, pool, block);
            if (!checked)
                return checked;
        }
        if (from == to)
            return Error {"device.range", fmt::format("block {} cannot be copied onto itself", from)};
    }
    return {};
}

std::int64_t entryBytesOfToken(const GroupLayout& group)
{
    if (!holdsState(group))
        return 0;
    std::int64_t bytes = 0;
    for (const TensorLayout& tensor : group.tensors)
        bytes += tensor.entryBytes;
    return bytes * group.layers;
}

bool holdsState(const GroupLayout& group)
{
    return group.layers > 0 && !group.tensors.empty();
}

} // namespace kvw
