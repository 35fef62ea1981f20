// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/choices.h"
#include "plan/shape.h"
#include "report/report_words.h"
#include "report/sections.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace kvw {

namespace {

std::string showOr(const std::optional<Quantity>& quantity)
{
    return quantity ? formatQuantity(*quantity) : "–";
}

std::string headsText(const LayerGroup& group)
{
    std::string out;
    for (const StateTensor& tensor : group.tensors) {
        const std::string part = fmt::format("{} × {}", tensor.heads, tensor.width);
        if (out.find(part) == std::string::npos)
            out += (out.empty() ? "" : " + ") + part;
    }
    return out.empty() ? "–" : out;
}

template <typename Text>
std::string joinedTexts(const LayerGroup& group, const char* separator, Text textOf)
{
    std::vector<std::string> texts;
    for (const StateTensor& tensor : group.tensors) {
        std::string text = textOf(tensor);
        if (std::find(texts.begin(), texts.end(), text) == texts.end())
            texts.push_back(std::move(text));
    }
    return texts.empty() ? "–" : fmt::format("{}", fmt::join(texts, separator));
}

/// The tensor's element type, marked where nobody stated it.
std::string typeOf(const Plan& plan, const StateTensor& tensor)
{
    if (tensor.elementType != ElementType::NotStated)
        return std::string(factsOf(tensor.elementType).name);
    if (plan.cache.elementType == ElementType::NotStated)
        return "not stated";
    return marked(plan, "cache.elementType", std::string(factsOf(plan.cache.elementType).name));
}

std::string shardOf(const StateTensor& tensor)
{
    return std::string(choiceTitle(shardRuleNames(), static_cast<std::size_t>(tensor.shard)));
}

std::string retainedOrigin(const Plan& plan)
{
    if (plan.worksheet.retainedFrom == RetainedFrom::NotStated)
        return "of unstated origin";
    const bool entered = plan.worksheet.retainedFrom == RetainedFrom::Entered;
    return (entered ? "" : "from ")
        + std::string(choiceTitle(retainedFromNames(), static_cast<std::size_t>(plan.worksheet.retainedFrom)));
}

std::string configuredHead(const Plan& plan)
{
    if (!plan.limits.maxModelLen)
        return "Configured maximum: not stated";
    return "Configured maximum: "
        + marked(plan, "limits.maxModelLen",
            fmt::format("{} × {} tokens", grouped(plan.limits.concurrentSequences.value_or(1)),
                grouped(*plan.limits.maxModelLen)));
}

std::string retainedHead(const Plan& plan)
{
    if (!plan.worksheet.retainedTokens)
        return "Presently retained: not stated";
    return "Presently retained: " + retainedOrigin(plan)
        + (plan.worksheet.retainedAt.empty() ? "" : ", " + stampText(plan.worksheet.retainedAt));
}

std::string reservedHead(const Estimate& estimate)
{
    if (!estimate.reservedBytes)
        return "Reserved: not known";
    if (!estimate.engine.poolBytes)
        return "Reserved: by the strategy";
    return estimate.engine.ranks.size() > 1 ? fmt::format("Reserved: the pool, {} ranks", estimate.engine.ranks.size())
                                            : "Reserved: the pool";
}

/// What the ranks keep, where they all keep the same: true for every rule so far.
bool ranksAreEqual(const EngineSizing& engine)
{
    return std::all_of(engine.ranks.begin(), engine.ranks.end(), [&](const RankSizing& rank) {
        return rank.bytesPerToken.ok() && rank.bytesPerToken.number() == engine.ranks.front().bytesPerToken.number();
    });
}

/// `bytes` of all ranks as a part of `whole`, where both divide without rest.
std::string share(const std::optional<Quantity>& bytes, const Quantity& part, const Quantity& whole, std::int64_t ranks)
{
    if (!bytes || !bytes->ok() || !part.ok() || !whole.ok() || !part.isInteger() || !whole.isInteger()
        || whole.integer() == 0)
        return "–";
    const std::optional<std::int64_t> product = checkedMultiply(bytes->integer(), part.integer());
    const std::optional<std::int64_t> divisor = checkedMultiply(whole.integer(), ranks);
    if (!product || !divisor || *product % *divisor != 0)
        return "–";
    return format(Bytes(*product / *divisor));
}

/// The rows of the worksheet: each group, its tensors below it, the total.
class Rows
{
public:
    Rows(const Plan& plan, const Estimate& estimate)
        : m_plan(plan)
        , m_estimate(estimate)
        , m_ranks(static_cast<std::int64_t>(std::max<std::size_t>(1, estimate.engine.ranks.size())))
    {}

    void addTo(Table& table) const
    {
        for (const GroupEstimate& group : m_estimate.groups) {
            table.rows.push_back(groupRow(group));
            table.parts.push_back(false);
            if (group.tensors.size() < 2)
                continue;
            for (const TensorEstimate& tensor : group.tensors) {
                table.rows.push_back(tensorRow(group, tensor));
                table.parts.push_back(true);
            }
        }
        const auto show = [](const Quantity& quantity) { return formatQuantity(quantity); };
        const std::string perGroup = m_estimate.groups.size() > 1 ? "per group" : "";
        table.rows.push_back(
            {"Total", "", "", "", "", "", "", "", show(m_estimate.bytesPerToken), show(m_estimate.fixedBytes), perGroup,
                showOr(m_estimate.idealBytes), perGroup, showOr(m_estimate.retainedBytes), perGroup,
                showOr(m_estimate.reservedBytes), showOr(m_estimate.engine.poolBytes)});
        table.parts.push_back(false);
        table.lastRowIsTotal = true;
    }

private:
    std::vector<std::string> groupRow(const GroupEstimate& group) const
    {
        const LayerGroup& facts = *group.group;
        std::vector<std::string> row {facts.name, grouped(facts.layers),
            std::string(choiceTitle(layerKindNames(), static_cast<std::size_t>(facts.kind))),
            facts.kind == LayerKind::Shared ? "reads " + groupName(&m_plan, facts.readsGroup) : headsText(facts),
            joinedTexts(facts, " + ", [&](const StateTensor& tensor) { return typeOf(m_plan, tensor); }),
            joinedTexts(facts, "; ", [](const StateTensor& tensor) { return growthText(tensor.growth); }),
            fmt::format("stage {}, {}", facts.pipelineStage, tierNames()[static_cast<std::size_t>(facts.tier)]),
            joinedTexts(facts, "; ", shardOf), formatQuantity(group.bytesPerToken), formatQuantity(group.fixedBytes)};
        for (const std::optional<TokenColumn>* column : {&group.configured, &group.retained, &group.reserved}) {
            row.push_back(*column ? formatQuantity((*column)->tokens) : "–");
            row.push_back(*column ? formatQuantity((*column)->bytes) : "–");
        }
        const std::optional<Quantity> reserved = group.reserved ? std::optional(group.reserved->bytes) : std::nullopt;
        const Quantity one = constant(1);
        row.push_back(share(reserved, one, one, m_ranks));
        return row;
    }

    std::vector<std::string> tensorRow(const GroupEstimate& group, const TensorEstimate& tensor) const
    {
        const StateTensor& facts = *tensor.tensor;
        const bool likeFirst = facts.growth == group.group->tensors.front().growth;
        const auto tokens = [&](const std::optional<TokenColumn>& column) {
            return column && likeFirst ? formatQuantity(column->tokens) : std::string("–");
        };
        // The pool's bytes are shared by what one token, or a full window, takes of each tensor.
        const bool evenly = likeFirst && facts.shard == group.group->tensors.front().shard
            && facts.shard == group.group->tensors.back().shard;
        const bool grows = facts.growth.growsWithTokens();
        const Quantity& part = grows ? tensor.bytesPerToken : tensor.fixedBytes;
        const Quantity& whole = grows ? group.bytesPerToken : group.fixedBytes;
        const std::optional<Quantity> reserved
            = group.reserved && evenly ? std::optional(group.reserved->bytes) : std::nullopt;
        return {tensorWord(facts), "", "", fmt::format("{} × {}", facts.heads, facts.width), typeOf(m_plan, facts),
            growthText(facts.growth), "", shardOf(facts), formatQuantity(tensor.bytesPerToken),
            formatQuantity(tensor.fixedBytes), tokens(group.configured),
            group.configured ? formatQuantity(tensor.configuredBytes) : "–", tokens(group.retained),
            showOr(tensor.retainedBytes), tokens(group.reserved), share(reserved, part, whole, 1),
            share(reserved, part, whole, m_ranks)};
    }

    const Plan& m_plan;
    const Estimate& m_estimate;
    std::int64_t m_ranks;
};

/// Reserved bytes by rank: one column where all ranks keep the same.
Table::Column rankColumn(const EngineSizing& engine)
{
    Table::Column out {"Reserved by rank", true, "By rank", "Bytes", 1};
    if (engine.ranks.empty()) {
        out.merged = "no sharding rule chosen";
        out.number = false;
    } else if (engine.ranks.size() == 1) {
        out.title = "Reserved on rank 0";
        out.span = "By rank: rank 0, the only one";
    } else {
        out.title = fmt::format("Reserved, ranks 0–{}, each", engine.ranks.size() - 1);
        out.span = fmt::format("By rank: 0–{}, each", engine.ranks.size() - 1);
    }
    return out;
}

std::string captionOf(const Plan& plan, const Estimate& estimate)
{
    std::string out = fmt::format("Three token columns, never one: configured maximum, presently retained ({}), "
                                  "reserved by pool or admission. v is the number of tokens. Totals exclude {}.",
        plan.worksheet.retainedTokens ? fmt::format("{} tokens a sequence, {} at {}",
            grouped(*plan.worksheet.retainedTokens), retainedOrigin(plan),
            plan.worksheet.retainedAt.empty() ? "a time that is not stated" : stampText(plan.worksheet.retainedAt))
                                      : "not stated",
        fmt::join(estimate.excludes, ", "));
    if (estimate.groups.size() > 1)
        out += " Tokens are those of each group and are not added up.";
    if (isAssumed(plan, "cache.elementType") || isAssumed(plan, "limits.maxModelLen"))
        out += " ◇ is assumed: see the section Assumptions.";
    return out;
}

std::string conclusionOf(const Estimate& estimate)
{
    std::string out = "The reader may conclude what attention state the stated shapes and lengths hold";
    out += estimate.reservedBytes ? ", and what is reserved for it, to the byte." : ", to the byte.";
    if (!estimate.reservedBytes)
        out += " Nothing is known of what would be reserved for it.";
    return out + " Not that it fits a device with what the totals exclude, nor anything about speed.";
}

} // namespace

Section worksheetSection(const Plan& plan, const Estimate& estimate)
{
    Section out {"worksheet", "Worksheet", {}, conclusionOf(estimate)};
    Table table;
    const std::string configured = configuredHead(plan);
    const std::string retained = retainedHead(plan);
    const std::string reserved = reservedHead(estimate);
    table.columns = {{"Layer group"}, {"Layers", true}, {"Kind"}, {"Heads × width"}, {"Type"}, {"Growth, limit"},
        {"Placement"}, {"Shard"}, {"Bytes per token", true}, {"Fixed, per sequence", true},
        {"Configured tokens", true, configured, "Tokens", 1}, {"Configured", true, configured, "Bytes", 1},
        {"Retained tokens", true, retained, "Tokens", 1}, {"Retained", true, retained, "Bytes", 1},
        {"Reserved tokens", true, reserved, "Tokens", 1}, {"Reserved", true, reserved, "Bytes", 1},
        rankColumn(estimate.engine)};
    Rows(plan, estimate).addTo(table);
    if (const std::string& merged = table.columns.back().merged; !merged.empty()) {
        for (std::vector<std::string>& row : table.rows)
            row.back() = merged;
    }
    table.caption = captionOf(plan, estimate);
    out.blocks.emplace_back(std::move(table));
    if (!ranksAreEqual(estimate.engine))
        out.blocks.emplace_back(
            Paragraph {"The ranks do not keep the same: the last column is that of the first one.", true});
    if (!estimate.label.empty())
        out.blocks.emplace_back(Paragraph {"This is " + estimate.label + ".", true});
    return out;
}

} // namespace kvw
