// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "model/model_spec.h"
#include "workload/admission.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvw {

// Choices of plan fields. In each, 0 is "not stated"; the names are in plan/choices.h.

enum class ModelBasis : std::uint8_t {
    NotStated,
    ConfigFile,
    Library,
    Hypothetical, ///< a shape for arithmetic, no model's
};

/// Whether a policy is on. Three-valued, since "not stated" is not "no".
enum class Switch : std::uint8_t {
    NotStated,
    Off,
    On,
};

/// Which of vLLM's model runners.
enum class ModelRunner : std::uint8_t {
    NotStated,
    V1,
    V2,
};

/// When recurrent state is stored: at the end alone, on the block boundaries where steps end, on every boundary.
enum class StateMode : std::uint8_t {
    NotStated,
    None,
    Align,
    All,
};

enum class Allocation : std::uint8_t {
    NotStated,
    PagedPool,
    StaticContiguous,
    GrowingContiguous,
};

enum class RetainedFrom : std::uint8_t {
    NotStated,
    Entered,
    Prediction,
    LiveRun,
    EngineMetrics,
};

enum class IdentitySource : std::uint8_t {
    NotStated,
    MutualTls,
    VerifiedToken,
    GatewayHeader,
    ClientField,
    None,
};

enum class SaltSource : std::uint8_t {
    NotStated,
    GatewayHmac,
    GatewayRandom,
    Client,
    None,
};

/// Who may hit what a tenant stored.
enum class Eligibility : std::uint8_t {
    NotStated,
    Tenant, ///< only the tenant itself
    Group, ///< its sharing group
};

enum class Retention : std::uint8_t {
    NotStated,
    EngineLru, ///< as long as the engine's eviction order leaves it
    TimeToLive,
};

enum class LoggingBoundary : std::uint8_t {
    NotStated,
    Nothing,
    Counters,
    KeyedHashes,
    PlainHashes,
    TokenIds,
};

struct DocumentFields
{
    std::string title;
    std::string author;
    std::string classification; ///< who may read it: "internal", "confidential" …
    std::string notes;
};

struct ModelFields
{
    std::string name;
    std::string architecture;
    std::string revision; ///< identity 1
    std::string tokenizerRevision; ///< identity 2
    ModelBasis basis = ModelBasis::NotStated;
    std::optional<std::int64_t> maximumPositions;
    ElementType dtype = ElementType::NotStated;
};

struct WorksheetFields
{
    std::vector<LayerGroup> groups; ///< identity 4, attention layout
    std::optional<std::int64_t> retainedTokens; ///< presently retained, per sequence
    std::optional<std::int64_t> retainedSequences; ///< sequences that hold them
    std::string retainedAt; ///< ISO time of the reading
    RetainedFrom retainedFrom = RetainedFrom::NotStated;
};

struct CacheFields
{
    ElementType elementType = ElementType::NotStated; ///< identity 5
    Allocation allocation = Allocation::NotStated; ///< identity 8
};

struct EngineFields
{
    std::string name; ///< "none", "vllm"
    std::string version; ///< identity 3, engine build: "0.11.0"
    std::optional<std::int64_t> blockTokens; ///< identity 8
    std::optional<std::int64_t> maxBatchedTokens;
    std::optional<std::int64_t> maxSequences;
    Switch speculation = Switch::NotStated; ///< whether draft layers run and keep state
    std::optional<std::int64_t> speculativeTokens; ///< drafted ahead in one step
    std::optional<std::int64_t> draftModules; ///< several of them keep tokens beyond a window
    std::string attentionBackend; ///< as the engine names it: "FLASH_ATTN"
    std::string cacheType; ///< how the engine stores the cache, as it names it: "fp8_ds_mla"
    ModelRunner runner = ModelRunner::NotStated;
    Switch asyncScheduling = Switch::NotStated;
    std::optional<std::int64_t> batchesInFlight; ///< instead of what scheduling, runner and stages give
    StateMode stateMode = StateMode::NotStated;
    Switch hybridManager = Switch::NotStated; ///< off: windowed layers get blocks for every token
    std::optional<std::int64_t> blocksOverride; ///< blocks of the pool, whatever the memory
    Switch fitLength = Switch::NotStated; ///< on: the configured maximum is cut to what fits
};

struct DeploymentFields
{
    std::string gpu;
    std::optional<std::int64_t> memoryBytes; ///< of one device, as its driver reports it
    std::optional<std::int64_t> tp; ///< identity 9
    std::optional<std::int64_t> pp;
    std::optional<std::int64_t> dp;
    std::optional<std::int64_t> dcp; ///< ranks of tensor parallelism that share the tokens of a sequence
};

struct BudgetFields
{
    std::optional<std::int64_t> kvBytesPerRank; ///< stated or read from a log; replaces the parts below
    std::string kvBytesByRank; ///< of each rank, where they differ, separated by commas; replaces kvBytesPerRank
    std::optional<double> utilization; ///< share of the device's memory that the engine takes
    std::optional<std::int64_t> activationBytes; ///< peak, per rank
    std::optional<std::int64_t> otherBytes; ///< context, communication, graphs, other processes; per rank
};

struct LoadedFields
{
    std::optional<std::int64_t> weightBytes; ///< of the whole model
    std::string weightSource;
};

struct LimitFields
{
    std::optional<std::int64_t> maxModelLen; ///< configured maximum of one sequence, tokens
    std::optional<std::int64_t> promptTokens; ///< identity 6
    std::optional<std::int64_t> outputTokens; ///< identity 6
    std::optional<std::int64_t> concurrentSequences; ///< identity 7
    std::optional<std::int64_t> encoderTokens; ///< that one sequence's cross attention reads
    std::optional<std::int64_t> imageTokens; ///< of one sequence's images, where layers attend to them apart
};

struct ReuseFields
{
    Switch prefixCaching = Switch::NotStated; ///< identity 10
};

struct AdmissionFields
{
    WhenExhausted whenExhausted = WhenExhausted::NotStated; ///< identity 11
    Reservation reservation = Reservation::NotStated;
    std::optional<std::int64_t> maxWaitSteps;
};

struct Tenant
{
    std::string id;
    std::string name;
    std::string sharingGroup;
    Eligibility eligibility = Eligibility::NotStated;
    IdentitySource identitySource = IdentitySource::NotStated;
    SaltSource saltSource = SaltSource::NotStated;
    Retention retention = Retention::NotStated;
    std::optional<std::int64_t> retentionSeconds;
    std::string tiers; ///< tiers that may keep it: "device", "device,host"
    LoggingBoundary loggingBoundary = LoggingBoundary::NotStated;
    std::optional<std::int64_t> guaranteedBlocks;
    std::optional<std::int64_t> maximumBlocks;
};

/// The generator's fields. The tenants take turns and use the same shared prefixes; whether they share state is a
/// matter of their sharing groups.
struct WorkloadFields
{
    std::string name;
    std::optional<std::int64_t> seed;
    std::optional<std::int64_t> requests;
    std::optional<std::int64_t> commonPrefixTokens; ///< the same for every request of every tenant
    std::optional<std::int64_t> sharedPrefixes; ///< different longer prefixes, each used by all tenants
    std::optional<std::int64_t> sharedPrefixTokens;
    std::optional<std::int64_t> promptTokensMin; ///< private part
    std::optional<std::int64_t> promptTokensMax;
    std::optional<std::int64_t> outputTokensMin;
    std::optional<std::int64_t> outputTokensMax;
    std::optional<std::int64_t> burstRequests; ///< requests that arrive in the same step
    std::optional<std::int64_t> burstGapSteps; ///< steps between bursts
};

/// One line of an evidence table, kept in the plan as plain data.
struct EvidenceSummary
{
    std::string id; ///< row, such as "pool_bytes", unique in its run
    std::string title;
    std::string unit;
    std::optional<double> estimated;
    std::optional<double> predicted;
    std::optional<double> measured;
    std::string instrument;
    std::optional<double> difference; ///< measured − predicted (or estimated)
    std::string tolerance; ///< how much either way, with its reason
    std::string verdict; ///< "agrees", "differs", "not comparable", "same counter", "not put to the test"
    std::string reason;
    std::string run; ///< id of the run
};

/// A prediction or live run that the plan refers to.
struct RunReference
{
    std::string id;
    std::string kind; ///< "prediction", "live run"
    std::string planHash; ///< of the plan it was made for: stale when it differs from the plan's own
    std::string device;
    std::string at; ///< ISO time
    std::string events; ///< event log file
    std::string record; ///< run record file
    std::optional<double> poolFraction;
};

/// The document: everything a planner states, where it came from, and references to what was computed or measured.
///
/// Every member is reached through the field table (plan/field_table.h): JSON, --set, worksheet columns, undo,
/// diagnostics and help all go through it.
struct Plan
{
    DocumentFields document;
    ModelFields model;
    WorksheetFields worksheet;
    CacheFields cache;
    EngineFields engine;
    DeploymentFields deployment;
    BudgetFields budget;
    LoadedFields loaded;
    LimitFields limits;
    ReuseFields reuse;
    AdmissionFields admission;
    std::vector<Tenant> tenants;
    WorkloadFields workload;
    std::vector<EvidenceSummary> evidence;
    std::vector<RunReference> runs;
    Assumptions assumptions; ///< of the import
    Provenance provenance; ///< paths as in the field table
};

/// SHA-256 over everything that a result depends on: all fields but document, evidence, runs and what
/// tenants are called.
std::string planHash(const Plan& plan);

/// A plan for a model: its groups and what the file says, a first workload of two tenants in different sharing groups.
/// What the plan does not state stays not stated, except where the model implies it; each such step is an assumption of
/// the plan.
Plan planFromModel(const ModelSpec& model);

} // namespace kvw
