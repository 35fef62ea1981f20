// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/estimate.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>

namespace kvw {

namespace {

/// A path in parts, put together only for who asks: an edit looks through thousands of figures for one.
using Path = std::initializer_list<std::string_view>;

std::string joined(Path path)
{
    std::string out;
    for (const std::string_view part : path)
        out += part;
    return out;
}

bool isPath(Path path, std::string_view text)
{
    for (const std::string_view part : path) {
        if (!text.starts_with(part))
            return false;
        text.remove_prefix(part.size());
    }
    return text.empty();
}

template <typename Visit>
void visitColumn(std::string_view group, std::string_view tokens, std::string_view bytes,
    const std::optional<TokenColumn>& column, const Visit& visit)
{
    if (!column)
        return;
    visit({"groups.", group, tokens}, column->tokens);
    visit({"groups.", group, bytes}, column->bytes);
}

template <typename Visit>
void visitGroup(const GroupEstimate& group, const Visit& visit)
{
    const std::string_view id = group.group->id;
    visit({"groups.", id, ".bytesPerToken"}, group.bytesPerToken);
    visit({"groups.", id, ".fixedBytesPerSequence"}, group.fixedBytes);
    if (group.configured)
        visit({"groups.", id, ".idealBytesPerSequence"}, group.sequenceBytes);
    visitColumn(id, ".configured.tokens", ".configured.bytes", group.configured, visit);
    visitColumn(id, ".retained.tokens", ".retained.bytes", group.retained, visit);
    visitColumn(id, ".reserved.tokens", ".reserved.bytes", group.reserved, visit);
    for (const TensorEstimate& tensor : group.tensors) {
        const std::string_view below = tensor.tensor->id;
        visit({"groups.", id, ".tensors.", below, ".bytesPerToken"}, tensor.bytesPerToken);
        visit({"groups.", id, ".tensors.", below, ".fixedBytesPerSequence"}, tensor.fixedBytes);
        if (group.configured)
            visit({"groups.", id, ".tensors.", below, ".configuredBytes"}, tensor.configuredBytes);
        if (tensor.retainedBytes)
            visit({"groups.", id, ".tensors.", below, ".retainedBytes"}, *tensor.retainedBytes);
    }
}

constexpr std::size_t mostRanksListed = 64; // figureAt() finds the others too

template <typename Visit>
void visitEngine(const EngineSizing& engine, const Visit& visit)
{
    const auto add = [&](std::string_view name, const std::optional<Quantity>& quantity) {
        if (quantity)
            visit({name}, *quantity);
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
    add("engine.largestHeld", engine.largestHeld);
    add("engine.engineNeedBytes", engine.engineNeedBytes);
    const RankSizing& rank = engine.ranks.front(); // as every other
    for (std::size_t r = 0; r < std::min(engine.ranks.size(), mostRanksListed); ++r) {
        const std::string number = std::to_string(r);
        visit({"ranks.", number, ".bytesPerToken"}, rank.bytesPerToken);
        visit({"ranks.", number, ".bytesPerBlock"}, rank.bytesPerBlock);
        if (engine.poolBytes)
            visit({"ranks.", number, ".poolBytes"}, *engine.poolBytes);
    }
    for (const NeedDifference& difference : engine.differences)
        visit({"differences.", difference.id}, difference.bytes);
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

/// Those that are of no group.
template <typename Visit>
void visitTotals(const Estimate& estimate, const Visit& visit)
{
    const auto add = [&](std::string_view name, const std::optional<Quantity>& quantity) {
        if (quantity)
            visit({name}, *quantity);
    };
    visit({"bytesPerToken"}, estimate.bytesPerToken);
    visit({"fixedBytesPerSequence"}, estimate.fixedBytes);
    add("idealBytesPerSequence", estimate.idealSequenceBytes);
    add("idealBytes", estimate.idealBytes);
    add("retainedBytes", estimate.retainedBytes);
    add("reservedBytes", estimate.reservedBytes);
}

template <typename Visit>
void visitStrategies(const Estimate& estimate, const Visit& visit)
{
    static constexpr std::string_view names[] {"", "pagedPool", "staticContiguous", "growingContiguous"};
    for (const StrategyPrice& price : estimate.strategies) {
        if (price.bytes)
            visit({"strategies.", names[static_cast<std::size_t>(price.strategy)]}, *price.bytes);
    }
}

/// Every figure, in the order of the report.
template <typename Visit>
void visitFigures(const Estimate& estimate, const Visit& visit)
{
    visitTotals(estimate, visit);
    for (const GroupEstimate& group : estimate.groups)
        visitGroup(group, visit);
    visitEngine(estimate.engine, visit);
    visitStrategies(estimate, visit);
}

} // namespace

std::vector<std::pair<std::string, Quantity>> figuresOf(const Estimate& estimate)
{
    std::vector<std::pair<std::string, Quantity>> out;
    visitFigures(estimate, [&](Path path, const Quantity& quantity) { out.emplace_back(joined(path), quantity); });
    return out;
}

std::optional<std::pair<std::string, Quantity>> firstFigureWithoutValue(const Estimate& estimate)
{
    std::optional<std::pair<std::string, Quantity>> out;
    visitFigures(estimate, [&](Path path, const Quantity& quantity) {
        if (!quantity.ok() && !out)
            out.emplace(joined(path), quantity);
    });
    return out;
}

std::optional<Quantity> figureAt(const Estimate& estimate, std::string_view path)
{
    if (const std::optional<Quantity> ofRank = rankGroupFigure(estimate, path))
        return ofRank;
    if (const std::optional<Quantity> ofBudget = budgetFigureAt(estimate, path))
        return ofBudget;
    std::optional<Quantity> out;
    const auto visit = [&](Path known, const Quantity& quantity) {
        if (!out && isPath(known, path))
            out = quantity;
    };
    // Only the figures among which it can be are looked at: a worksheet asks for each of its cells.
    if (path.starts_with("groups.")) {
        for (const GroupEstimate& group : estimate.groups)
            visitGroup(group, visit);
    } else {
        visitTotals(estimate, visit);
        visitEngine(estimate.engine, visit);
        visitStrategies(estimate, visit);
    }
    return out;
}

} // namespace kvw
