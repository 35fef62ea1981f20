// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/vllm_groups.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvw::vllm {

/// One worker: a device, the pipeline stage that it runs, and what it found free for the cache.
struct Worker
{
    std::int64_t availableBytes = 0;
    std::int64_t stage = 0;
};

/// Everything that vLLM's sizing of the cache depends on. Lengths in tokens.
struct SizingInput
{
    Rules rules {};
    std::vector<LayerSpec> specs {};
    std::vector<CacheLayer> layers {}; ///< in the order in which the model registers them
    std::vector<Worker> workers {}; ///< none: nothing is known of the memory
    std::int64_t maxModelLen = -1; ///< −1: as long as fits, at most derivedMaxModelLen
    std::int64_t derivedMaxModelLen = 0; ///< of the model
    RequestTerms request {};
    std::int64_t draftModuleTokens = 0; ///< tokens drafted by several draft modules; 0 with one or none
    bool hybridManagerOff = false;
    std::optional<std::int64_t> blocksOverride {};
};

/// One cache group as sized.
struct SizedGroup
{
    CacheGroup group {};
    std::int64_t blockTokens = 0; ///< of its first layer
    std::int64_t pageBytes = 0; ///< of one layer; with pages of their own, of all
    std::int64_t blocksPerRequest = 0;
};

/// One worker as sized.
struct SizedWorker
{
    std::int64_t bytesPerBlock = 0;
    std::int64_t blocks = 0; ///< that its own memory would give
    std::int64_t needBytes = 0; ///< of one request, as the start-up check counts it
    std::int64_t availableBytes = 0; ///< as the check sees it: an override replaces it
};

/// Why vLLM does not start, as it says it.
struct StartRefusal
{
    enum class Kind : std::uint8_t {
        None,
        Layout, ///< the layers cannot be given one pool
        NoMemory, ///< nothing is available
        TooLong, ///< one request of the configured maximum needs more
        NotOneToken, ///< as long as fits was asked for, and nothing fits
        Overflow, ///< a figure is beyond 64 bits
    };
    Kind kind = Kind::None;
    std::string text {};
    std::int64_t needBytes = 0;
    std::int64_t availableBytes = 0;
    std::int64_t largestLength = 0; ///< 0: none, or not asked
};

/// What vLLM allocates and prints.
struct Sizing
{
    Grouping grouping {};
    std::vector<SizedGroup> groups {};
    std::vector<SizedWorker> workers {};
    StartRefusal refusal {};
    std::int64_t length = 0; ///< the maximum, fitted where that was asked for
    std::int64_t groupSize = 0; ///< layers of the longest group
    std::int64_t blocks = 0; ///< of every worker: the smallest of theirs, the null block counted
    std::int64_t blocksPerRequest = 0;
    double maxConcurrency = 0; ///< as printed, before it is cut to two decimals
    std::int64_t reportedTokens = 0; ///< as printed
    std::int64_t schedulerBlockTokens = 0; ///< hits and steps are multiples of it
    std::int64_t hashBlockTokens = 0; ///< tokens that one identity covers
};

/// The sizing (get_kv_cache_configs). With a refusal, the groups and what was found until then are there.
Sizing sizeCache(const SizingInput& input, bool prefixCaching = true);

/// Groups, pages and blocks per request at input.maxModelLen, without any memory. `workers` holds one entry for each
/// stage, without blocks.
Sizing sizeRequest(const SizingInput& input);

/// Bytes that the start-up check counts for one request of `length` tokens on a worker of `stage`. Nothing when it
/// does not fit into 64 bits.
std::optional<std::int64_t> needBytes(
    const SizingInput& input, const Grouping& grouping, std::int64_t stage, std::int64_t length);

/// The largest length up to `atMost` whose need is at most `available` bytes on a worker of `stage`; 0 when not even
/// one token fits.
std::int64_t largestLength(const SizingInput& input, const Grouping& grouping, std::int64_t stage,
    std::int64_t available, std::int64_t atMost);

} // namespace kvw::vllm
