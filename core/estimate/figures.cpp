// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kvw {

namespace {

using Figures = std::vector<std::pair<std::string, Quantity>>;

void addColumn(Figures& out, const std::string& path, const std::optional<TokenColumn>& column)
{
    if (!column)
        return;
    out.emplace_back(path + ".tokens", column->tokens);
    out.emplace_back(path + ".bytes", column->bytes);
}

void addGroup(Figures& out, const GroupEstimate& group)
{
    const std::string base = "groups." + group.group->id;
    out.emplace_back(base + ".bytesPerToken", group.bytesPerToken);
    out.emplace_back(base + ".fixedBytesPerSequence", group.fixedBytes);
    if (group.configured)
        out.emplace_back(base + ".idealBytesPerSequence", group.sequenceBytes);
    addColumn(out, base + ".configured", group.configured);
    addColumn(out, base + ".retained", group.retained);
    addColumn(out, base + ".reserved", group.reserved);
    for (const TensorEstimate& tensor : group.tensors) {
        const std::string below = fmt::format("{}.tensors.{}", base, tensor.tensor->id);
        out.emplace_back(below + ".bytesPerToken", tensor.bytesPerToken);
        out.emplace_back(below + ".fixedBytesPerSequence", tensor.fixedBytes);
        if (group.configured)
            out.emplace_back(below + ".configuredBytes", tensor.configuredBytes);
        if (tensor.retainedBytes)
            out.emplace_back(below + ".retainedBytes", *tensor.retainedBytes);
    }
}

constexpr std::size_t mostRanksListed = 64; // figureAt() finds the others too

void addEngine(Figures& out, const EngineSizing& engine)
{
    const auto add = [&](const char* name, const std::optional<Quantity>& quantity) {
        if (quantity)
            out.emplace_back(name, *quantity);
    };
    add("engine.blockTokens", engine.blockTokens);
    add("engine.bytesPerBlock", engine.bytesPerBlock);
    add("engine.blocksPerRequest", engine.blocksPerRequest);
    add("engine.needBytes", engine.needBytes);
    add("engine.availableBytes", engine.availableBytes);
    add("engine.blocks", engine.blocks);
    add("engine.poolBytes", engine.poolBytes);
    add("engine.tokens", engine.tokens);
    add("engine.maxConcurrency", engine.maxConcurrency);
    add("engine.largestLength", engine.largestLength);
    add("engine.engineNeedBytes", engine.engineNeedBytes);
    const RankSizing& rank = engine.ranks.front(); // as every other
    for (std::size_t r = 0; r < std::min(engine.ranks.size(), mostRanksListed); ++r) {
        const std::string base = fmt::format("ranks.{}", r);
        out.emplace_back(base + ".bytesPerToken", rank.bytesPerToken);
        out.emplace_back(base + ".bytesPerBlock", rank.bytesPerBlock);
        if (engine.poolBytes)
            out.emplace_back(base + ".poolBytes", *engine.poolBytes);
    }
    for (const NeedDifference& difference : engine.differences)
        out.emplace_back("differences." + difference.id, difference.bytes);
}

/// "ranks.R.groups.G.bytesPerToken" and ".fixedBytesPerSequence", which are not in the list, for it would grow with
/// ranks × groups; and the figures of ranks beyond those listed.
std::optional<Quantity> rankGroupFigure(const Estimate& estimate, std::string_view path)
{
    constexpr std::string_view prefix = "ranks.";
    const EngineSizing& engine = estimate.engine;
    if (!path.starts_with(prefix))
        return std::nullopt;
    path.remove_prefix(prefix.size());
    std::size_t number = 0;
    const auto [end, status] = std::from_chars(path.data(), path.data() + path.size(), number);
    if (status != std::errc {} || number >= engine.ranks.size())
        return std::nullopt;
    const std::string_view rest = path.substr(static_cast<std::size_t>(end - path.data()));
    const RankSizing& rank = engine.ranks.front(); // as every other
    if (rest == ".bytesPerToken")
        return rank.bytesPerToken;
    if (rest == ".bytesPerBlock")
        return rank.bytesPerBlock;
    if (rest == ".poolBytes")
        return engine.poolBytes;
    for (std::size_t g = 0; g < estimate.groups.size(); ++g) {
        const std::string base = ".groups." + estimate.groups[g].group->id;
        if (rest == base + ".bytesPerToken" && g < rank.groupBytesPerToken.size())
            return rank.groupBytesPerToken[g];
        if (rest == base + ".fixedBytesPerSequence" && g < rank.groupFixedBytes.size())
            return rank.groupFixedBytes[g];
    }
    return std::nullopt;
}

/// "ranks.R.budget.ID", and "budget.ID" for the first rank.
std::optional<Quantity> budgetFigureAt(const Estimate& estimate, std::string_view path)
{
    std::string_view id = path;
    std::int64_t rank = 0;
    if (id.starts_with("ranks.")) {
        id.remove_prefix(std::string_view("ranks.").size());
        const auto [end, failed] = std::from_chars(id.data(), id.data() + id.size(), rank);
        if (failed != std::errc {} || (end - id.data() > 1 && id.front() == '0'))
            return std::nullopt;
        id.remove_prefix(static_cast<std::size_t>(end - id.data()));
        if (!id.starts_with('.'))
            return std::nullopt;
        id.remove_prefix(1);
    }
    constexpr std::string_view base = "budget.";
    if (id.starts_with(base) && rank >= 0 && rank < estimate.budget.ranks)
        return budgetFigure(estimate.budget.each, id.substr(base.size()));
    return std::nullopt;
}

Figures figuresOf(const Estimate& estimate, bool ofGroups)
{
    Figures out;
    out.emplace_back("bytesPerToken", estimate.bytesPerToken);
    out.emplace_back("fixedBytesPerSequence", estimate.fixedBytes);
    if (estimate.idealSequenceBytes)
        out.emplace_back("idealBytesPerSequence", *estimate.idealSequenceBytes);
    if (estimate.idealBytes)
        out.emplace_back("idealBytes", *estimate.idealBytes);
    if (estimate.retainedBytes)
        out.emplace_back("retainedBytes", *estimate.retainedBytes);
    if (estimate.reservedBytes)
        out.emplace_back("reservedBytes", *estimate.reservedBytes);
    if (ofGroups) {
        for (const GroupEstimate& group : estimate.groups)
            addGroup(out, group);
    }
    addEngine(out, estimate.engine);
    for (const StrategyPrice& price : estimate.strategies) {
        static constexpr const char* names[] {"", "pagedPool", "staticContiguous", "growingContiguous"};
        if (price.bytes)
            out.emplace_back(
                fmt::format("strategies.{}", names[static_cast<std::size_t>(price.strategy)]), *price.bytes);
    }
    return out;
}

} // namespace

std::vector<std::pair<std::string, Quantity>> figuresOf(const Estimate& estimate)
{
    return figuresOf(estimate, true);
}

std::optional<Quantity> figureAt(const Estimate& estimate, std::string_view path)
{
    if (const std::optional<Quantity> ofRank = rankGroupFigure(estimate, path))
        return ofRank;
    if (const std::optional<Quantity> ofBudget = budgetFigureAt(estimate, path))
        return ofBudget;
    // Only the figures among which it can be are listed: a worksheet asks for each of its cells.
    Figures candidates;
    const std::string_view groups = "groups.";
    if (path.starts_with(groups)) {
        for (const GroupEstimate& group : estimate.groups) {
            if (path.substr(groups.size()).starts_with(group.group->id))
                addGroup(candidates, group);
        }
    } else {
        candidates = figuresOf(estimate, false);
    }
    for (const auto& [known, quantity] : candidates) {
        if (known == path)
            return quantity;
    }
    return std::nullopt;
}

} // namespace kvw
