// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace kvw {

/// What happened. Numbers are part of the file format (version 1).
enum class EventKind : std::uint8_t {
    Step = 1, ///< a step begins; value = requests running at its start
    Hold = 2, ///< block is held (null, dummy, padding) for the whole run; group = the first one of the pool
    Allocate = 3, ///< free block goes into request's table at position (logical block number); first reference
    Append = 4, ///< value = tokens that the block holds now
    Index = 5, ///< block is findable from now on; value = number of its identity in the digest table
    Reference = 6, ///< a hit: the block goes into request's table at position; one more reference
    Release = 7, ///< one reference fewer: the request gave the block back (finished, preempted …)
    Drop = 8, ///< one reference fewer: the block's tokens left the window
    Evict = 9, ///< a cached block loses its identity and is free; request, tenant = on whose behalf; group = what the
               ///< block was
    Arrive = 10, ///< request arrived; value = prompt tokens
    Admit = 11, ///< request runs; value = tokens served from the cache
    Preempt = 12, ///< request lost its state; value = tokens that had been computed
    Complete = 13, ///< value = tokens generated
    Reject = 14,
    Cancel = 15,
    Fail = 16,
};

/// One event: 24 bytes, in host byte order little-endian in files. Fields that a kind does not use are 0.
struct Event
{
    EventKind kind = EventKind::Step;
    std::uint8_t group = 0; ///< index into the layout's groups
    std::uint16_t tenant = 0; ///< index into the workload's tenants
    std::uint32_t block = 0; ///< id in the group's pool
    std::uint32_t request = 0;
    std::uint32_t position = 0; ///< logical block number in the request
    std::uint32_t step = 0;
    std::uint32_t value = 0;

    bool operator==(const Event&) const = default;
};
static_assert(sizeof(Event) == 24);

} // namespace kvw
