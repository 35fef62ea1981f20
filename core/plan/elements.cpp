// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/elements.h"

#include "plan/field_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kvw {

namespace {

/// A list in one plan.
struct List
{
    const Collection* collection = nullptr;
    void* object = nullptr; ///< that holds it

    std::optional<std::size_t> indexOf(std::string_view id) const
    {
        for (std::size_t i = 0; i < collection->size(object); ++i) {
            if (*collection->id(collection->at(object, i)) == id)
                return i;
        }
        return std::nullopt;
    }
};

std::optional<List> findList(const FieldTable& table, void* object, std::string_view path)
{
    for (const Collection& collection : table.collections) {
        if (collection.path == path)
            return List {&collection, object};
        if (!path.starts_with(collection.path) || path.size() <= collection.path.size()
            || path[collection.path.size()] != '.')
            continue;
        const std::string_view below = path.substr(collection.path.size() + 1);
        const std::size_t dot = below.find('.');
        if (dot == std::string_view::npos)
            return std::nullopt;
        const List list {&collection, object};
        const std::optional<std::size_t> index = list.indexOf(below.substr(0, dot));
        if (!index)
            return std::nullopt;
        return findList(*collection.elements, collection.at(object, *index), below.substr(dot + 1));
    }
    return std::nullopt;
}

Error unknown(std::string_view path)
{
    return Error {"plan.unknown_field", "there is no such list or element in this plan", {{}, std::string(path)}};
}

/// Copies every field and every list of one element into another of the same kind.
void copyElement(const FieldTable& table, void* from, void* to)
{
    for (const Field& field : table.fields) {
        std::visit([&](auto* value) { *value = *std::get<decltype(value)>(field.slot(from)); }, field.slot(to));
    }
    for (const Collection& list : table.collections) {
        for (std::size_t i = 0; i < list.size(from); ++i) {
            void* added = list.append(to);
            *list.id(added) = *list.id(list.at(from, i));
            copyElement(*list.elements, list.at(from, i), added);
        }
    }
}

void copySources(Plan& plan, const std::string& from, const std::string& to)
{
    std::vector<std::pair<std::string, Source>> copies;
    for (const auto& [path, source] : plan.provenance.entries()) {
        if (path.starts_with(from + "."))
            copies.emplace_back(to + path.substr(from.size()), *source);
    }
    for (auto& [path, source] : copies) {
        if (source.kind == Source::Kind::User)
            source.at = path;
        plan.provenance.set(path, std::move(source));
    }
}

} // namespace

bool isElementId(std::string_view id)
{
    const auto good = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), good);
}

Result<std::string> addElement(Plan& plan, std::string_view list, std::string_view id, std::string_view like)
{
    const std::optional<List> found = findList(planFields(), &plan, list);
    if (!found)
        return unknown(list);
    const std::string base(list);
    if (!isElementId(id))
        return Error {"plan.id", "not an id", {{}, base}, std::string(id), "letters, digits, '-' and '_', at most 64"};
    if (found->indexOf(id))
        return Error {"plan.id", fmt::format("two {}s would have the same id", found->collection->title), {{}, base},
            std::string(id)};
    if (found->collection->size(found->object) >= found->collection->maximumSize)
        return Error {"plan.range", "the list is full", {{}, base}, {},
            fmt::format("at most {}", found->collection->maximumSize)};
    const std::optional<std::size_t> model = like.empty() ? std::nullopt : found->indexOf(like);
    if (!like.empty() && !model)
        return unknown(fmt::format("{}.{}", list, like));
    void* added = found->collection->append(found->object);
    *found->collection->id(added) = id;
    const std::string path = fmt::format("{}.{}", list, id);
    if (model) {
        copyElement(*found->collection->elements, found->collection->at(found->object, *model), added);
        copySources(plan, fmt::format("{}.{}", list, like), path);
    }
    return path;
}

Result<void> removeElement(Plan& plan, std::string_view path)
{
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos)
        return unknown(path);
    const std::optional<List> list = findList(planFields(), &plan, path.substr(0, dot));
    const std::optional<std::size_t> index = list ? list->indexOf(path.substr(dot + 1)) : std::nullopt;
    if (!index)
        return unknown(path);
    list->collection->erase(list->object, *index);
    const std::string below = std::string(path) + ".";
    plan.provenance.removeBelow(std::string(path));
    std::erase_if(plan.assumptions, [&](const Assumption& assumption) { return assumption.path.starts_with(below); });
    return {};
}

std::string freeElementId(const Plan& plan, std::string_view list, std::string_view stem)
{
    // The table hands out writable lists; here they are only read.
    const std::optional<List> found = findList(planFields(), const_cast<Plan*>(&plan), list);
    std::string id(stem);
    for (int i = 2; found && found->indexOf(id); ++i)
        id = fmt::format("{}{}", stem.substr(0, 56), i);
    return id;
}

} // namespace kvw
