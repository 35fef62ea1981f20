// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "device/pool_mapping.h"

#include "units/amount.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <sys/mman.h>

namespace kvw {
namespace {

constexpr std::int64_t hugePageBytes = std::int64_t {2}
    << 20; // of x86-64 and usual on arm64; elsewhere a harmless alignment

Error memoryError(std::int64_t bytes, int number)
{
    return Error {"device.memory",
        fmt::format("the system refused to map {} bytes ({}): {}", grouped(bytes), format(Bytes(bytes)),
            std::generic_category().message(number))};
}

} // namespace

PoolMapping::PoolMapping(PoolMapping&& other) noexcept
{
    *this = std::move(other);
}

PoolMapping& PoolMapping::operator=(PoolMapping&& other) noexcept
{
    if (this != &other) {
        unmap();
        m_reservation = std::exchange(other.m_reservation, nullptr);
        m_reservedBytes = std::exchange(other.m_reservedBytes, 0);
        m_begin = std::exchange(other.m_begin, nullptr);
        m_usedBytes = std::exchange(other.m_usedBytes, 0);
        m_pagedBytes = std::exchange(other.m_pagedBytes, 0);
    }
    return *this;
}

PoolMapping::~PoolMapping()
{
    unmap();
}

void PoolMapping::unmap()
{
    if (m_reservation != nullptr)
        munmap(m_reservation, m_reservedBytes);
    m_reservation = nullptr;
}

Result<PoolMapping> PoolMapping::create(std::int64_t bytes, bool hugePages, std::int64_t inaccessibleTail)
{
    constexpr std::int64_t most = std::int64_t {1} << 62;
    if (bytes < 0 || bytes > most)
        return memoryError(bytes, ENOMEM);
    const std::int64_t page = memoryPageBytes();
    const std::int64_t tail
        = std::min(roundUpToPages(std::clamp<std::int64_t>(inaccessibleTail, 0, bytes)), roundUpToPages(bytes));
    const std::int64_t alignment = hugePages && bytes >= hugePageBytes ? hugePageBytes : page;

    PoolMapping mapping;
    mapping.m_pagedBytes = static_cast<std::size_t>(roundUpToPages(bytes) - tail);
    mapping.m_usedBytes = std::min(static_cast<std::size_t>(bytes), mapping.m_pagedBytes);
    // A guard page in front, room to align, the pool, its tail, a guard page behind. NORESERVE: only the pool's pages
    // will count.
    mapping.m_reservedBytes = static_cast<std::size_t>(roundUpToPages(bytes) + 2 * page + alignment);
    void* const reservation
        = mmap(nullptr, mapping.m_reservedBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reservation == MAP_FAILED)
        return memoryError(bytes, errno);
    mapping.m_reservation = reservation;
    const std::uintptr_t afterGuard = reinterpret_cast<std::uintptr_t>(reservation) + static_cast<std::uintptr_t>(page);
    const std::uintptr_t misalignment = afterGuard % static_cast<std::uintptr_t>(alignment);
    const std::size_t skipped = misalignment == 0 ? 0 : static_cast<std::size_t>(alignment) - misalignment;
    mapping.m_begin = static_cast<std::byte*>(reservation) + page + skipped;
    if (mapping.m_pagedBytes != 0) {
        if (mprotect(mapping.m_begin, mapping.m_pagedBytes, PROT_READ | PROT_WRITE) != 0)
            return memoryError(bytes, errno);
        if (hugePages)
            madvise(mapping.m_begin, mapping.m_pagedBytes, MADV_HUGEPAGE); // a wish: without it the pool is only slower
    }
    return mapping;
}

std::span<std::byte> PoolMapping::bytes() const
{
    return {m_begin, m_usedBytes};
}

AddressRange PoolMapping::pages() const
{
    const auto begin = reinterpret_cast<std::uintptr_t>(m_begin);
    return {begin, begin + m_pagedBytes};
}

} // namespace kvw
