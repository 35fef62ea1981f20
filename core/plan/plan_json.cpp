// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/plan_json.h"

#include "plan/field_table.h"
#include "units/sha256.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace kvw {

namespace {

using Ordered = nlohmann::ordered_json;

Ordered slotToJson(const Field& field, const FieldSlot& slot)
{
    switch (field.type) {
    case FieldType::Text:
    case FieldType::Choice:
        return fieldText(field, slot);
    case FieldType::Integer:
        return **std::get<std::optional<std::int64_t>*>(slot);
    case FieldType::Count:
        return *std::get<std::int64_t*>(slot);
    case FieldType::Real:
        break;
    }
    return **std::get<std::optional<double>*>(slot);
}

/// The object that "a.b.c" lies in, made on the way.
Ordered& objectFor(Ordered& root, std::string_view path, std::string_view& last)
{
    Ordered* at = &root;
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        at = &(*at)[std::string(path.substr(0, dot))];
        path.remove_prefix(dot + 1);
    }
    last = path;
    return *at;
}

void writeObject(Ordered& out, const FieldTable& table, void* object)
{
    for (const Field& field : table.fields) {
        const FieldSlot slot = field.slot(object);
        const bool named = field.type == FieldType::Choice && !field.choices[0].empty();
        if (!isStated(slot) && !named)
            continue;
        std::string_view last;
        Ordered& parent = objectFor(out, field.path, last);
        parent[std::string(last)] = slotToJson(field, slot);
    }
    for (const Collection& collection : table.collections) {
        if (collection.size(object) == 0)
            continue;
        std::string_view last;
        Ordered& parent = objectFor(out, collection.path, last);
        Ordered& list = parent[std::string(last)] = Ordered::array();
        for (std::size_t i = 0; i < collection.size(object); ++i) {
            void* element = collection.at(object, i);
            Ordered entry {{"id", *collection.id(element)}};
            writeObject(entry, *collection.elements, element);
            list.push_back(std::move(entry));
        }
    }
}

Ordered sourceToJson(const Source& source)
{
    Ordered out {{"kind", sourceKindName(source.kind)}};
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

class Reader
{
public:
    explicit Reader(Plan& plan)
        : m_plan(plan)
    {}

    Result<void> root(const JsonView& view)
    {
        for (const std::string& key : view.keys()) {
            const JsonView value = *view.find(key);
            Result<void> read;
            if (key == "format" || key == "schemaVersion")
                continue;
            else if (key == "provenance")
                read = provenance(value);
            else if (key == "assumptions")
                read = assumptions(value);
            else
                read = member(planFields(), &m_plan, {}, key, value);
            if (!read)
                return read;
        }
        return {};
    }

    Result<void> groups(const JsonView& view)
    {
        const auto& lists = planFields().collections;
        const auto found = std::find_if(
            lists.begin(), lists.end(), [](const Collection& list) { return list.path == "worksheet.groups"; });
        return list(*found, &m_plan, view);
    }

private:
    /// Reads the member `key` of the section `section` ("" or "deployment."). A dot in a key would be another way to
    /// write a path: there is only one.
    Result<void> member(const FieldTable& table, void* object, const std::string& section, const std::string& key,
        const JsonView& value)
    {
        constexpr const char* unknown = "there is no such field in schema version 1";
        if (key.find('.') != std::string::npos)
            return value.error("plan.unknown_field", unknown);
        const std::string path = section + key;
        for (const Field& field : table.fields) {
            if (field.path == path)
                return scalar({&field, field.slot(object), value.pointer()}, value);
        }
        for (const Collection& collection : table.collections) {
            if (collection.path == path)
                return list(collection, object, value);
        }
        const auto isBelow = [&](std::string_view known) { return known.starts_with(path + "."); };
        bool isSection = false;
        for (const Field& field : table.fields)
            isSection = isSection || isBelow(field.path);
        for (const Collection& collection : table.collections)
            isSection = isSection || isBelow(collection.path);
        if (!isSection)
            return value.error("plan.unknown_field", unknown);
        if (!value.isObject())
            return value.error("plan.type", "not a section", "an object");
        for (const std::string& below : value.keys()) {
            if (Result<void> read = member(table, object, path + ".", below, *value.find(below)); !read)
                return read;
        }
        return {};
    }

    Result<void> scalar(const FieldReference& reference, const JsonView& value)
    {
        const Field& field = *reference.field;
        std::string text;
        if (field.type == FieldType::Text || field.type == FieldType::Choice) {
            const Result<std::string> read = value.string();
            if (!read)
                return retyped(read.error());
            text = *read;
        } else if (field.type == FieldType::Real) {
            const Result<double> read = value.real();
            if (!read)
                return retyped(read.error());
            if (*read < static_cast<double>(field.minimum) || *read > static_cast<double>(field.maximum))
                return value.error("plan.range", "the value is outside the field's range",
                    fmt::format("{} to {}", field.minimum, field.maximum));
            *std::get<std::optional<double>*>(reference.slot) = *read;
            return {};
        } else {
            const Result<std::int64_t> read = value.integer(field.minimum, field.maximum);
            if (!read)
                return retyped(read.error());
            if (field.type == FieldType::Count)
                *std::get<std::int64_t*>(reference.slot) = *read;
            else
                *std::get<std::optional<std::int64_t>*>(reference.slot) = *read;
            return {};
        }
        if (Result<void> assigned = assignField(reference, text); !assigned) {
            Error error = assigned.error();
            error.where = {value.file(), value.pointer()};
            return error;
        }
        return {};
    }

    static Error retyped(Error error)
    {
        error.code = error.code == "json.range" ? "plan.range" : "plan.type";
        return error;
    }

    Result<void> list(const Collection& collection, void* object, const JsonView& value)
    {
        if (!value.isArray())
            return value.error("plan.type", "not a list", "an array of objects with \"id\"");
        if (value.size() > collection.maximumSize)
            return value.error("plan.range", "too many elements", fmt::format("at most {}", collection.maximumSize));
        std::set<std::string> ids;
        for (std::size_t i = 0; i < value.size(); ++i) {
            const JsonView entry = value.at(i);
            if (!entry.isObject())
                return entry.error("plan.type", fmt::format("not a {}", collection.title), "an object with \"id\"");
            const std::optional<JsonView> idView = entry.findValue("id");
            if (!idView)
                return entry.error("plan.id", fmt::format("a {} without an id", collection.title));
            const Result<std::string> id = idView->string();
            if (!id)
                return retyped(id.error());
            if (!isGoodId(*id))
                return idView->error("plan.id", "not an id", "letters, digits, '-' and '_', at most 64");
            if (!ids.insert(*id).second)
                return idView->error("plan.id", fmt::format("two {}s have the same id", collection.title));
            void* element = collection.append(object);
            *collection.id(element) = *id;
            for (const std::string& key : entry.keys()) {
                if (key == "id")
                    continue;
                if (Result<void> read = member(*collection.elements, element, {}, key, *entry.find(key)); !read)
                    return read;
            }
        }
        return {};
    }

    static bool isGoodId(const std::string& id)
    {
        if (id.empty() || id.size() > 64)
            return false;
        for (const char c : id) {
            const bool good
                = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
            if (!good)
                return false;
        }
        return true;
    }

    Result<void> texts(const JsonView& view, std::initializer_list<std::pair<const char*, std::string*>> members)
    {
        if (!view.isObject())
            return view.error("plan.type", "not an object", "an object of texts");
        for (const std::string& key : view.keys()) {
            const auto* found
                = std::find_if(members.begin(), members.end(), [&](const auto& m) { return key == m.first; });
            const JsonView value = *view.find(key);
            if (found == members.end())
                return value.error("plan.unknown_field", "there is no such field in schema version 1");
            const Result<std::string> text = value.string();
            if (!text)
                return retyped(text.error());
            *found->second = *text;
        }
        return {};
    }

    Result<void> provenance(const JsonView& view)
    {
        if (!view.isObject())
            return view.error("plan.type", "not an object", "sources by field path");
        for (const std::string& path : view.keys()) {
            const JsonView entry = *view.find(path);
            Source source;
            std::string kind;
            Result<void> read = texts(entry,
                {{"kind", &kind}, {"name", &source.name}, {"at", &source.at}, {"sha256", &source.sha256},
                    {"published", &source.published}, {"verified", &source.verified}, {"note", &source.note}});
            if (!read)
                return read;
            const std::optional<Source::Kind> known = sourceKindFromName(kind);
            if (!known)
                return entry.error("plan.choice", "not a kind of source");
            source.kind = *known;
            m_plan.provenance.set(path, std::move(source));
        }
        return {};
    }

    Result<void> assumptions(const JsonView& view)
    {
        if (!view.isArray())
            return view.error("plan.type", "not a list", "an array of assumptions");
        for (std::size_t i = 0; i < view.size(); ++i) {
            Assumption assumption;
            Result<void> read
                = texts(view.at(i), {{"id", &assumption.id}, {"text", &assumption.text}, {"path", &assumption.path}});
            if (!read)
                return read;
            m_plan.assumptions.push_back(std::move(assumption));
        }
        return {};
    }

    Plan& m_plan;
};

} // namespace

std::string planToJson(const Plan& plan)
{
    Ordered out {{"format", "kvplan"}, {"schemaVersion", planSchemaVersion}};
    writeObject(out, planFields(), const_cast<Plan*>(&plan)); // slots are only read
    if (!plan.assumptions.empty()) {
        Ordered& list = out["assumptions"] = Ordered::array();
        for (const Assumption& assumption : plan.assumptions) {
            Ordered entry {{"id", assumption.id}, {"text", assumption.text}};
            if (!assumption.path.empty())
                entry["path"] = assumption.path;
            list.push_back(std::move(entry));
        }
    }
    if (!plan.provenance.entries().empty()) {
        Ordered& map = out["provenance"] = Ordered::object();
        for (const auto& [path, source] : plan.provenance.entries())
            map[path] = sourceToJson(*source);
    }
    return out.dump(2, ' ', false, Ordered::error_handler_t::replace) + "\n";
}

Result<Plan> planFromJson(const JsonDocument& document)
{
    const JsonView view(document);
    const std::optional<JsonView> format = view.find("format");
    if (!format)
        return view.error("plan.format", "this is not a plan", "an object with \"format\": \"kvplan\"");
    if (const Result<std::string> text = format->string(); !text || *text != "kvplan")
        return format->error("plan.format", "this is another format", "\"kvplan\"");
    const std::optional<JsonView> version = view.find("schemaVersion");
    if (!version)
        return view.error("plan.schema_version", "the plan does not state its schema version", "\"schemaVersion\": 1");
    const Result<std::int64_t> number = version->integer();
    if (!number || *number != planSchemaVersion)
        return version->error("plan.schema_version", "this program reads another schema version of plans",
            fmt::format("{}", planSchemaVersion));
    Plan plan;
    if (Result<void> read = Reader(plan).root(view); !read)
        return read.error();
    return plan;
}

Result<std::vector<LayerGroup>> groupsFromJson(const JsonView& view)
{
    Plan plan;
    if (const Result<void> read = Reader(plan).groups(view); !read)
        return read.error();
    return std::move(plan.worksheet.groups);
}

bool looksLikePlan(const JsonDocument& document)
{
    const std::optional<JsonView> formatView = JsonView(document).find("format");
    if (!formatView)
        return false;
    // Whatever else its format says, an object with a worksheet was meant to be a plan; its reader refuses it by name.
    const Result<std::string> text = formatView->string();
    return (text && *text == "kvplan") || JsonView(document).find("worksheet");
}

Result<Plan> loadPlan(const std::string& path)
{
    const Result<JsonDocument> document = readJsonFile(path);
    if (!document)
        return document.error();
    return planFromJson(*document);
}

Result<void> savePlan(const Plan& plan, const std::string& path, const FileOperations& operations)
{
    return writeFileAtomically(path, planToJson(plan), operations);
}

std::string planHash(const Plan& plan)
{
    Sha256 hash;
    forEachField(plan, [&](const FieldReference& reference) {
        for (const char* ignored : {"document.", "evidence.", "runs."}) {
            if (reference.path.starts_with(ignored))
                return;
        }
        if (reference.path.starts_with("tenants.") && reference.path.ends_with(".name"))
            return; // what a tenant is called; its id tells it apart
        // Framed by length, so that no value can pass for another field.
        const std::string value = fieldText(*reference.field, reference.slot);
        hash.update(fmt::format("{}={}:{}\n", reference.path, value.size(), value));
    });
    return Sha256::hex(hash.digest());
}

} // namespace kvw
