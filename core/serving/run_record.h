// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "cache/cache_manager.h"
#include "serving/run_setup.h"
#include "units/result.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kvw {

/// How a request ended. Every request has exactly one of these.
enum class Outcome : std::uint8_t {
    Unfinished, ///< the run ended first
    Completed,
    Rejected,
    Cancelled,
    Failed, ///< no state could be had and none would have been given back
};
const char* outcomeName(Outcome outcome); ///< "unfinished", "completed", "rejected", "cancelled", "failed"
constexpr std::size_t outcomeCount = 5;
constexpr std::size_t missCauseCount = 5;

struct RequestRecord
{
    std::uint32_t id = 0;
    std::uint16_t tenant = 0;
    Outcome outcome = Outcome::Unfinished;
    std::string reason; ///< of a rejection or failure
    std::int64_t promptTokens = 0;
    std::int64_t outputTokens = 0; ///< generated
    std::int64_t arrivalStep = 0;
    std::int64_t admitStep = -1; ///< first admission; −1: never
    std::int64_t firstTokenStep = -1;
    std::int64_t endStep = -1;
    std::int64_t hitTokens = 0; ///< served from the cache, all admissions together
    std::int64_t neverComputed = 0; ///< prompt tokens that no admission computed
    std::int64_t recomputedTokens = 0; ///< computed again after a preemption
    std::int64_t preemptions = 0;
    std::int64_t mostBlocks = 0; ///< of group 0, at any time
    MissCause missCause = MissCause::None; ///< at the first admission
    bool warm = false; ///< the first admission was served some tokens from the cache
};

struct StepSample
{
    std::int64_t step = 0;
    std::int64_t running = 0;
    std::int64_t waiting = 0;
    std::int64_t scheduledTokens = 0;
    std::int64_t active = 0; ///< blocks, all pools together
    std::int64_t cached = 0;
    std::int64_t free = 0;
    std::int64_t activeBytes = 0;
    std::int64_t cachedBytes = 0;
    std::int64_t reservedBytes = 0; ///< active, and what admission has set aside
};

struct TenantRecord
{
    std::string id;
    std::array<std::int64_t, outcomeCount> outcomes {}; ///< by Outcome
    std::int64_t promptTokens = 0; ///< of admitted requests
    std::int64_t hitTokens = 0;
    std::int64_t neverComputed = 0; ///< of completed requests
    std::array<std::int64_t, missCauseCount> missCauses {}; ///< first admissions by MissCause
};

/// Steps of one kind over all completed requests: sorted, so that any quantile can be read.
struct StepDistribution
{
    std::vector<std::int64_t> sorted;
    /// The smallest value that at least `share` of all do not exceed; 0 when empty.
    std::int64_t quantile(double share) const;
};

/// What a run did in a few numbers.
struct RunTotals
{
    std::int64_t offered = 0; ///< requests; the outcomes add up to it
    std::int64_t completed = 0;
    std::int64_t refused = 0; ///< rejected or failed
    std::int64_t promptTokens = 0; ///< of admitted requests
    std::int64_t hitTokens = 0; ///< of those, served from the cache
};

/// What a run did, by the loop's own counters. Predictions and live runs have the same.
struct RunRecord
{
    std::string kind; ///< "prediction", "live run"
    std::string device; ///< "modelled", "host"
    std::string planHash;
    std::string workloadHash;
    double poolFraction = 1;
    bool complete = false; ///< false: stopped before every request had ended
    std::string stopReason;
    std::int64_t steps = 0;
    std::vector<RequestRecord> requests;
    std::vector<TenantRecord> tenants;
    std::vector<StepSample> samples;
    std::int64_t evictions = 0;
    std::int64_t preemptions = 0;
    std::int64_t recomputedTokens = 0;
    std::int64_t computedTokens = 0; ///< entries written per layer of group 0, repeats counted
    std::int64_t appendedBytes = 0; ///< computed tokens × bytes per token, all groups
    std::int64_t finalActive = 0;
    std::int64_t finalCached = 0;
    std::int64_t finalFree = 0;
    std::int64_t finalHeld = 0;
    std::int64_t readBackEntries = 0; ///< entries that completed requests held at their end, all groups

    std::array<std::int64_t, outcomeCount> outcomes() const;
    RunTotals totals() const;
    /// First step with the most active blocks; 0 when there is no sample.
    std::int64_t peakStep() const;
    /// Cold or warm requests only, completed ones.
    StepDistribution queueSteps(bool warm) const; ///< arrival to first admission
    StepDistribution firstTokenSteps(bool warm) const; ///< arrival to first token
    StepDistribution perTokenSteps(bool warm) const; ///< steps per output token after the first, rounded up
    StepDistribution endToEndSteps(bool warm) const; ///< arrival to end
};

/// Writes a run as it goes, one JSON object a line, each line at once: a killed run leaves every line so far.
/// Lines: {"type":"run", …}, {"type":"step", …}, {"type":"request", …} as requests end, {"type":"end", …}.
class RecordWriter
{
public:
    /// Errors: io.open.
    static Result<std::unique_ptr<RecordWriter>> create(const std::string& path);
    ~RecordWriter();

    Result<void> start(const RunRecord& record, const RunSetup& setup);
    Result<void> step(const StepSample& sample);
    Result<void> request(const RequestRecord& request, const std::string& tenant);
    Result<void> end(const RunRecord& record);

private:
    explicit RecordWriter(std::FILE* file, std::string path);
    Result<void> line(const std::string& text);

    std::FILE* m_file;
    std::string m_path;
};

} // namespace kvw
