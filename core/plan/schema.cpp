// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/schema.h"

#include "plan/field_table.h"
#include "plan/plan_json.h"
#include "units/quantity.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kvw {

namespace {

using Ordered = nlohmann::ordered_json;

Ordered emptyObject()
{
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", Ordered::object()}};
}

/// The schema of the object that "a.b.c" lies in, made on the way.
Ordered& objectFor(Ordered& root, std::string_view path, std::string_view& last)
{
    Ordered* at = &root;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        Ordered& properties = (*at)["properties"];
        const std::string section(path.substr(0, dot));
        if (!properties.contains(section))
            properties[section] = emptyObject();
        at = &properties[section];
        path.remove_prefix(dot + 1);
    }
    last = path;
    return *at;
}

Ordered fieldSchema(const Field& field)
{
    Ordered out;
    out["title"] = field.title;
    out["description"] = field.unit == Unit::None ? std::string(field.help)
                                                  : fmt::format("{} Unit: {}.", field.help, unitName(field.unit));
    switch (field.type) {
    case FieldType::Text:
        out["type"] = "string";
        break;
    case FieldType::Choice: {
        Ordered names = Ordered::array();
        for (const std::string_view name : field.choices)
            names.push_back(name);
        out["enum"] = std::move(names);
        break;
    }
    case FieldType::Integer:
    case FieldType::Count:
    case FieldType::Real:
        out["type"] = field.type == FieldType::Real ? "number" : "integer";
        if (field.minimum != INT64_MIN)
            out["minimum"] = field.minimum;
        if (field.maximum != INT64_MAX)
            out["maximum"] = field.maximum;
        break;
    }
    return out;
}

void addTable(Ordered& object, const FieldTable& table)
{
    for (const Field& field : table.fields) {
        std::string_view last;
        Ordered& parent = objectFor(object, field.path, last);
        parent["properties"][std::string(last)] = fieldSchema(field);
    }
    for (const Collection& collection : table.collections) {
        Ordered element = emptyObject();
        element["title"] = collection.title;
        element["required"] = {"id"};
        element["properties"]["id"]
            = {{"type", "string"}, {"pattern", "^[A-Za-z0-9_-]{1,64}$"}, {"description", "Unique in its list."}};
        addTable(element, *collection.elements);
        std::string_view last;
        Ordered& parent = objectFor(object, collection.path, last);
        parent["properties"][std::string(last)]
            = {{"type", "array"}, {"maxItems", collection.maximumSize}, {"items", std::move(element)}};
    }
}

Ordered texts(std::initializer_list<const char*> names)
{
    Ordered out = emptyObject();
    for (const char* name : names)
        out["properties"][name] = {{"type", "string"}};
    return out;
}

/// Where fields come from, and what was assumed: beside the fields, not in the table.
void addSources(Ordered& root)
{
    Ordered source = texts({"kind", "name", "at", "sha256", "published", "verified", "note"});
    source["required"] = {"kind"};
    Ordered kinds = Ordered::array();
    for (const Source::Kind kind :
        {Source::Kind::User, Source::Kind::File, Source::Kind::Library, Source::Kind::EngineRule,
            Source::Kind::EngineDefault, Source::Kind::Measurement, Source::Kind::Assumption, Source::Kind::Definition})
        kinds.push_back(sourceKindName(kind));
    source["properties"]["kind"] = {{"enum", std::move(kinds)}};
    root["properties"]["assumptions"] = {{"type", "array"},
        {"description", "What was taken as true without being stated."}, {"items", texts({"id", "text", "path"})}};
    root["properties"]["provenance"]
        = {{"type", "object"}, {"description", "Sources by field path."}, {"additionalProperties", std::move(source)}};
}

} // namespace

std::string planSchemaJson()
{
    Ordered root {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
        {"title", fmt::format("KV Workbench plan, schema version {}", planSchemaVersion)},
        {"description", "A cache plan (.kvplan). Fields that are not stated are left out."}};
    root.update(emptyObject());
    root["required"] = {"format", "schemaVersion"};
    root["properties"]["format"] = {{"const", "kvplan"}};
    root["properties"]["schemaVersion"] = {{"const", planSchemaVersion}};
    addTable(root, planFields());
    addSources(root);
    return root.dump(2) + "\n";
}

} // namespace kvw
