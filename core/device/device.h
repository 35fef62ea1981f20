// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/content.h"
#include "engines/pool_layout.h"
#include "units/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kvw {

/// What a device says about itself before anything is reserved.
struct DeviceInfo
{
    std::string id; ///< "host", "modelled"
    std::string name; ///< processor or GPU as the system names it
    std::int64_t totalBytes = 0;
    std::int64_t availableBytes = 0; ///< now
    std::string memorySource; ///< where the two figures come from: "/proc/meminfo MemAvailable"
};

/// A stretch of entries of one request inside one block: the unit of append and verify.
///
/// `chains[i]` is the token chain hash at position + i (see content.h); it, the domain, layer, tensor and position fix
/// every byte.
struct EntrySpan
{
    std::uint32_t group = 0;
    std::uint32_t block = 0;
    std::int32_t slot = 0; ///< first entry in the block
    std::int32_t count = 0;
    std::uint32_t request = 0;
    std::uint16_t domain = 0;
    std::int64_t position = 0; ///< token position of the first entry
    const std::uint64_t* chains = nullptr; ///< count values; may be null on devices without bytes
};

/// What verify() found in the bytes.
struct VerifyCount
{
    std::int64_t entries = 0; ///< token entries read (each over all layers and tensors of its group)
    std::int64_t mismatched = 0; ///< entries with at least one wrong byte
    std::int64_t foreign = 0; ///< of those, entries of another domain that is not public (0), by a genuine tag
    std::int64_t bytesRead = 0;
    std::int64_t blocksRead = 0; ///< spans read

    VerifyCount& operator+=(const VerifyCount& other);
};

/// Memory as instruments see it, each with its source.
struct MemoryReading
{
    std::string instrument; ///< "/proc/self/smaps Rss of the pool mappings"
    std::int64_t poolBytes = 0;
    std::int64_t pageBytes = 0; ///< granularity of the reading
};

/// Counted by the device's own instruments from the pool's bytes, never from the loop.
struct DeviceCounts
{
    std::int64_t nonPoisonBytes = 0; ///< sum over all counts before a poisoning, countAndPoisonAll() included
    std::int64_t fullBlocksOverwritten = 0; ///< blocks that held every entry when they were begun anew
};

struct Rate
{
    double bytes = 0;
    double seconds = 0;
    double perSecond() const; ///< 0 when no time has passed
};

/// Reserves pools and moves state; the serving loop's other counterpart. One thread at a time.
///
/// The pool starts poisoned (0xFF in every byte; no content byte is ever 0xFF). An append at slot 0 begins a block
/// anew: before it is written the device counts the block's bytes that are not poison, adds them to counts(), and
/// poisons the block again. The target of a block copy begins anew in the same way. Spans take effect in the order in
/// which they are given.
///
/// A span is in range when its group, block and slots exist, its block is not a held one, its position is not negative
/// and it has at least one entry. A group without layers or tensors on this rank takes part with zero bytes.
class Device
{
public:
    virtual ~Device();

    virtual DeviceInfo info() const = 0;
    /// Reserves and poisons the pools, in place of any reserved before; counts and rates start at zero.
    /// Errors: device.memory (with numbers), device.layout; nothing stays reserved then.
    virtual Result<void> reserve(const PoolLayout& layout) = 0;
    /// Gives the pools back. counts() and the rates stay readable.
    virtual void release() = 0;

    /// Writes the spans' content. Errors: device.range for a span out of range (nothing of any span is written).
    virtual Result<void> append(std::span<const EntrySpan> spans) = 0;
    /// Reads the spans back and compares every byte with what it must be. Errors: device.range.
    virtual Result<VerifyCount> verify(std::span<const EntrySpan> spans) = 0;
    /// Copies whole blocks inside a pool (copy-on-write), pair after pair. Errors: device.range for a block that does
    /// not exist or is held, and for a pair of equal blocks (nothing is copied).
    virtual Result<void> copyBlocks(std::uint32_t pool, std::span<const std::pair<std::uint32_t, std::uint32_t>> fromTo)
        = 0;

    /// The tags found in a block, one per slot of `group`, read from its first layer and tensor; nothing where no entry
    /// of that group lies (never written, or another group's block in a shared pool). How instruments see who owns a
    /// block and how full it is. Held blocks can be read too. Errors: device.range; device.no_bytes on a device without
    /// bytes.
    virtual Result<std::vector<std::optional<EntryTag>>> readTags(std::uint32_t group, std::uint32_t block) const = 0;
    /// Counts the bytes of every block that are not poison, adds them to counts() and poisons the whole pool again.
    virtual Result<void> countAndPoisonAll() = 0;
    virtual DeviceCounts counts() const = 0;
    /// Errors: device.memory when the instrument cannot be read; device.no_bytes on a device without bytes.
    virtual Result<MemoryReading> memory() const = 0;

    /// True for devices that hold real bytes: only those have anything to measure.
    virtual bool holdsBytes() const = 0;
    /// Totals of append() and verify(): bytes and seconds on a monotonic clock. Zero on devices without time.
    virtual Rate appendRate() const = 0;
    virtual Rate verifyRate() const = 0;
};

} // namespace kvw
