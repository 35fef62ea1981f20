// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <span>

namespace kvw {

namespace {

constexpr std::string_view outerParts[] = {"thinker_config"};
constexpr std::string_view textParts[] = {"text_config", "llm_config", "language_config"};

} // namespace

bool statesNothing(const JsonView& value)
{
    const Json& json = value.json();
    return json.is_null() || json == false || json == 0 || json == "" || (json.is_structured() && json.empty());
}

Result<HfFields> HfFields::open(const JsonDocument& document)
{
    const JsonView root(document);
    if (!root.isObject())
        return root.error("import.not_a_config", "not a model configuration", "an object");
    JsonView text = root;
    // Some files nest the part that reads text once more.
    for (const std::span<const std::string_view> names :
        {std::span<const std::string_view>(outerParts), std::span<const std::string_view>(textParts)}) {
        for (const std::string_view name : names) {
            const auto nested = text.findValue(name);
            if (!nested)
                continue;
            if (!nested->isObject())
                return nested->error("json.type", "not a nested configuration", "an object");
            text = *nested;
            break;
        }
    }

    HfFields fields(root, text);
    fields.m_fileName = document.file.substr(document.file.find_last_of('/') + 1);
    fields.m_sha256 = document.sha256;
    fields.m_modelTypePointer = text.pointer() + "/model_type";
    for (const JsonView& part : {root, text}) {
        const auto type = part.findValue("model_type");
        if (!type)
            continue;
        Result<std::string> name = type->string();
        if (!name)
            return name.error();
        fields.m_modelType = *name;
        fields.m_modelTypePointer = type->pointer();
        if (part.pointer().empty())
            fields.m_rootModelType = *name;
    }
    return fields;
}

std::optional<JsonView> HfFields::find(Names names) const
{
    for (const std::string_view name : names) {
        if (auto found = m_text.findValue(name))
            return found;
    }
    return std::nullopt;
}

Result<std::optional<Stated>> HfFields::integer(Names names, std::int64_t minimum, std::int64_t maximum) const
{
    const auto found = find(names);
    if (!found)
        return std::optional<Stated> {};
    const Result<std::int64_t> value = found->integer(minimum, maximum);
    if (!value)
        return value.error();
    return std::optional<Stated>(Stated {*value, fileSource(found->pointer())});
}

Result<std::optional<bool>> HfFields::flag(std::string_view name) const
{
    const auto found = find({name});
    if (!found)
        return std::optional<bool> {};
    const Result<bool> value = found->boolean();
    if (!value)
        return value.error();
    return std::optional<bool>(*value);
}

std::string HfFields::pointer(std::string_view name) const
{
    return fmt::format("{}/{}", m_text.pointer(), name);
}

Source HfFields::fileSource(const std::string& pointer, std::string note) const
{
    Source source;
    source.kind = Source::Kind::File;
    source.name = m_fileName;
    source.at = pointer;
    source.sha256 = m_sha256;
    source.note = std::move(note);
    return source;
}

Source HfFields::assumption(const std::string& pointer, std::string note) const
{
    Source source = fileSource(pointer, std::move(note));
    source.kind = Source::Kind::Assumption;
    return source;
}

Error HfFields::missing(std::string_view name, std::string_view what) const
{
    return {"import.missing_field", fmt::format("{} is not stated", name), {m_root.file(), pointer(name)}, {},
        std::string(what)};
}

} // namespace kvw
