// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/cache_behaviour.h"
#include "workload/request.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kvw {

/// A sharing domain: the resolved key that decides who may hit whose blocks. Domain 0 is the public one.
struct SharingDomain
{
    std::uint32_t id = 0;
    std::string key {}; ///< what enters the identity (an engine's salt); "" for the public domain, where it is left out
};

/// A block's identity: 128 bits of a hash chain.
struct BlockKey
{
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    auto operator<=>(const BlockKey&) const = default;
};

/// The start of a request's chain: model and tokenizer revision, adapter and sharing domain, each framed by type and
/// length, so that ("ab", "c") and ("a", "bc") differ and an absent field differs from an empty one.
BlockKey rootKey(const CacheBehaviour& behaviour, const SharingDomain& domain, const std::string& adapter);

/// True when the item covers at least one of the `tokens` tokens from `position` on.
bool overlaps(const MultimodalItem& item, std::int64_t position, std::size_t tokens);

/// The identity of the block after `parent` that holds exactly `tokens`, the first of them at `position` of the
/// request. Multimodal items that overlap the block enter with their digest and their offset relative to the block.
BlockKey nextKey(const BlockKey& parent, std::span<const TokenId> tokens, std::int64_t position,
    std::span<const MultimodalItem> multimodal);

} // namespace kvw
