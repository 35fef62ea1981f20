// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/group_edits.h"

#include "plan/elements.h"
#include "plan/field_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace kvw {

namespace {

constexpr std::string_view list = "worksheet.groups";
constexpr std::int64_t mostLayers = 10'000;

std::string pathOf(std::string_view group)
{
    return fmt::format("{}.{}", list, group);
}

const FieldTable& groupFields()
{
    const auto& lists = planFields().collections;
    return *std::find_if(lists.begin(), lists.end(), [](const Collection& one) { return one.path == list; })->elements;
}

/// The layers that the group lists; empty when it does not say. Error: plan.layers.
Result<std::vector<std::int64_t>> layersOf(const LayerGroup& group)
{
    Result<std::vector<std::int64_t>> layers = parseLayerRanges(group.layerIndices);
    const std::string at = pathOf(group.id) + ".layerIndices";
    if (!layers)
        return Error {"plan.layers", "the group does not list its layers as ranges", {{}, at}, group.layerIndices,
            "ranges such as 0-34:2,35"};
    if (!layers->empty() && static_cast<std::int64_t>(layers->size()) != group.layers)
        return Error {"plan.layers", "the layers listed are not as many as the group has", {{}, at},
            fmt::format("{} listed", layers->size()), fmt::format("{}", group.layers)};
    return layers;
}

void setLayers(Plan& plan, LayerGroup& group, std::int64_t count, std::span<const std::int64_t> layers)
{
    group.layers = count;
    group.layerIndices = layerRanges(layers);
    const std::string base = pathOf(group.id);
    plan.provenance.set(base + ".layers", Source {Source::Kind::User, "entered", base + ".layers"});
    if (layers.empty())
        plan.provenance.remove(base + ".layerIndices");
    else
        plan.provenance.set(base + ".layerIndices", Source {Source::Kind::User, "entered", base + ".layerIndices"});
}

/// What is assumed of `from` is assumed of `to` too.
void copyAssumptions(Plan& plan, const std::string& from, const std::string& to)
{
    Assumptions copies;
    for (const Assumption& assumption : plan.assumptions) {
        if (assumption.path.starts_with(from + "."))
            copies.push_back({assumption.id, assumption.text, to + assumption.path.substr(from.size())});
    }
    plan.assumptions.insert(plan.assumptions.end(), copies.begin(), copies.end());
}

/// What is assumed of `from` is assumed of `to`, once.
void moveAssumptions(Plan& plan, const std::string& from, const std::string& to)
{
    Assumptions out;
    for (Assumption assumption : plan.assumptions) {
        if (assumption.path.starts_with(from + "."))
            assumption.path = to + assumption.path.substr(from.size());
        if (std::find(out.begin(), out.end(), assumption) == out.end())
            out.push_back(std::move(assumption));
    }
    plan.assumptions = std::move(out);
}

/// A copy of the group at `position`, right behind it.
Result<std::string> copyBehind(Plan& plan, std::size_t position)
{
    auto& groups = plan.worksheet.groups;
    const std::string from = groups[position].id;
    std::string id = freeElementId(plan, list, from);
    const Result<std::string> added = addElement(plan, list, id, from);
    if (!added)
        return added.error();
    std::rotate(groups.begin() + static_cast<std::ptrdiff_t>(position) + 1, groups.end() - 1, groups.end());
    return id;
}

/// The group, less `second`, which become a group of their own. `layers` are those of the whole, or empty.
Result<std::string> splitOff(Plan& plan, std::size_t position, std::int64_t count,
    const std::vector<std::int64_t>& first, const std::vector<std::int64_t>& second)
{
    const std::int64_t whole = plan.worksheet.groups[position].layers;
    Result<std::string> id = copyBehind(plan, position);
    if (!id)
        return id;
    LayerGroup& kept = plan.worksheet.groups[position];
    LayerGroup& added = plan.worksheet.groups[position + 1];
    copyAssumptions(plan, pathOf(kept.id), pathOf(added.id));
    if (!added.name.empty())
        added.name += " (2)";
    setLayers(plan, kept, whole - count, first);
    setLayers(plan, added, count, second);
    return id;
}

/// The first field in which the two would not keep the same state, or nothing.
std::optional<Error> difference(const LayerGroup& a, const LayerGroup& b)
{
    const auto differs = [&](const FieldTable& table, const void* one, const void* other, const std::string& at,
                             const std::set<std::string_view>& apart) -> std::optional<Error> {
        for (const Field& field : table.fields) {
            // The table hands out writable slots; here they are only read.
            const FieldSlot mine = field.slot(const_cast<void*>(one));
            const FieldSlot theirs = field.slot(const_cast<void*>(other));
            if (apart.contains(field.path) || fieldText(field, mine) == fieldText(field, theirs))
                continue;
            return Error {"plan.merge", fmt::format("{} is not that of {}", field.title, a.id),
                {{}, fmt::format("{}.{}", at, field.path)}, fieldDisplay(field, theirs), fieldDisplay(field, mine)};
        }
        return std::nullopt;
    };
    const FieldTable& table = groupFields();
    if (auto found = differs(table, &a, &b, pathOf(b.id), {"name", "layers", "layerIndices"}))
        return found;
    const auto ids = [](const LayerGroup& group) {
        std::string out;
        for (const StateTensor& tensor : group.tensors)
            out += (out.empty() ? "" : ", ") + tensor.id;
        return out.empty() ? "none" : out;
    };
    for (const StateTensor& tensor : b.tensors) {
        const auto same = std::find_if(
            a.tensors.begin(), a.tensors.end(), [&](const StateTensor& one) { return one.id == tensor.id; });
        if (same == a.tensors.end() || a.tensors.size() != b.tensors.size())
            return Error {"plan.merge", fmt::format("it keeps other tensors than {}", a.id),
                {{}, pathOf(b.id) + ".tensors"}, ids(b), ids(a)};
        if (auto found = differs(*table.collections[0].elements, &*same, &tensor,
                fmt::format("{}.tensors.{}", pathOf(b.id), tensor.id), {}))
            return found;
    }
    if (a.tensors.size() != b.tensors.size())
        return Error {"plan.merge", fmt::format("it keeps other tensors than {}", a.id),
            {{}, pathOf(b.id) + ".tensors"}, ids(b), ids(a)};
    return std::nullopt;
}

/// All layers of the groups at `positions`, in order. Errors as for mergeGroups().
Result<std::vector<std::int64_t>> unitedLayers(const Plan& plan, const std::vector<std::size_t>& positions)
{
    std::vector<std::int64_t> out;
    std::int64_t count = 0;
    const std::string first = plan.worksheet.groups[positions.front()].id;
    for (const std::size_t position : positions) {
        const LayerGroup& group = plan.worksheet.groups[position];
        const Result<std::vector<std::int64_t>> layers = layersOf(group);
        if (!layers)
            return layers.error();
        const std::string at = pathOf(group.id) + ".layerIndices";
        if (count > 0 && layers->empty() != out.empty())
            return Error {"plan.layers", "only some of the groups say which layers they have", {{}, at},
                layers->empty() ? "not stated" : group.layerIndices, fmt::format("as {} has it", first)};
        for (const std::int64_t layer : *layers) {
            if (std::find(out.begin(), out.end(), layer) != out.end())
                return Error {"plan.layers", "a layer is in two of the groups", {{}, at}, fmt::format("{}", layer),
                    "layers that no other group has"};
        }
        count += group.layers;
        if (count > mostLayers)
            return Error {"plan.range", "together they have too many layers", {{}, pathOf(first) + ".layers"},
                fmt::format("{}", count), fmt::format("at most {}", mostLayers)};
        out.insert(out.end(), layers->begin(), layers->end());
    }
    std::sort(out.begin(), out.end());
    return out;
}

/// A tensor in the worksheet.
struct Place
{
    std::size_t group = 0;
    std::size_t tensor = 0;
    std::string path;
};

Result<Place> tensorPlace(const Plan& plan, std::string_view group, std::string_view tensor)
{
    const Result<std::size_t> owner = groupPosition(plan, group);
    if (!owner)
        return owner.error();
    const auto& tensors = plan.worksheet.groups[*owner].tensors;
    const auto found
        = std::find_if(tensors.begin(), tensors.end(), [&](const StateTensor& one) { return one.id == tensor; });
    std::string path = fmt::format("{}.tensors.{}", pathOf(group), tensor);
    if (found == tensors.end())
        return Error {"plan.unknown_field", "there is no such tensor in this plan", {{}, std::move(path)}};
    return Place {*owner, static_cast<std::size_t>(found - tensors.begin()), std::move(path)};
}

template <typename List>
Result<void> move(List& in, std::size_t from, std::size_t to, const std::string& at)
{
    if (to >= in.size())
        return Error {"plan.range", "there is no such place in the list", {{}, at}, fmt::format("{}", to + 1),
            fmt::format("1 to {}", in.size())};
    const auto begin = in.begin();
    const auto a = static_cast<std::ptrdiff_t>(from);
    const auto b = static_cast<std::ptrdiff_t>(to);
    if (a < b)
        std::rotate(begin + a, begin + a + 1, begin + b + 1);
    else
        std::rotate(begin + b, begin + a, begin + a + 1);
    return {};
}

} // namespace

Result<std::size_t> groupPosition(const Plan& plan, std::string_view group)
{
    const auto& groups = plan.worksheet.groups;
    const auto found
        = std::find_if(groups.begin(), groups.end(), [&](const LayerGroup& one) { return one.id == group; });
    if (found == groups.end())
        return Error {"plan.unknown_field", "there is no such layer group in this plan", {{}, pathOf(group)}};
    return static_cast<std::size_t>(found - groups.begin());
}

Result<std::string> duplicateGroup(Plan& plan, std::string_view group)
{
    const Result<std::size_t> position = groupPosition(plan, group);
    if (!position)
        return position.error();
    Result<std::string> id = copyBehind(plan, *position);
    if (!id)
        return id;
    LayerGroup& copy = plan.worksheet.groups[*position + 1];
    copyAssumptions(plan, pathOf(plan.worksheet.groups[*position].id), pathOf(copy.id));
    if (!copy.name.empty())
        copy.name += " copy";
    copy.layerIndices.clear();
    plan.provenance.remove(pathOf(copy.id) + ".layerIndices");
    return id;
}

Result<std::string> splitGroup(Plan& plan, std::string_view group, std::int64_t layers)
{
    const Result<std::size_t> position = groupPosition(plan, group);
    if (!position)
        return position.error();
    const LayerGroup& whole = plan.worksheet.groups[*position];
    if (layers < 1 || layers >= whole.layers)
        return Error {"plan.range", "each of the two groups needs a layer", {{}, pathOf(group) + ".layers"},
            fmt::format("{} of {} layers", layers, whole.layers),
            whole.layers < 2 ? "a group of two layers or more" : fmt::format("1 to {}", whole.layers - 1)};
    const Result<std::vector<std::int64_t>> listed = layersOf(whole);
    if (!listed)
        return listed.error();
    const auto parting = listed->empty() ? listed->end() : listed->end() - static_cast<std::ptrdiff_t>(layers);
    return splitOff(plan, *position, layers, {listed->begin(), parting}, {parting, listed->end()});
}

Result<std::string> splitGroupAt(Plan& plan, std::string_view group, std::string_view layers)
{
    const Result<std::size_t> position = groupPosition(plan, group);
    if (!position)
        return position.error();
    const LayerGroup& whole = plan.worksheet.groups[*position];
    const Result<std::vector<std::int64_t>> listed = layersOf(whole);
    if (!listed)
        return listed.error();
    const std::string at = pathOf(group) + ".layerIndices";
    if (listed->empty())
        return Error {"plan.layers", "the group does not say which layers it has", {{}, at}, "not stated",
            "its layers, as ranges, or only how many go"};
    const Result<std::vector<std::int64_t>> second = parseLayerRanges(layers);
    if (!second)
        return Error {
            second.error().code, second.error().message, {{}, at}, second.error().found, second.error().expected};
    std::vector<std::int64_t> first;
    std::set_difference(listed->begin(), listed->end(), second->begin(), second->end(), std::back_inserter(first));
    if (first.size() + second->size() != listed->size())
        return Error {"plan.layers", "the group does not have all of these layers", {{}, at}, std::string(layers),
            fmt::format("layers of {}", whole.layerIndices)};
    if (first.empty() || second->empty())
        return Error {"plan.range", "each of the two groups needs a layer", {{}, at}, std::string(layers),
            fmt::format("some, not all, of {}", whole.layerIndices)};
    return splitOff(plan, *position, static_cast<std::int64_t>(second->size()), first, *second);
}

Result<void> mergeGroups(Plan& plan, std::span<const std::string> groups)
{
    std::vector<std::size_t> positions;
    for (const std::string& group : groups) {
        const Result<std::size_t> position = groupPosition(plan, group);
        if (!position)
            return position.error();
        positions.push_back(*position);
    }
    std::sort(positions.begin(), positions.end());
    positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
    if (positions.size() < 2)
        return Error {"plan.merge", "only several layer groups can be merged", {{}, std::string(list)},
            fmt::format("{}", positions.size()), "two or more"};
    const LayerGroup first = plan.worksheet.groups[positions.front()];
    std::int64_t count = 0;
    std::vector<std::string> others;
    for (const std::size_t position : positions) {
        const LayerGroup& group = plan.worksheet.groups[position];
        count += group.layers;
        if (position == positions.front())
            continue;
        if (std::optional<Error> differs = difference(first, group))
            return std::move(*differs);
        others.push_back(group.id);
    }
    for (const std::string& other : others) {
        if (first.readsGroup == other)
            return Error {"plan.merge", "one of the groups reads the state of another",
                {{}, pathOf(first.id) + ".readsGroup"}, other, "a group that is not among them"};
    }
    const Result<std::vector<std::int64_t>> layers = unitedLayers(plan, positions);
    if (!layers)
        return layers.error();
    for (const std::string& other : others) {
        moveAssumptions(plan, pathOf(other), pathOf(first.id));
        plan.provenance.removeBelow(pathOf(other));
        std::erase_if(plan.worksheet.groups, [&](const LayerGroup& group) { return group.id == other; });
        for (LayerGroup& group : plan.worksheet.groups) {
            if (group.readsGroup == other)
                group.readsGroup = first.id;
        }
    }
    setLayers(plan, plan.worksheet.groups[positions.front()], count, *layers);
    return {};
}

Result<void> moveGroup(Plan& plan, std::string_view group, std::size_t position)
{
    const Result<std::size_t> from = groupPosition(plan, group);
    if (!from)
        return from.error();
    return move(plan.worksheet.groups, *from, position, pathOf(group));
}

Result<void> moveTensor(Plan& plan, std::string_view group, std::string_view tensor, std::size_t position)
{
    const Result<Place> place = tensorPlace(plan, group, tensor);
    if (!place)
        return place.error();
    return move(plan.worksheet.groups[place->group].tensors, place->tensor, position, place->path);
}

Result<void> renameTensor(Plan& plan, std::string_view group, std::string_view tensor, std::string_view id)
{
    const Result<Place> place = tensorPlace(plan, group, tensor);
    if (!place)
        return place.error();
    auto& tensors = plan.worksheet.groups[place->group].tensors;
    if (!isElementId(id))
        return Error {
            "plan.id", "not an id", {{}, place->path}, std::string(id), "letters, digits, '-' and '_', at most 64"};
    if (id == tensor)
        return {};
    if (std::any_of(tensors.begin(), tensors.end(), [&](const StateTensor& one) { return one.id == id; }))
        return Error {"plan.id", "two tensors would have the same id", {{}, place->path}, std::string(id)};
    const std::string to = fmt::format("{}.tensors.{}", pathOf(group), id);
    std::vector<std::pair<std::string, Source>> sources;
    for (const auto& [path, source] : plan.provenance.entries()) {
        if (path.starts_with(place->path + "."))
            sources.emplace_back(to + path.substr(place->path.size()), *source);
    }
    plan.provenance.removeBelow(place->path);
    for (auto& [path, source] : sources) {
        if (source.kind == Source::Kind::User)
            source.at = path;
        plan.provenance.set(path, std::move(source));
    }
    moveAssumptions(plan, place->path, to);
    tensors[place->tensor].id = id;
    return {};
}

} // namespace kvw
