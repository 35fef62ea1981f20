// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "worker/object_reader.h"

#include <fmt/format.h>

namespace kvw::worker {

ObjectReader::ObjectReader(const JsonView& view)
    : m_view(view)
{
    if (!view.isObject())
        fail(view.error("protocol.format", "not an object", "an object"));
}

std::int64_t ObjectReader::integer(const char* key, std::int64_t minimum, std::int64_t maximum)
{
    const std::optional<JsonView> value = member(key);
    return value ? take(value->integer(minimum, maximum)) : 0;
}

double ObjectReader::real(const char* key, double minimum)
{
    const std::optional<JsonView> value = member(key);
    const double out = value ? take(value->real()) : minimum;
    if (out < minimum)
        fail(value->error("protocol.format", "the number is too small", fmt::format("at least {}", minimum)));
    return out;
}

bool ObjectReader::boolean(const char* key)
{
    const std::optional<JsonView> value = member(key);
    return value && take(value->boolean());
}

std::string ObjectReader::string(const char* key)
{
    const std::optional<JsonView> value = member(key);
    return value ? take(value->string()) : std::string();
}

std::vector<JsonView> ObjectReader::list(const char* key)
{
    std::vector<JsonView> out;
    const std::optional<JsonView> value = member(key);
    if (value && !value->isArray())
        fail(value->error("protocol.format", "not a list", "a list"));
    for (std::size_t i = 0; value && value->isArray() && i < value->size(); ++i)
        out.push_back(value->at(i));
    return out;
}

std::vector<std::string> ObjectReader::strings(const char* key)
{
    std::vector<std::string> out;
    for (const JsonView& element : list(key))
        out.push_back(take(element.string()));
    return out;
}

std::optional<JsonView> ObjectReader::member(const char* key)
{
    m_known.insert(key);
    std::optional<JsonView> value = m_view.find(key);
    if (!value)
        fail(m_view.error("protocol.format", fmt::format("\"{}\" is missing", key)));
    return value;
}

std::optional<JsonView> ObjectReader::optional(const char* key)
{
    m_known.insert(key);
    return m_view.findValue(key);
}

void ObjectReader::fail(Error error)
{
    if (!m_error)
        m_error = std::move(error);
}

void ObjectReader::include(const Result<void>& inner)
{
    if (!inner)
        fail(inner.error());
}

Result<void> ObjectReader::finish()
{
    for (const std::string& key : m_view.keys()) {
        if (!m_known.contains(key))
            fail(m_view.find(key)->error("protocol.unknown_field", fmt::format("there is no \"{}\" here", key)));
    }
    return finishOpen();
}

Result<void> ObjectReader::finishOpen() const
{
    return m_error ? Result<void>(*m_error) : Result<void>();
}

} // namespace kvw::worker
