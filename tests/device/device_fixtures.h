// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/device.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace kvw::test {

using Random = std::mt19937_64;

/// How many random operations to do: `usual`, times KVW_TEST_SCALE where the caller sets it.
inline int scaled(int usual)
{
    const char* const text = std::getenv("KVW_TEST_SCALE");
    const double factor = text != nullptr ? std::atof(text) : 1.0;
    return factor > 0 ? std::max(1, static_cast<int>(usual * factor)) : usual;
}

/// A number of [first, last].
inline std::int64_t pick(Random& random, std::int64_t first, std::int64_t last)
{
    return std::uniform_int_distribution<std::int64_t>(first, last)(random);
}

inline TensorLayout tensor(std::string id, ElementType type, std::int64_t heads, std::int64_t width)
{
    TensorLayout layout;
    layout.id = std::move(id);
    layout.elementType = type;
    layout.heads = heads;
    layout.width = width;
    layout.entryBytes = heads * rowBytes(type, width);
    return layout;
}

/// A group whose tensors lie one after another in the page, `gap` bytes after each.
inline GroupLayout group(std::uint32_t pool, std::int64_t layers, std::int64_t blockTokens,
    std::vector<TensorLayout> tensors, std::int64_t gap = 0)
{
    GroupLayout layout;
    layout.id = "group";
    layout.pool = pool;
    layout.layers = layers;
    layout.blockTokens = blockTokens;
    for (TensorLayout& each : tensors) {
        each.entriesPerBlock = blockTokens;
        each.pageOffset = layout.pageBytes;
        layout.pageBytes += each.entryBytes * blockTokens + gap;
    }
    layout.tensors = std::move(tensors);
    return layout;
}

/// One pool of `blocks` blocks, keys and values of 2 heads × 64 and 2 heads × 32 in bf16, 3 layers, 16 tokens a block.
inline PoolLayout smallLayout(std::int64_t blocks, std::int64_t held = 0)
{
    PoolLayout layout;
    layout.groups.push_back(
        group(0, 3, 16, {tensor("k", ElementType::Bf16, 2, 64), tensor("v", ElementType::Bf16, 2, 32)}));
    layout.pools.push_back(PoolSpec {Bytes(3 * layout.groups[0].pageBytes), Blocks(blocks), Blocks(held)});
    return layout;
}

/// One to three groups of different shapes, in shared or separate pools, with gaps, padding and held blocks.
inline PoolLayout randomLayout(Random& random)
{
    const auto type = [&] { return pick(random, 0, 1) == 0 ? ElementType::Bf16 : ElementType::Fp8E4M3; };
    PoolLayout layout;
    const std::int64_t groups = pick(random, 1, 3);
    for (std::int64_t i = 0; i < groups; ++i) {
        const auto pool = static_cast<std::uint32_t>(pick(random, 0, static_cast<std::int64_t>(layout.pools.size())));
        if (pool == layout.pools.size())
            layout.pools.emplace_back();
        std::vector<TensorLayout> tensors;
        switch (pick(random, 0, 2)) {
        case 0: // keys and values of different widths; odd widths leave tails
            tensors = {tensor("k", type(), pick(random, 1, 4), pick(random, 16, 70)),
                tensor("v", type(), pick(random, 1, 4), pick(random, 16, 70))};
            break;
        case 1: // MLA
            tensors = {tensor("latent", type(), 1, 512), tensor("rope", type(), 1, 64)};
            break;
        default:
            tensors = {tensor("k", type(), 2, 128), tensor("v", type(), 2, 128), tensor("index", type(), 1, 16)};
        }
        const std::int64_t blockTokens
            = std::vector<std::int64_t> {1, 3, 16, 32}[static_cast<std::size_t>(pick(random, 0, 3))];
        layout.groups.push_back(group(
            pool, pick(random, 1, 4), blockTokens, std::move(tensors), pick(random, 0, 1) * pick(random, 1, 100)));
    }
    for (const GroupLayout& each : layout.groups) {
        std::int64_t& blockBytes = layout.pools[each.pool].blockBytes.value;
        blockBytes = std::max(blockBytes, each.layers * each.pageBytes);
    }
    for (PoolSpec& pool : layout.pools) {
        pool.blockBytes.value += pick(random, 0, 1) * pick(random, 1, 500);
        pool.held.value = pick(random, 0, 2);
        pool.blocks.value = pool.held.value + pick(random, 1, 12);
    }
    return layout;
}

/// Tokens of one request and their chains, so that spans can be cut from it.
class Sequence
{
public:
    Sequence(std::uint16_t domain, std::uint64_t seed, std::int64_t tokens)
        : m_domain(domain)
    {
        Random random(seed);
        std::uint64_t chain = chainStart(domain);
        for (std::int64_t i = 0; i < tokens; ++i) {
            chain = chainNext(chain, static_cast<TokenId>(random()));
            m_chains.push_back(chain);
        }
    }

    /// Entries [position, position + count) in a block. REQUIRES that the sequence outlives the span.
    EntrySpan span(std::uint32_t groupIndex, std::uint32_t block, std::int32_t slot, std::int64_t position,
        std::int32_t count) const
    {
        EntrySpan span;
        span.group = groupIndex;
        span.block = block;
        span.slot = slot;
        span.count = count;
        span.domain = m_domain;
        span.position = position;
        span.chains = m_chains.data() + position;
        return span;
    }

private:
    std::uint16_t m_domain;
    std::vector<std::uint64_t> m_chains;
};

} // namespace kvw::test
