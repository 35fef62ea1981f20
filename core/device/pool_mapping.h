// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/host_memory.h"
#include "units/result.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace kvw {

/// Memory of its own for one pool: a mapping with inaccessible pages on both sides, so that the kernel never joins it
/// with a neighbour (its Rss stays its own) and an access beyond it faults. Starts on a huge page where that can help.
/// Movable only.
class PoolMapping
{
public:
    PoolMapping() = default;
    PoolMapping(PoolMapping&& other) noexcept;
    PoolMapping& operator=(PoolMapping&& other) noexcept;
    PoolMapping(const PoolMapping&) = delete;
    PoolMapping& operator=(const PoolMapping&) = delete;
    ~PoolMapping();

    /// Maps `bytes` rounded up to pages; nothing is touched yet. The last `inaccessibleTail` bytes (whole pages of
    /// them) are left inaccessible. Errors: device.memory with the system's reason.
    static Result<PoolMapping> create(std::int64_t bytes, bool hugePages, std::int64_t inaccessibleTail = 0);

    /// The bytes that may be used: what was asked for, less an inaccessible tail. Not rounded.
    std::span<std::byte> bytes() const;
    /// The whole pages of it.
    AddressRange pages() const;

private:
    void unmap();

    void* m_reservation = nullptr; // with the inaccessible pages
    std::size_t m_reservedBytes = 0;
    std::byte* m_begin = nullptr;
    std::size_t m_usedBytes = 0;
    std::size_t m_pagedBytes = 0;
};

} // namespace kvw
