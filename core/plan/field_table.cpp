// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/field_table.h"

#include "plan/choices.h"

#include <array>

namespace kvw {

namespace {

/// A pointer to the member at the end of a path of members: slot<&Plan::deployment, &DeploymentFields::tp>.
template <typename Object, typename Value>
Object objectOf(Value Object::*);

template <auto Member>
auto& follow(auto& object)
{
    return object.*Member;
}

template <auto First, auto Second, auto... More>
auto& follow(auto& object)
{
    return follow<Second, More...>(object.*First);
}

template <typename Value>
FieldSlot slotFor(Value& value)
{
    if constexpr (std::is_enum_v<Value>) {
        static_assert(sizeof(Value) == 1);
        return reinterpret_cast<std::uint8_t*>(&value); // choices are one byte; a byte may alias anything
    } else {
        return &value;
    }
}

template <auto First, auto... More>
FieldSlot slot(void* object)
{
    return slotFor(follow<First, More...>(*static_cast<decltype(objectOf(First))*>(object)));
}

template <auto... Path>
constexpr Field text(std::string_view path, std::string_view title, std::string_view help)
{
    return {path, FieldType::Text, Unit::None, 0, 0, {}, title, help, &slot<Path...>};
}

template <auto... Path>
constexpr Field whole(std::string_view path, Unit unit, std::int64_t minimum, std::int64_t maximum,
    std::string_view title, std::string_view help)
{
    return {path, FieldType::Integer, unit, minimum, maximum, {}, title, help, &slot<Path...>};
}

template <auto... Path>
constexpr Field count(std::string_view path, Unit unit, std::int64_t minimum, std::int64_t maximum,
    std::string_view title, std::string_view help)
{
    return {path, FieldType::Count, unit, minimum, maximum, {}, title, help, &slot<Path...>};
}

template <auto... Path>
constexpr Field real(std::string_view path, Unit unit, std::int64_t minimum, std::int64_t maximum,
    std::string_view title, std::string_view help)
{
    return {path, FieldType::Real, unit, minimum, maximum, {}, title, help, &slot<Path...>};
}

template <auto... Path>
Field choice(
    std::string_view path, std::span<const std::string_view> choices, std::string_view title, std::string_view help)
{
    return {path, FieldType::Choice, Unit::None, 0, 0, choices, title, help, &slot<Path...>};
}

constexpr std::int64_t mostTokens = std::int64_t {1} << 40;
constexpr std::int64_t mostBytes = std::int64_t {1} << 60;
constexpr std::int64_t mostRanks = 65'536;

template <typename Object, typename Element, std::vector<Element> Object::*Member>
constexpr Collection collection(
    std::string_view path, std::string_view title, const FieldTable* elements, std::size_t maximumSize)
{
    return {path, title, elements, maximumSize,
        [](const void* object) { return (static_cast<const Object*>(object)->*Member).size(); },
        [](void* object, std::size_t index) -> void* { return &(static_cast<Object*>(object)->*Member)[index]; },
        [](void* element) { return &static_cast<Element*>(element)->id; },
        [](void* object) -> void* { return &(static_cast<Object*>(object)->*Member).emplace_back(); },
        [](void* object, std::size_t index) {
            auto& list = static_cast<Object*>(object)->*Member;
            list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
        }};
}

/// worksheet.groups lies one level down.
constexpr Collection worksheetGroups(const FieldTable* elements)
{
    return {"worksheet.groups", "layer group", elements, 1024,
        [](const void* object) { return static_cast<const Plan*>(object)->worksheet.groups.size(); },
        [](void* object, std::size_t index) -> void* { return &static_cast<Plan*>(object)->worksheet.groups[index]; },
        [](void* element) { return &static_cast<LayerGroup*>(element)->id; },
        [](void* object) -> void* { return &static_cast<Plan*>(object)->worksheet.groups.emplace_back(); },
        [](void* object, std::size_t index) {
            auto& groups = static_cast<Plan*>(object)->worksheet.groups;
            groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(index));
        }};
}

const FieldTable& tensorTable()
{
    using T = StateTensor;
    using G = GrowthLaw;
    static const std::array fields {
        choice<&T::role>("role", tensorRoleNames(), "Role", "What the tensor is for; it decides no size."),
        count<&T::heads>("heads", Unit::Head, 1, 65'536, "Heads", "Heads of the whole model, before sharding."),
        count<&T::width>("width", Unit::Element, 1, 1'000'000, "Width", "Elements of one head."),
        choice<&T::elementType>("elementType", elementTypeNames(), "Element type",
            "How one element is stored, scales included. Not stated: the plan's cache.elementType."),
        choice<&T::growth, &G::form>("growth", growthFormNames(), "Growth",
            "fixed: entries per sequence; linear: min(round((v + offset) ÷ stride), limit); chunked: ((v − 1) mod "
            "chunk) + 1."),
        choice<&T::growth, &G::variable>(
            "variable", growthVariableNames(), "Grows with", "What v counts: tokens, encoder tokens or image tokens."),
        choice<&T::growth, &G::rounding>("rounding", roundingNames(), "Rounding", "Of (v + offset) ÷ stride."),
        count<&T::growth, &G::entries>(
            "entries", Unit::Entry, 0, mostTokens, "Entries", "Growth fixed: entries of one sequence."),
        count<&T::growth, &G::offset>(
            "offset", Unit::Token, -mostTokens, mostTokens, "Offset", "Growth linear: added to v."),
        count<&T::growth, &G::stride>(
            "stride", Unit::Token, 1, mostTokens, "Stride", "Growth linear: tokens per entry."),
        whole<&T::growth, &G::limit>("limit", Unit::Entry, 1, mostTokens, "Retention limit",
            "Growth linear: the most entries that stay retained, such as a sliding window. Not stated: no limit."),
        count<&T::growth, &G::chunk>(
            "chunk", Unit::Token, 1, mostTokens, "Chunk", "Growth chunked: tokens of a chunk."),
        choice<&T::shard>("shard", shardRuleNames(), "Sharding",
            "heads: divided over tensor-parallel ranks; replicated: whole on each."),
    };
    static const FieldTable table {fields, {}};
    return table;
}

const FieldTable& groupTable()
{
    using G = LayerGroup;
    static const std::array fields {
        text<&G::name>("name", "Name", "For people."),
        choice<&G::kind>("kind", layerKindNames(), "Kind", "A label and preset; sizes come from the tensors."),
        count<&G::layers>("layers", Unit::Layer, 1, 10'000, "Layers", "How many layers keep this state."),
        text<&G::layerIndices>("layerIndices", "Which layers", "As ranges: 0-34:2 is 0, 2, … 34."),
        text<&G::readsGroup>(
            "readsGroup", "Reads", "The group whose state these layers read; of kind shared, instead of their own."),
        count<&G::pipelineStage>(
            "pipelineStage", Unit::None, 0, 1'023, "Placement: stage", "Pipeline stage that holds it."),
        choice<&G::tier>("tier", tierNames(), "Placement: tier", "device or host memory."),
        choice<&G::use>("countsWhen", groupUseNames(), "Counts",
            "speculation: draft layers, which count only where engine.speculation is on. Not stated: always."),
    };
    static const std::array collections {
        collection<G, StateTensor, &G::tensors>("tensors", "tensor", &tensorTable(), 64),
    };
    static const FieldTable table {fields, collections};
    return table;
}

const FieldTable& tenantTable()
{
    using T = Tenant;
    static const std::array fields {
        text<&T::name>("name", "Name", "For people."),
        text<&T::sharingGroup>("sharingGroup", "Sharing group", "Tenants of one group may share state, if eligible."),
        choice<&T::eligibility>("eligibility", eligibilityNames(), "Eligibility",
            "Who may hit what this tenant stored: only itself (tenant), or its sharing group (group)."),
        choice<&T::identitySource>("identitySource", identitySourceNames(), "Identity comes by",
            "How the tenant's identity reaches the engine. client_field and none are findings, not protection."),
        choice<&T::saltSource>("saltSource", saltSourceNames(), "Salt made by",
            "Who derives the salt. A salt separates; it does not authenticate, encrypt or complete isolation."),
        choice<&T::retention>("retention", retentionNames(), "Retention", "How long its cached state stays."),
        whole<&T::retentionSeconds>(
            "retentionSeconds", Unit::Seconds, 1, 1'000'000'000, "Kept for", "Retention time_to_live: seconds."),
        text<&T::tiers>("tiers", "Cache tiers", "Tiers that may keep its state, such as device,host."),
        choice<&T::loggingBoundary>("loggingBoundary", loggingBoundaryNames(), "Logging boundary",
            "The most that may be logged. Hashes without a key are a dictionary of short prefixes."),
        whole<&T::guaranteedBlocks>(
            "guaranteedBlocks", Unit::Block, 0, mostBytes, "Guaranteed", "Blocks that others cannot take."),
        whole<&T::maximumBlocks>("maximumBlocks", Unit::Block, 0, mostBytes, "Maximum", "Blocks it may hold at most."),
    };
    static const FieldTable table {fields, {}};
    return table;
}

const FieldTable& evidenceTable()
{
    using E = EvidenceSummary;
    static const std::array fields {
        text<&E::title>("title", "Row", "What is compared."),
        text<&E::unit>("unit", "Unit", "Of the three figures."),
        real<&E::estimated>("estimated", Unit::None, INT64_MIN, INT64_MAX, "Estimated", "From the closed form."),
        real<&E::predicted>("predicted", Unit::None, INT64_MIN, INT64_MAX, "Predicted", "From the prediction."),
        real<&E::measured>("measured", Unit::None, INT64_MIN, INT64_MAX, "Measured", "By the instrument."),
        text<&E::instrument>("instrument", "Instrument", "What measured it."),
        real<&E::difference>(
            "difference", Unit::None, INT64_MIN, INT64_MAX, "Difference", "Measured less predicted (or estimated)."),
        text<&E::tolerance>("tolerance", "Tolerance", "How much either way, with its reason."),
        text<&E::verdict>(
            "verdict", "Verdict", "agrees, differs, not comparable, same counter or not put to the test."),
        text<&E::reason>("reason", "Reason", "Of the tolerance and the verdict."),
        text<&E::run>("run", "Run", "Id of the run."),
    };
    static const FieldTable table {fields, {}};
    return table;
}

const FieldTable& runTable()
{
    using R = RunReference;
    static const std::array fields {
        text<&R::kind>("kind", "Kind", "prediction or live run."),
        text<&R::planHash>("planHash", "Plan", "SHA-256 of the plan it was made for."),
        text<&R::device>("device", "Device", "What it ran on."),
        text<&R::at>("at", "Time", "When it ended, ISO 8601."),
        text<&R::events>("events", "Event log", "File."),
        text<&R::record>("record", "Run record", "File."),
        real<&R::poolFraction>("poolFraction", Unit::Ratio, 0, 1, "Pool fraction", "Share of the planned blocks used."),
    };
    static const FieldTable table {fields, {}};
    return table;
}

std::vector<Field> headFields()
{
    using P = Plan;
    return {
        text<&P::document, &DocumentFields::title>("document.title", "Title", "Of the plan and its report."),
        text<&P::document, &DocumentFields::author>("document.author", "Author", "Who answers for the plan."),
        text<&P::document, &DocumentFields::classification>("document.classification", "Classification",
            "Who may read the report: stands on its cover and at the foot of each page."),
        text<&P::document, &DocumentFields::notes>("document.notes", "Notes", "Free text."),
        text<&P::model, &ModelFields::name>("model.name", "Model", "Repository id or another name."),
        text<&P::model, &ModelFields::architecture>("model.architecture", "Architecture", "model_type of the file."),
        text<&P::model, &ModelFields::revision>(
            "model.revision", "Model revision", "Commit or digest of the weights in use."),
        text<&P::model, &ModelFields::tokenizerRevision>("model.tokenizerRevision", "Tokenizer revision",
            "Commit or digest of the tokenizer: other tokens are another prefix."),
        choice<&P::model, &ModelFields::basis>("model.basis", modelBasisNames(), "Basis",
            "Where the shape comes from. hypothetical: arithmetic on a shape, not a GPU fit."),
        whole<&P::model, &ModelFields::maximumPositions>("model.maximumPositions", Unit::Token, 1, mostTokens,
            "Longest sequence of the model", "As the model file states it."),
        choice<&P::model, &ModelFields::dtype>("model.dtype", elementTypeNames(), "Model element type",
            "Of the model's computation; the weights' format does not decide the cache's."),
        whole<&P::worksheet, &WorksheetFields::retainedTokens>("worksheet.retainedTokens", Unit::Token, 0, mostTokens,
            "Presently retained", "Tokens of one sequence, from a reading; never derived from the configured maximum."),
        whole<&P::worksheet, &WorksheetFields::retainedSequences>("worksheet.retainedSequences", Unit::Sequence, 0,
            mostTokens, "Sequences retained", "Sequences that hold them. Not stated: limits.concurrentSequences."),
        text<&P::worksheet, &WorksheetFields::retainedAt>("worksheet.retainedAt", "Reading taken at", "ISO 8601 time."),
        choice<&P::worksheet, &WorksheetFields::retainedFrom>(
            "worksheet.retainedFrom", retainedFromNames(), "Reading taken from", "What the reading was taken from."),
        choice<&P::cache, &CacheFields::elementType>("cache.elementType", elementTypeNames(), "Cache element type",
            "Of all tensors that state none of their own."),
        choice<&P::cache, &CacheFields::allocation>("cache.allocation", allocationNames(), "Allocation strategy",
            "paged_pool, static_contiguous or growing_contiguous; the estimate prices all three."),
        text<&P::engine, &EngineFields::name>("engine.name", "Engine", "none (shape only) or vllm."),
        text<&P::engine, &EngineFields::version>("engine.version", "Engine build",
            "Such as 0.11.0. The first two numbers choose the rules: up to 0.20, 0.21 to 0.24, 0.25 and later; without "
            "them the newest."),
        whole<&P::engine, &EngineFields::blockTokens>(
            "engine.blockTokens", Unit::Token, 1, 65'536, "Block", "Tokens of one block."),
        whole<&P::engine, &EngineFields::maxBatchedTokens>("engine.maxBatchedTokens", Unit::Token, 1, mostTokens,
            "Tokens per batch", "Most tokens computed in one step."),
        whole<&P::engine, &EngineFields::maxSequences>("engine.maxSequences", Unit::Sequence, 1, 1'000'000,
            "Sequences per batch", "Most requests running at a time. Not stated: limits.concurrentSequences."),
        choice<&P::engine, &EngineFields::speculation>("engine.speculation", switchNames(), "Speculation",
            "Whether draft layers run. Their groups count only then; not stated: they do not."),
    };
}

/// Inputs of vLLM's sizing that its version and the model give when nobody states them.
std::vector<Field> sizingFields()
{
    using P = Plan;
    using E = EngineFields;
    return {
        whole<&P::engine, &E::speculativeTokens>(
            "engine.speculativeTokens", Unit::Token, 0, 1024, "Draft tokens", "Drafted ahead in one step."),
        whole<&P::engine, &E::draftModules>("engine.draftModules", Unit::None, 0, 64, "Draft modules",
            "With several, windows keep the draft tokens beside their own."),
        text<&P::engine, &E::attentionBackend>("engine.attentionBackend", "Attention backend",
            "As the engine names it, such as FLASHMLA: it decides the smallest block."),
        text<&P::engine, &E::cacheType>("engine.cacheType", "Stored as",
            "How the engine stores the cache, as it names it: fp8_ds_mla, int8_per_token_head. Not stated: by type."),
        choice<&P::engine, &E::runner>("engine.runner", modelRunnerNames(), "Model runner", "Of vLLM: v1 or v2."),
        choice<&P::engine, &E::asyncScheduling>("engine.asyncScheduling", switchNames(), "Asynchronous scheduling",
            "Whether a batch is prepared while another runs. Not stated: it is, from vLLM 0.25 on."),
        whole<&P::engine, &E::batchesInFlight>("engine.batchesInFlight", Unit::None, 1, mostRanks, "Batches in flight",
            "Computed or prepared at one time. Not stated: by version, stages, scheduling and runner."),
        choice<&P::engine, &E::stateMode>("engine.stateMode", stateModeNames(), "Recurrent state kept",
            "none: the last; align: where steps end on a block boundary; all: at every boundary."),
        choice<&P::engine, &E::hybridManager>("engine.hybridManager", switchNames(), "Hybrid cache manager",
            "off: windowed layers get blocks for every token. Not stated: on."),
        whole<&P::engine, &E::blocksOverride>("engine.blocksOverride", Unit::Block, 1, mostBytes, "Blocks, overridden",
            "Of the pool, whatever the memory (num_gpu_blocks_override)."),
        choice<&P::engine, &E::fitLength>("engine.fitLength", switchNames(), "Cut to what fits",
            "on: the configured maximum is cut to the longest request that fits."),
        whole<&P::deployment, &DeploymentFields::dcp>("deployment.dcp", Unit::Rank, 1, mostRanks, "Context parallel",
            "Ranks of tensor parallelism that share the tokens of a sequence (DCP)."),
        text<&P::budget, &BudgetFields::kvBytesByRank>("budget.kvBytesByRank", "Available for state, by rank",
            "Bytes of each rank, separated by commas, where they differ: the smallest pool counts."),
    };
}

std::vector<Field> deploymentFields()
{
    using P = Plan;
    return {
        text<&P::deployment, &DeploymentFields::gpu>("deployment.gpu", "Device", "Name of the accelerator."),
        whole<&P::deployment, &DeploymentFields::memoryBytes>("deployment.memoryBytes", Unit::Byte, 1, mostBytes,
            "Device memory", "Of one device, as its driver reports it; not the marketing figure."),
        whole<&P::deployment, &DeploymentFields::tp>(
            "deployment.tp", Unit::Rank, 1, mostRanks, "Tensor parallel", "Ranks that share each layer."),
        whole<&P::deployment, &DeploymentFields::pp>(
            "deployment.pp", Unit::Rank, 1, mostRanks, "Pipeline parallel", "Stages."),
        whole<&P::deployment, &DeploymentFields::dp>(
            "deployment.dp", Unit::Rank, 1, mostRanks, "Data parallel", "Independent engines."),
        whole<&P::budget, &BudgetFields::kvBytesPerRank>("budget.kvBytesPerRank", Unit::Byte, 0, mostBytes,
            "Available for state, per rank", "Stated or read from a log; replaces the parts of the budget."),
        real<&P::budget, &BudgetFields::utilization>("budget.utilization", Unit::Ratio, 0, 1, "Utilisation",
            "Share of the device's memory that the engine takes."),
        whole<&P::budget, &BudgetFields::activationBytes>("budget.activationBytes", Unit::Byte, 0, mostBytes,
            "Activation peak, per rank", "No file tells it: measure or assume."),
        whole<&P::budget, &BudgetFields::otherBytes>("budget.otherBytes", Unit::Byte, 0, mostBytes, "Other, per rank",
            "Context, communication, graphs, other processes."),
        whole<&P::loaded, &LoadedFields::weightBytes>("loaded.weightBytes", Unit::Byte, 0, mostBytes,
            "Weights, all ranks", "Of the whole model, as it is loaded."),
        text<&P::loaded, &LoadedFields::weightSource>(
            "loaded.weightSource", "Weights’ source", "Where their size is from. Free text."),
        whole<&P::limits, &LimitFields::maxModelLen>("limits.maxModelLen", Unit::Token, 1, mostTokens,
            "Configured maximum", "Tokens of one sequence, prompt and output together."),
        whole<&P::limits, &LimitFields::promptTokens>(
            "limits.promptTokens", Unit::Token, 1, mostTokens, "Prompt limit", "Tokens."),
        whole<&P::limits, &LimitFields::outputTokens>(
            "limits.outputTokens", Unit::Token, 1, mostTokens, "Output limit", "Tokens."),
        whole<&P::limits, &LimitFields::concurrentSequences>("limits.concurrentSequences", Unit::Sequence, 1, 1'000'000,
            "Concurrency", "Sequences that may stay active at a time."),
        whole<&P::limits, &LimitFields::encoderTokens>("limits.encoderTokens", Unit::Token, 0, mostTokens,
            "Encoder tokens", "Tokens of the encoder that one sequence's cross attention reads."),
        whole<&P::limits, &LimitFields::imageTokens>("limits.imageTokens", Unit::Token, 0, mostTokens, "Image tokens",
            "Tokens of one sequence's images that layers of cross attention read. 0: text only."),
        choice<&P::reuse, &ReuseFields::prefixCaching>(
            "reuse.prefixCaching", switchNames(), "Prefix cache", "Whether state of equal prefixes is used again."),
        choice<&P::admission, &AdmissionFields::whenExhausted>("admission.whenExhausted", whenExhaustedNames(),
            "If no state can be had", "wait, reject or preempt_recompute."),
        choice<&P::admission, &AdmissionFields::reservation>("admission.reservation", reservationNames(), "Reservation",
            "on_demand: blocks as they are needed; full_output: for the whole output at admission."),
        whole<&P::admission, &AdmissionFields::maxWaitSteps>("admission.maxWaitSteps", Unit::Step, 0, 1'000'000'000,
            "Longest wait", "Steps after which a waiting request is rejected. Not stated: no limit."),
    };
}

std::vector<Field> workloadFields()
{
    using P = Plan;
    using W = WorkloadFields;
    return {
        text<&P::workload, &W::name>("workload.name", "Workload", "For people."),
        whole<&P::workload, &W::seed>("workload.seed", Unit::None, 0, INT64_MAX, "Seed", "Of the generator."),
        whole<&P::workload, &W::requests>("workload.requests", Unit::Request, 1, 1'000'000, "Requests", "In all."),
        whole<&P::workload, &W::commonPrefixTokens>("workload.commonPrefixTokens", Unit::Token, 0, mostTokens,
            "Common prefix", "Tokens that every prompt of every tenant starts with."),
        whole<&P::workload, &W::sharedPrefixes>("workload.sharedPrefixes", Unit::None, 0, 1'000'000, "Shared prefixes",
            "Different longer prefixes after the common one; requests of all tenants use them."),
        whole<&P::workload, &W::sharedPrefixTokens>(
            "workload.sharedPrefixTokens", Unit::Token, 0, mostTokens, "Shared prefix length", "Tokens of each."),
        whole<&P::workload, &W::promptTokensMin>("workload.promptTokensMin", Unit::Token, 1, mostTokens,
            "Private prompt, least", "Tokens after the prefixes; lengths are spread evenly."),
        whole<&P::workload, &W::promptTokensMax>("workload.promptTokensMax", Unit::Token, 1, mostTokens,
            "Private prompt, most", "Tokens after the prefixes."),
        whole<&P::workload, &W::outputTokensMin>(
            "workload.outputTokensMin", Unit::Token, 1, mostTokens, "Output, least", "Tokens."),
        whole<&P::workload, &W::outputTokensMax>(
            "workload.outputTokensMax", Unit::Token, 1, mostTokens, "Output, most", "Tokens."),
        whole<&P::workload, &W::burstRequests>("workload.burstRequests", Unit::Request, 1, 1'000'000,
            "Requests per burst", "That arrive in the same step."),
        whole<&P::workload, &W::burstGapSteps>(
            "workload.burstGapSteps", Unit::Step, 1, 1'000'000'000, "Steps between bursts", "From one to the next."),
    };
}

} // namespace

const FieldTable& planFields()
{
    static const std::vector<Field> fields = [] {
        std::vector<Field> all = headFields();
        for (const std::vector<Field>& part : {sizingFields(), deploymentFields(), workloadFields()})
            all.insert(all.end(), part.begin(), part.end());
        return all;
    }();
    static const std::array collections {
        worksheetGroups(&groupTable()),
        collection<Plan, Tenant, &Plan::tenants>("tenants", "tenant", &tenantTable(), 4096),
        collection<Plan, EvidenceSummary, &Plan::evidence>("evidence", "evidence row", &evidenceTable(), 100'000),
        collection<Plan, RunReference, &Plan::runs>("runs", "run", &runTable(), 10'000),
    };
    static const FieldTable table {fields, collections};
    return table;
}

} // namespace kvw
