// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/explain_capacity.h"

#include "plan/field_table.h"
#include "units/format.h"

#include <fmt/format.h>

#include <charconv>

namespace kvw {

namespace {

/// Reads a whole number at the beginning of `text`, and cuts it and the dot behind it off.
std::optional<std::int64_t> takeNumber(std::string_view& text)
{
    std::int64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || out <= 0)
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with('.'))
        text.remove_prefix(1);
    return out;
}

Explanation begin(const std::optional<Quantity>& quantity, const std::string& title, const char* what)
{
    Explanation out;
    out.title = title;
    out.quantity = quantity;
    out.facts = {{"What", what}};
    return out;
}

std::optional<Explanation> ofLength(const LengthCapacity& capacity, std::string_view figure)
{
    struct Known
    {
        const char* path;
        const char* title;
        const std::optional<Quantity>& quantity;
        const char* what;
    };
    const std::string each = fmt::format(" of {} tokens each", grouped(capacity.length));
    for (const Known& known : {
             Known {"engineSequences", "sequences that fit", capacity.engineSequences,
                 "How many sequences find blocks at the same time by the engine's rules, all of that length, none "
                 "sharing a prefix."},
             Known {"idealSequences", "sequences that fit ideally", capacity.idealSequences,
                 "How many sequences would fit if each took only what its tensors hold: what is available on all "
                 "ranks, by the ideal need of one."},
             Known {"blocksEach", "blocks of one sequence", capacity.blocksEach,
                 "Blocks that one sequence of that length needs, all layer groups together."},
             Known {"heldBlocks", "blocks never given away", capacity.heldBlocks,
                 "Blocks of the pool that the engine keeps for itself."},
             Known {"usableBlocks", "blocks to give away", capacity.usableBlocks,
                 "Blocks of the pool without those that are never given away."},
         }) {
        if (figure == known.path && known.quantity)
            return begin(known.quantity, known.title + each, known.what);
    }
    if (figure == "lost" && capacity.idealSequences && capacity.engineSequences)
        return begin(named(*capacity.idealSequences - *capacity.engineSequences, "sequences lost", Unit::None),
            "sequences lost" + each, "What the engine's rules take of the sequences that would fit ideally.");
    return std::nullopt;
}

std::optional<Explanation> ofShare(const LengthCapacity& capacity, std::int64_t count)
{
    if (!capacity.blocksEach || !capacity.usableBlocks || capacity.usableBlocks->integer() <= 0)
        return std::nullopt;
    const Quantity sequences
        = input("sequences", count, Unit::Sequence, Source {Source::Kind::User, "chosen in the capacity map"});
    return begin(
        named(ratio(sequences * *capacity.blocksEach, *capacity.usableBlocks), "share of the pool", Unit::Ratio),
        fmt::format("share of the pool of {} sequences of {} tokens", grouped(count), grouped(capacity.length)),
        "What so many sequences of that length take of the blocks to give away. They fit when it is at most 1.");
}

std::optional<Explanation> ofMove(Plan plan, std::string_view change)
{
    const std::size_t equals = change.find('=');
    if (equals == std::string_view::npos)
        return std::nullopt;
    const std::string path(change.substr(0, equals));
    if (!setField(plan, path, std::string(change.substr(equals + 1))) || !plan.limits.maxModelLen)
        return std::nullopt;
    const Result<LengthCapacity> capacity = capacityAt(plan, *plan.limits.maxModelLen);
    if (!capacity || !capacity->engineSequences)
        return std::nullopt;
    Explanation out = begin(capacity->engineSequences,
        fmt::format("sequences that fit, if {} were {}", path, change.substr(equals + 1)),
        "The same figure of a plan in which only this field is changed. The plan itself stays.");
    out.facts.emplace_back("Length", grouped(*plan.limits.maxModelLen) + " tokens each");
    return out;
}

} // namespace

std::optional<Explanation> explainCapacity(const Plan& plan, std::string_view path)
{
    constexpr std::string_view move = "move.";
    std::optional<Explanation> out;
    if (path.starts_with(move)) {
        out = ofMove(plan, path.substr(move.size()));
    } else if (const std::optional<std::int64_t> length = takeNumber(path)) {
        const Result<LengthCapacity> capacity = capacityAt(plan, *length);
        if (!capacity)
            return std::nullopt;
        constexpr std::string_view share = "share.";
        if (path.starts_with(share)) {
            path.remove_prefix(share.size());
            const std::optional<std::int64_t> count = takeNumber(path);
            out = count ? ofShare(*capacity, *count) : std::nullopt;
        } else {
            out = ofLength(*capacity, path);
        }
    }
    if (out)
        out->of = "plan " + planHash(plan).substr(0, 8);
    return out;
}

} // namespace kvw
