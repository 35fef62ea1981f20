// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/identity.h"

#include <cstdint>
#include <vector>

namespace kvw {

/// Remembers which (identity, group) pairs were ever indexed, to tell "evicted" from "never seen".
///
/// Bounded: 64-bit fingerprints in buckets of eight, room for at least four times the blocks of the pool, between 2^16
/// and 2^22 (32 MiB). When a bucket is full an older fingerprint is forgotten, and a miss on it is called "never seen":
/// so for content that left the pool several pool-fulls ago the cause may understate evictions, never invent one. Hits
/// do not depend on it.
class SeenIdentities
{
public:
    explicit SeenIdentities(std::int64_t blocks);

    void add(const BlockKey& key, std::uint8_t group);
    bool contains(const BlockKey& key, std::uint8_t group) const;

private:
    std::size_t bucket(std::uint64_t print) const;

    std::vector<std::uint64_t> m_prints; ///< 0: empty
    std::size_t m_victim = 0;
};

} // namespace kvw
