// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace kvw {

/// How a block's identity is computed.
enum class IdentityHash : std::uint8_t {
    Sha256First128, ///< first 128 bits of SHA-256: equal keys are taken for equal content
};

/// Which block goes when one is needed.
enum class EvictionPolicy : std::uint8_t {
    LazyLru, ///< least recently released first; a cached block keeps its identity until it is given away (vLLM)
};

/// An engine's cache rules as data: what the cache manager and the scheduler need to behave like it.
struct CacheBehaviour
{
    bool prefixCaching = true;
    IdentityHash hash = IdentityHash::Sha256First128;
    bool comparesTokens = false; ///< whether a hit also compares the tokens themselves
    EvictionPolicy eviction = EvictionPolicy::LazyLru;
    bool releaseTailsFirst = true; ///< a finished request's last blocks are the first to go
    bool unhashedToFront = true; ///< released blocks without identity are given away before cached ones
    bool recomputesLastToken = true; ///< a hit never covers the whole prompt: at least one token is computed
    bool reserveWholePrompt = true; ///< admit only if the whole current sequence fits, not just its first part
    double watermark = 0; ///< share of the blocks kept free when a request is admitted beside running ones
    bool duplicatesMerged = false; ///< whether a second block of the same identity is replaced by the first
    std::string modelRevision {}; ///< enters every identity
    std::string tokenizerRevision {}; ///< enters every identity
    std::string rule {}; ///< engine and version whose rules these are
};

} // namespace kvw
