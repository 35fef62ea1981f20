// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/estimate.h"

#include "plan/identity.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

struct Context
{
    const Plan& plan;
    PlanInputs& inputs;
    std::optional<Quantity> length; ///< configured maximum
    Quantity sequences;
    std::optional<Quantity> retainedTokens;
    Quantity retainedSequences;
};

std::vector<std::string> stateExcludes()
{
    return {"block metadata", "padding", "allocator reservation", "workspace", "weights",
        "replicated or separately kept state"};
}

/// Bytes that `sequences` sequences of `v` tokens hold in the group.
Quantity heldBytes(const GroupShape& shape, const Quantity& sequences, const Quantity& v, const TensorShape& tensor)
{
    return sequences * shape.layers * tensor.entries(v) * tensor.entryBytes;
}

TensorEstimate tensorEstimate(const Context& context, const GroupShape& shape, const TensorShape& tensor)
{
    GroupShape alone;
    alone.group = shape.group;
    alone.layers = shape.layers;
    alone.tensors = {tensor};
    const std::string id = tensorWord(*tensor.tensor);
    TensorEstimate out;
    out.tensor = tensor.tensor;
    out.bytesPerToken = named(growingBytes(alone, allHeads(alone)), id + " bytes per token", Unit::BytesPerToken);
    out.fixedBytes = named(saturatedBytes(alone, allHeads(alone)), id + " bytes at the limit", Unit::BytesPerSequence);
    if (context.length)
        out.configuredBytes
            = named(heldBytes(shape, context.sequences, *context.length, tensor), id + " bytes", Unit::Byte);
    if (context.retainedTokens)
        out.retainedBytes = named(
            heldBytes(shape, context.retainedSequences, *context.retainedTokens, tensor), id + " bytes", Unit::Byte);
    return out;
}

/// Of a tensor that does not count in this plan.
TensorEstimate noEstimate(const Context& context, const StateTensor& tensor)
{
    const std::string id = tensorWord(tensor);
    TensorEstimate out;
    out.tensor = &tensor;
    out.bytesPerToken = named(constant(0), id + " bytes per token", Unit::BytesPerToken);
    out.fixedBytes = named(constant(0), id + " bytes at the limit", Unit::BytesPerSequence);
    if (context.length)
        out.configuredBytes = named(constant(0), id + " bytes", Unit::Byte);
    if (context.retainedTokens)
        out.retainedBytes = named(constant(0), id + " bytes", Unit::Byte);
    return out;
}

/// Bytes of all tensors of the group for `sequences` sequences of `v` tokens: layers × (sum of entries × entry bytes).
Quantity groupBytes(const GroupShape& shape, const Quantity& sequences, const Quantity& v)
{
    std::vector<Quantity> terms;
    for (const TensorShape& tensor : shape.tensors) {
        const Quantity entries
            = named(tensor.entries(v), "entries of " + tensorWord(*tensor.tensor), Unit::EntriesPerSequence);
        const Quantity bytes
            = named(tensor.entryBytes, "bytes of one " + tensorWord(*tensor.tensor) + " entry", Unit::BytesPerEntry);
        terms.push_back(entries * bytes);
    }
    if (terms.empty())
        return constant(0);
    return sequences * shape.layers * (terms.size() == 1 ? terms.front() : sum(terms));
}

TokenColumn column(const GroupShape& shape, const char* which, const Quantity& sequences, const Quantity& v)
{
    const Quantity entries = shape.tensors.empty() ? constant(0) : sequences * shape.tensors.front().entries(v);
    return {named(entries, shape.group->name + ", " + which + ", tokens", Unit::Token),
        named(groupBytes(shape, sequences, v),
            Naming {shape.group->name + ", " + which + ", bytes", Unit::Byte, {}, stateExcludes()})};
}

GroupEstimate groupEstimate(const Context& context, const GroupShape& shape)
{
    const std::string& name = shape.group->name;
    const std::vector<Quantity> heads = allHeads(shape);
    GroupEstimate out;
    out.group = shape.group;
    out.bytesPerToken = named(growingBytes(shape, heads), name + ", bytes per token", Unit::BytesPerToken);
    out.fixedBytes = named(saturatedBytes(shape, heads), name + ", bytes at the limit", Unit::BytesPerSequence);
    if (context.length) {
        out.sequenceBytes = named(groupBytes(shape, constant(1), *context.length),
            Naming {name + ", one sequence at the configured maximum", Unit::BytesPerSequence, {}, stateExcludes()});
        out.configured = column(shape, "configured maximum", context.sequences, *context.length);
    }
    if (context.retainedTokens)
        out.retained = column(shape, "presently retained", context.retainedSequences, *context.retainedTokens);
    for (const TensorShape& tensor : shape.tensors)
        out.tensors.push_back(tensorEstimate(context, shape, tensor));
    if (shape.tensors.empty()) { // of a group that does not count in this plan, every tensor has no bytes
        for (const StateTensor& tensor : shape.group->tensors)
            out.tensors.push_back(noEstimate(context, tensor));
    }
    return out;
}

template <typename Getter>
Quantity total(const Estimate& estimate, Getter getter, std::string name, Unit unit)
{
    std::vector<Quantity> terms;
    for (const GroupEstimate& group : estimate.groups)
        terms.push_back(getter(group));
    return named(sum(terms), Naming {std::move(name), unit, {}, stateExcludes()});
}

void addTotals(Estimate& out, const Context& context)
{
    out.bytesPerToken = total(
        out, [](const GroupEstimate& g) { return g.bytesPerToken; }, "bytes per token", Unit::BytesPerToken);
    out.fixedBytes = total(
        out, [](const GroupEstimate& g) { return g.fixedBytes; }, "bytes per sequence at the limits",
        Unit::BytesPerSequence);
    if (context.length) {
        out.idealSequenceBytes = total(
            out, [](const GroupEstimate& g) { return g.sequenceBytes; }, "ideal need of one sequence",
            Unit::BytesPerSequence);
        out.idealBytes = total(
            out, [](const GroupEstimate& g) { return g.configured->bytes; }, "ideal need", Unit::Byte);
    }
    if (context.retainedTokens)
        out.retainedBytes = total(
            out, [](const GroupEstimate& g) { return g.retained->bytes; }, "presently retained", Unit::Byte);
}

/// What is reserved: the engine's pool where it has one, else what the chosen strategy holds for the planned sequences.
void addReserved(Estimate& out, const Context& context)
{
    if (out.engine.poolBytes && out.engine.ranks.size() > 0) {
        const Quantity ranks = context.inputs.numberOr(
            "deployment.tp", 1, Source::Kind::EngineDefault, "one rank.", "tensor-parallel ranks");
        out.reservedBytes = named(*out.engine.poolBytes * ranks,
            Naming {"reserved pool, all ranks", Unit::Byte, {},
                {"what the division leaves over", "weights", "workspace", "block metadata"}});
        const auto keeps = [&](const GroupEstimate& group) { return keepsState(context.plan, *group.group); };
        if (std::count_if(out.groups.begin(), out.groups.end(), keeps) != 1)
            return; // the pool is not any one group's
        for (GroupEstimate& group : out.groups) {
            if (keeps(group))
                group.reserved = TokenColumn {named(*out.engine.blocks * *out.engine.blockTokens,
                                                  group.group->name + ", reserved, tokens", Unit::Token),
                    *out.reservedBytes};
        }
        return;
    }
    for (const StrategyPrice& price : out.strategies) {
        if (price.strategy == context.plan.cache.allocation && price.bytes)
            out.reservedBytes = price.bytes;
    }
}

/// Bytes of one entry of the tensor, on all ranks together: heads are divided as far as there are any, and kept on
/// several ranks beyond that. Without ranks: of the whole model, once.
Quantity entryBytesOnRanks(const TensorShape& tensor, const std::optional<Quantity>& tp)
{
    if (!tp)
        return tensor.entryBytes;
    return tensor.tensor->shard == ShardRule::Replicated ? *tp * tensor.entryBytes
                                                         : maximum(tensor.heads, *tp) * tensor.rowBytes;
}

Quantity bytesOnRanks(const std::vector<GroupShape>& shape, const Quantity& sequences, const Quantity& v,
    const std::optional<Quantity>& tp)
{
    std::vector<Quantity> terms;
    for (const GroupShape& group : shape) {
        for (const TensorShape& tensor : group.tensors)
            terms.push_back(sequences * group.layers * tensor.entries(v) * entryBytesOnRanks(tensor, tp));
    }
    return terms.size() == 1 ? terms.front() : sum(terms);
}

Quantity largestOf(const std::vector<Quantity>& all)
{
    Quantity out = all.empty() ? constant(0) : all.front();
    for (std::size_t i = 1; i < all.size(); ++i)
        out = maximum(out, all[i]);
    return out;
}

void addStrategies(Estimate& out, const Context& context, const std::vector<GroupShape>& shape)
{
    StrategyPrice paged {
        Allocation::PagedPool, std::nullopt, "blocks for the planned sequences at the configured maximum"};
    StrategyPrice fixed {
        Allocation::StaticContiguous, std::nullopt, "every planned sequence reserves its configured maximum at once"};
    StrategyPrice growing {Allocation::GrowingContiguous, std::nullopt,
        "what is presently retained, and a second copy of one layer's largest tensor while it grows"};
    if (out.engine.engineNeedBytes) {
        paged.bytes = out.engine.engineNeedBytes;
        paged.note += ", by the engine's rule";
    } else if (context.length) {
        const Quantity block = context.inputs.numberOr("engine.blockTokens", 16, Source::Kind::Assumption,
            "blocks of 16 tokens are taken to price a paged pool.", "block");
        std::vector<Quantity> terms;
        for (const GroupShape& group : shape) {
            for (const TensorShape& tensor : group.tensors)
                terms.push_back(named(context.sequences * group.layers
                        * ceilDivide(tensor.entries(*context.length), block) * block * tensor.entryBytes,
                    fmt::format("{} of {} in blocks", tensorWord(*tensor.tensor), group.group->name), Unit::Byte));
        }
        paged.bytes = named(sum(terms), Naming {"paged pool", Unit::Byte, {}, stateExcludes()});
    }
    // All three on one basis: on all ranks where the engine has a sharding rule, else the whole model once.
    const std::optional<Quantity> tp = out.engine.ranks.empty()
        ? std::nullopt
        : std::optional(context.inputs.numberOr(
            "deployment.tp", 1, Source::Kind::EngineDefault, "one rank.", "tensor-parallel ranks"));
    if (context.length)
        fixed.bytes = named(tp ? bytesOnRanks(shape, context.sequences, *context.length, tp) : *out.idealBytes,
            Naming {"static contiguous", Unit::Byte, {}, stateExcludes()});
    if (context.retainedTokens) {
        std::vector<Quantity> tensors;
        for (const GroupShape& group : shape) {
            for (const TensorShape& tensor : group.tensors)
                tensors.push_back(context.retainedSequences * tensor.entries(*context.retainedTokens)
                    * entryBytesOnRanks(tensor, tp));
        }
        const Quantity held = !tp ? *out.retainedBytes
                                  : named(bytesOnRanks(shape, context.retainedSequences, *context.retainedTokens, tp),
                                      "presently retained, all ranks", Unit::Byte);
        growing.bytes = named(held + named(largestOf(tensors), "one layer's largest tensor", Unit::Byte),
            Naming {"growing contiguous, at its peak", Unit::Byte, {}, stateExcludes()});
    } else {
        growing.note += "; no reading of retained tokens is stated";
    }
    out.strategies = {paged, fixed, growing};
}

void addFormulaAssumptions(Estimate& out, const Context& context)
{
    out.formulaAssumptions = {
        "Full context: every planned sequence is taken at its configured maximum at the same time.",
        "No sharing: no two sequences keep a common prefix once; each is counted whole.",
    };
    for (const GroupEstimate& group : out.groups) {
        std::optional<std::int64_t> key;
        std::optional<std::int64_t> value;
        for (const StateTensor& tensor : group.group->tensors) {
            if (tensor.role == TensorRole::Key)
                key = tensor.width;
            if (tensor.role == TensorRole::Value)
                value = tensor.width;
        }
        if (key && value && keepsState(context.plan, *group.group)) {
            out.formulaAssumptions.push_back(*key == *value
                    ? fmt::format(
                        "{}: K and V have equal widths ({}); each is counted by its own.", group.group->name, *key)
                    : fmt::format("{}: K and V differ in width ({} and {}); each is counted by its own.",
                        group.group->name, *key, *value));
        }
        if (keepsState(context.plan, *group.group) && group.group->retentionLimit())
            out.formulaAssumptions.push_back(
                group.group->name + ": entries beyond the window are given up at once in the ideal need.");
    }
    if (context.plan.model.basis == ModelBasis::Hypothetical)
        out.label = "hypothetical shape arithmetic, not a GPU fit";
    out.excludes = stateExcludes();
}

Result<void> checkFigures(const Estimate& estimate)
{
    const auto failed = firstFigureWithoutValue(estimate);
    if (!failed)
        return {};
    const auto& [path, quantity] = *failed;
    const bool missing = quantity.error().find("not stated") != std::string::npos;
    return Error {missing ? "estimate.not_stated" : "estimate.overflow",
        fmt::format("{} cannot be computed: {}", quantity.name(), quantity.error()), {{}, path}};
}

void addDiagnostics(Estimate& out, const Plan& plan, const EngineRules& rules)
{
    out.diagnostics = diagnose(plan);
    const Diagnostics ofEngine = rules.diagnose(plan);
    out.diagnostics.insert(out.diagnostics.end(), ofEngine.begin(), ofEngine.end());
    if (!out.engine.refusal.empty())
        out.diagnostics.push_back({Severity::Error, "engine.refusal",
            std::string(rules.title()) + ": " + out.engine.refusal, out.engine.refusedField});
    if (out.engine.blocks && out.engine.blocksPerRequest && out.engine.blocks->ok() && out.engine.blocksPerRequest->ok()
        && out.engine.blocks->integer() == out.engine.blocksPerRequest->integer()) {
        out.diagnostics.push_back({Severity::Warning, "engine.null_block",
            "A request at the configured maximum passes the start-up check, which does not count the null block, but "
            "needs every block of the pool: it can never hold them all.",
            "limits.maxModelLen"});
    }
    if (out.retainedBytes && out.reservedBytes && out.engine.poolBytes && out.retainedBytes->ok()
        && out.reservedBytes->ok() && out.retainedBytes->integer() > out.reservedBytes->integer()) {
        out.diagnostics.push_back({Severity::Error, "worksheet.retained_over_pool",
            "More bytes are presently retained than the pools of all ranks hold.", "worksheet.retainedTokens"});
    }
    if (plan.budget.kvBytesPerRank && plan.deployment.memoryBytes
        && *plan.budget.kvBytesPerRank > *plan.deployment.memoryBytes) {
        out.diagnostics.push_back({Severity::Error, "budget.over_memory",
            fmt::format("The bytes for state on a rank ({}) are more than the memory of the device ({}).",
                format(Bytes(*plan.budget.kvBytesPerRank)), format(Bytes(*plan.deployment.memoryBytes))),
            "budget.kvBytesPerRank"});
    }
    if (out.engine.fits && !*out.engine.fits) {
        out.diagnostics.push_back({Severity::Error, "engine.does_not_fit",
            "One request at the configured maximum needs more than what is available for state.",
            "limits.maxModelLen"});
    }
}

} // namespace

Result<Estimate> estimate(const Plan& plan)
{
    const Result<const EngineRules*> rules = engineRules(plan.engine.name);
    if (!rules)
        return rules.error();
    PlanInputs inputs(plan);
    const std::vector<GroupShape> shape = shapeOf(plan, inputs);
    if (shape.empty())
        return Error {"estimate.not_stated", "the worksheet has no layer groups: attention layout is not stated",
            {{}, "worksheet.groups"}};

    Context context {plan, inputs, std::nullopt, {}, std::nullopt, {}};
    context.sequences
        = inputs.numberOr("limits.concurrentSequences", 1, Source::Kind::Assumption, "one sequence.", "sequences");
    if (plan.limits.maxModelLen)
        context.length = inputs.number("limits.maxModelLen", "configured maximum");
    if (plan.worksheet.retainedTokens) {
        context.retainedTokens = inputs.number("worksheet.retainedTokens", "tokens presently retained");
        context.retainedSequences = inputs.isStated("worksheet.retainedSequences")
            ? inputs.number("worksheet.retainedSequences", "sequences retained")
            : context.sequences;
    }

    Estimate out;
    for (const GroupShape& group : shape)
        out.groups.push_back(groupEstimate(context, group));
    addTotals(out, context);
    out.engine = (*rules)->size(plan, shape, inputs);
    addStrategies(out, context, shape);
    addReserved(out, context);
    out.budget = budgetOf(plan, out.engine, inputs);
    addFormulaAssumptions(out, context);
    if (Result<void> checked = checkFigures(out); !checked)
        return checked.error();

    out.assumptions = plan.assumptions;
    out.assumptions.insert(out.assumptions.end(), inputs.assumptions().begin(), inputs.assumptions().end());
    addDiagnostics(out, plan, **rules);
    return out;
}

} // namespace kvw
