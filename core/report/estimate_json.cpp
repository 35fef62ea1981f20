// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "report/json_output.h"

#include "plan/identity.h"

#include <nlohmann/json.hpp>

namespace kvw {

namespace {

OrderedJson number(const Number& value)
{
    return std::visit([](auto plain) { return OrderedJson(plain); }, value);
}

OrderedJson figure(const Quantity& quantity)
{
    return quantity.ok() ? number(quantity.number()) : OrderedJson(nullptr);
}

OrderedJson figure(const std::optional<Quantity>& quantity)
{
    return quantity ? figure(*quantity) : OrderedJson(nullptr);
}

template <typename Value>
OrderedJson orNull(const std::optional<Value>& value)
{
    return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson columnJson(const std::optional<TokenColumn>& column)
{
    if (!column)
        return nullptr;
    return {{"tokens", figure(column->tokens)}, {"bytes", figure(column->bytes)}};
}

OrderedJson groupJson(const GroupEstimate& group)
{
    const LayerGroup& facts = *group.group;
    OrderedJson out {{"id", facts.id}, {"name", facts.name}, {"layers", facts.layers},
        {"kind", layerKindNames()[static_cast<std::size_t>(facts.kind)]},
        {"bytesPerToken", figure(group.bytesPerToken)}, {"fixedBytesPerSequence", figure(group.fixedBytes)},
        {"idealBytesPerSequence", group.configured ? figure(group.sequenceBytes) : OrderedJson(nullptr)},
        {"retentionLimit", orNull(facts.retentionLimit())}, {"configured", columnJson(group.configured)},
        {"retained", columnJson(group.retained)}, {"reserved", columnJson(group.reserved)}};
    out["tensors"] = OrderedJson::array();
    for (const TensorEstimate& tensor : group.tensors) {
        const StateTensor& t = *tensor.tensor;
        out["tensors"].push_back({{"id", t.id}, {"role", tensorRoleNames()[static_cast<std::size_t>(t.role)]},
            {"heads", t.heads}, {"width", t.width}, {"growth", growthText(t.growth)},
            {"bytesPerToken", figure(tensor.bytesPerToken)}, {"fixedBytesPerSequence", figure(tensor.fixedBytes)}});
    }
    return out;
}

OrderedJson engineJson(const EngineSizing& engine)
{
    OrderedJson out {{"name", engine.name},
        {"version", engine.version.empty() ? OrderedJson(nullptr) : OrderedJson(engine.version)},
        {"rules", engine.rules}, {"blockTokens", figure(engine.blockTokens)},
        {"bytesPerBlock", figure(engine.bytesPerBlock)}, {"blocks", figure(engine.blocks)},
        {"tokens", figure(engine.tokens)}, {"maxConcurrency", figure(engine.maxConcurrency)},
        {"fits", orNull(engine.fits)},
        {"refusal", engine.refusal.empty() ? OrderedJson(nullptr) : OrderedJson(engine.refusal)},
        {"availableBytes", figure(engine.availableBytes)}, {"poolBytes", figure(engine.poolBytes)},
        {"blocksPerRequest", figure(engine.blocksPerRequest)}, {"needBytes", figure(engine.needBytes)},
        {"largestLength", figure(engine.largestLength)}, {"largestHeld", figure(engine.largestHeld)},
        {"fitsConcurrency", orNull(engine.fitsConcurrency)}, {"engineNeedBytes", figure(engine.engineNeedBytes)}};
    out["differences"] = OrderedJson::array();
    for (const NeedDifference& difference : engine.differences)
        out["differences"].push_back(
            {{"id", difference.id}, {"title", difference.title}, {"bytes", figure(difference.bytes)}});
    out["unstated"] = engine.unstated;
    return out;
}

OrderedJson ranksJson(const EngineSizing& engine)
{
    OrderedJson out = OrderedJson::array();
    for (const RankSizing& rank : engine.ranks) {
        OrderedJson groups = OrderedJson::array();
        for (std::size_t g = 0; g < rank.groupBytesPerToken.size(); ++g)
            groups.push_back({{"bytesPerToken", figure(rank.groupBytesPerToken[g])},
                {"fixedBytesPerSequence", figure(rank.groupFixedBytes[g])}});
        out.push_back({{"rank", rank.rank}, {"bytesPerToken", figure(rank.bytesPerToken)},
            {"bytesPerBlock", figure(rank.bytesPerBlock)}, {"poolBytes", figure(engine.poolBytes)},
            {"groups", groups}});
    }
    return out;
}

OrderedJson identityJson(const Plan& plan)
{
    OrderedJson out = OrderedJson::array();
    for (const IdentityRow& row : identityOf(plan))
        out.push_back({{"id", row.id}, {"title", row.title}, {"text", orNull(row.text)}, {"paths", row.paths}});
    return out;
}

} // namespace

OrderedJson estimateJson(const Plan& plan, const Estimate& estimate)
{
    OrderedJson out {{"model", plan.model.name}, {"planHash", planHash(plan)},
        {"label", estimate.label.empty() ? OrderedJson(nullptr) : OrderedJson(estimate.label)},
        {"identity", identityJson(plan)}};
    out["groups"] = OrderedJson::array();
    for (const GroupEstimate& group : estimate.groups)
        out["groups"].push_back(groupJson(group));
    out["bytesPerToken"] = figure(estimate.bytesPerToken);
    out["fixedBytesPerSequence"] = figure(estimate.fixedBytes);
    out["idealBytesPerSequence"] = figure(estimate.idealSequenceBytes);
    out["idealBytes"] = figure(estimate.idealBytes);
    out["retainedBytes"] = figure(estimate.retainedBytes);
    out["reservedBytes"] = figure(estimate.reservedBytes);
    out["ranks"] = ranksJson(estimate.engine);
    out["engine"] = engineJson(estimate.engine);
    out["strategies"] = OrderedJson::array();
    static constexpr const char* names[] {"", "paged_pool", "static_contiguous", "growing_contiguous"};
    for (const StrategyPrice& price : estimate.strategies) {
        out["strategies"].push_back({{"strategy", names[static_cast<std::size_t>(price.strategy)]},
            {"bytes", figure(price.bytes)}, {"note", price.note}});
    }
    out["excludes"] = estimate.excludes;
    out["formulaAssumptions"] = estimate.formulaAssumptions;
    out["assumptions"] = assumptionsJson(estimate.assumptions);
    out["diagnostics"] = diagnosticsJson(estimate.diagnostics);
    return out;
}

OrderedJson importJson(const Plan& plan)
{
    OrderedJson out {{"model", plan.model.name}, {"architecture", plan.model.architecture},
        {"dtype",
            plan.model.dtype == ElementType::NotStated ? OrderedJson(nullptr)
                                                       : OrderedJson(factsOf(plan.model.dtype).name)},
        {"maximumPositions", orNull(plan.model.maximumPositions)}};
    out["groups"] = OrderedJson::array();
    for (const LayerGroup& group : plan.worksheet.groups) {
        OrderedJson entry {{"id", group.id}, {"name", group.name}, {"layers", group.layers},
            {"kind", layerKindNames()[static_cast<std::size_t>(group.kind)]}, {"layerIndices", group.layerIndices},
            {"readsGroup", group.readsGroup},
            {"countsWhen", group.use == GroupUse::Speculation ? "speculation" : "always"},
            {"retentionLimit", orNull(group.retentionLimit())}};
        entry["tensors"] = OrderedJson::array();
        for (const StateTensor& tensor : group.tensors) {
            entry["tensors"].push_back(
                {{"id", tensor.id}, {"role", tensorRoleNames()[static_cast<std::size_t>(tensor.role)]},
                    {"heads", tensor.heads}, {"width", tensor.width}, {"growth", growthText(tensor.growth)},
                    {"elementType",
                        tensor.elementType == ElementType::NotStated ? OrderedJson(nullptr)
                                                                     : OrderedJson(factsOf(tensor.elementType).name)},
                    {"shard", shardRuleNames()[static_cast<std::size_t>(tensor.shard)]}});
        }
        out["groups"].push_back(std::move(entry));
    }
    out["assumptions"] = assumptionsJson(plan.assumptions);
    out["diagnostics"] = diagnosticsJson(diagnose(plan));
    OrderedJson provenance = OrderedJson::object();
    for (const auto& [path, source] : plan.provenance.entries())
        provenance[path] = sourceJson(*source);
    out["provenance"] = std::move(provenance);
    return out;
}

OrderedJson sourceJson(const Source& source)
{
    OrderedJson out {{"kind", sourceKindName(source.kind)}};
    const auto put = [&](const char* key, const std::string& text) {
        if (!text.empty())
            out[key] = text;
    };
    put("name", source.name);
    put("at", source.at);
    put("sha256", source.sha256);
    put("published", source.published);
    put("verified", source.verified);
    put("note", source.note);
    return out;
}

OrderedJson derivationJson(const Derivation& derivation)
{
    const DerivationNode& node = *derivation;
    OrderedJson out {{"name", node.name}, {"operation", operationName(node.operation)}, {"unit", unitName(node.unit)},
        {"value", node.error.empty() ? number(node.value) : OrderedJson(nullptr)}};
    if (!node.error.empty())
        out["error"] = node.error;
    if (node.operation != Operation::Input) {
        out["formula"] = formulaInWords(derivation);
        out["numbers"] = formulaInNumbers(derivation);
    }
    if (node.source)
        out["source"] = sourceJson(*node.source);
    if (!node.excludes.empty())
        out["excludes"] = node.excludes;
    if (!node.operands.empty()) {
        out["operands"] = OrderedJson::array();
        for (const Derivation& operand : node.operands)
            out["operands"].push_back(derivationJson(operand));
    }
    return out;
}

OrderedJson errorJson(const Error& error)
{
    OrderedJson inner {{"code", error.code}, {"message", shortened(error.message)}};
    const auto put = [&](const char* key, const std::string& text) {
        if (!text.empty())
            inner[key] = shortened(text);
    };
    put("file", error.where.file);
    put("at", error.where.at);
    put("found", error.found);
    put("expected", error.expected);
    return {{"error", inner}};
}

OrderedJson diagnosticsJson(const Diagnostics& diagnostics)
{
    OrderedJson out = OrderedJson::array();
    for (const Diagnostic& diagnostic : diagnostics) {
        out.push_back({{"severity", severityName(diagnostic.severity)}, {"id", diagnostic.id},
            {"message", diagnostic.message}, {"path", diagnostic.path}});
    }
    return out;
}

OrderedJson assumptionsJson(const Assumptions& assumptions)
{
    OrderedJson out = OrderedJson::array();
    for (const Assumption& assumption : assumptions)
        out.push_back({{"id", assumption.id}, {"text", assumption.text}, {"path", assumption.path}});
    return out;
}

} // namespace kvw
