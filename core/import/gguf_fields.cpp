// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/gguf_fields.h"

#include <fmt/format.h>

namespace kvw {

Result<GgufFields> GgufFields::open(const GgufHeader& header)
{
    GgufFields fields(header);
    fields.m_fileName = header.file.substr(header.file.find_last_of('/') + 1);
    const Result<std::optional<std::string>> name = fields.text("general.architecture");
    if (!name)
        return name.error();
    if (!*name)
        return fields.missing("general.architecture", "the architecture, as every model file has it");
    fields.m_architecture = **name;
    return fields;
}

std::string GgufFields::key(std::string_view name) const
{
    return name.starts_with("general.") || name.starts_with("split.") || name.starts_with("tokenizer.")
        ? std::string(name)
        : fmt::format("{}.{}", m_architecture, name);
}

const GgufValue* GgufFields::find(std::string_view name) const
{
    const auto found = m_header->values.find(key(name));
    return found == m_header->values.end() ? nullptr : &found->second;
}

Result<std::optional<Stated>> GgufFields::integer(
    std::string_view name, std::int64_t minimum, std::int64_t maximum) const
{
    const GgufValue* value = find(name);
    if (!value)
        return std::optional<Stated> {};
    if (value->isArray || value->integers.size() != 1)
        return error(name, "gguf.value_type", "not a whole number", {}, "a whole number");
    const std::int64_t number = value->integers[0];
    if (number < minimum || number > maximum)
        return error(name, "gguf.value_range", "not a possible value", fmt::format("{}", number),
            fmt::format("{} to {}", minimum, maximum));
    return std::optional<Stated>(Stated {number, fileSource(name)});
}

Result<std::optional<std::vector<std::int64_t>>> GgufFields::perLayer(
    std::string_view name, std::int64_t layers, std::int64_t minimum, std::int64_t maximum) const
{
    using Values = std::optional<std::vector<std::int64_t>>;
    const GgufValue* value = find(name);
    if (!value)
        return Values {};
    const auto count = static_cast<std::size_t>(layers);
    if (!value->isKept || value->integers.size() != value->count)
        return error(
            name, "gguf.value_type", "not whole numbers", {}, fmt::format("a whole number, or an array of {}", layers));
    if (value->isArray && value->integers.size() < count)
        return error(name, "gguf.value_count", "the array has fewer elements than the model has layers",
            fmt::format("{}", value->integers.size()), fmt::format("at least {}", layers));
    std::vector<std::int64_t> out
        = value->isArray ? value->integers : std::vector<std::int64_t>(count, value->integers[0]);
    out.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (out[i] < minimum || out[i] > maximum)
            return error(name, "gguf.value_range", fmt::format("not a possible value (layer {})", i),
                fmt::format("{}", out[i]), fmt::format("{} to {}", minimum, maximum));
    }
    return Values(std::move(out));
}

Result<std::optional<std::string>> GgufFields::text(std::string_view name) const
{
    const GgufValue* value = find(name);
    if (!value)
        return std::optional<std::string> {};
    if (value->type != GgufType::String || value->isArray || !value->isKept)
        return error(name, "gguf.value_type", "not a string", {}, "a string of at most 4096 bytes");
    return value->text.empty() ? std::optional<std::string> {} : std::optional<std::string>(value->text);
}

Source GgufFields::fileSource(std::string_view name, std::string note) const
{
    Source source;
    source.kind = Source::Kind::File;
    source.name = m_fileName;
    source.at = key(name);
    source.sha256 = m_header->sha256;
    source.note = std::move(note);
    return source;
}

Source GgufFields::rule(std::string note, bool isDefault) const
{
    Source source;
    source.kind = isDefault ? Source::Kind::EngineDefault : Source::Kind::EngineRule;
    source.name = "llama.cpp";
    source.verified = "2026-08-18";
    source.note = std::move(note);
    return source;
}

Error GgufFields::missing(std::string_view name, std::string_view what) const
{
    return {"import.missing_field", fmt::format("{} is not stated", key(name)), where(name), {}, std::string(what)};
}

Error GgufFields::error(
    std::string_view name, std::string code, std::string message, std::string found, std::string expected) const
{
    return {std::move(code), std::move(message), where(name), std::move(found), std::move(expected)};
}

Location GgufFields::where(std::string_view name) const
{
    const GgufValue* value = find(name);
    return {m_header->file, value ? fmt::format("{} (byte {})", key(name), value->offset) : key(name)};
}

} // namespace kvw
