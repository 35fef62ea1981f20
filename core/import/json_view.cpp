// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/json.h"

#include "import/json_text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cmath>

namespace kvw {

namespace {

constexpr std::size_t longestPrint = 60;

/// A short print of a value for error messages.
std::string describe(const Json& json)
{
    if (json.is_object())
        return fmt::format("an object with {} members", json.size());
    if (json.is_array())
        return fmt::format("an array of {} elements", json.size());
    if (json.is_number_float() && !std::isfinite(json.get<double>()))
        return std::isnan(json.get<double>()) ? "NaN" : json.get<double>() < 0 ? "-Infinity" : "Infinity";
    if (!json.is_string())
        return json.dump();
    std::string text = json.get_ref<const std::string&>();
    if (text.size() > longestPrint) {
        std::size_t end = longestPrint;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U)
            --end; // not within a character
        text.resize(end);
        text += "…";
    }
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// "a whole number from 1 to 10000"
std::string wholeNumber(std::int64_t minimum, std::int64_t maximum)
{
    if (minimum == INT64_MIN && maximum == INT64_MAX)
        return "a whole number";
    if (maximum == INT64_MAX)
        return fmt::format("a whole number from {}", minimum);
    if (minimum == INT64_MIN)
        return fmt::format("a whole number up to {}", maximum);
    return fmt::format("a whole number from {} to {}", minimum, maximum);
}

const Json& rootOf(const JsonDocument& document)
{
    static const Json null;
    return document.root ? *document.root : null;
}

} // namespace

JsonView::JsonView(const JsonDocument& document)
    : JsonView(rootOf(document), document, {})
{}

JsonView::JsonView(const Json& json, const JsonDocument& document, std::string pointer)
    : m_json(&json)
    , m_document(&document)
    , m_pointer(std::move(pointer))
{}

bool JsonView::isObject() const
{
    return m_json->is_object();
}

bool JsonView::isArray() const
{
    return m_json->is_array();
}

bool JsonView::isNull() const
{
    return m_json->is_null();
}

bool JsonView::isNumber() const
{
    return m_json->is_number();
}

bool JsonView::isString() const
{
    return m_json->is_string();
}

bool JsonView::isBoolean() const
{
    return m_json->is_boolean();
}

std::optional<JsonView> JsonView::find(std::string_view key) const
{
    if (!isObject())
        return std::nullopt;
    const auto found = m_json->find(key);
    if (found == m_json->end())
        return std::nullopt;
    std::string pointer = m_pointer;
    appendPointerToken(pointer, key);
    return JsonView(*found, *m_document, std::move(pointer));
}

std::optional<JsonView> JsonView::findValue(std::string_view key) const
{
    auto found = find(key);
    return found && found->isNull() ? std::nullopt : found;
}

JsonView JsonView::at(std::size_t index) const
{
    // By hand: lists of thousands of layers are read element by element.
    std::array<char, 20> digits;
    char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), index).ptr;
    std::string pointer;
    pointer.reserve(m_pointer.size() + 1 + digits.size());
    pointer.append(m_pointer).append(1, '/').append(digits.data(), end);
    return {(*m_json)[index], *m_document, std::move(pointer)};
}

std::size_t JsonView::size() const
{
    return isObject() || isArray() ? m_json->size() : 0;
}

std::vector<std::string> JsonView::keys() const
{
    std::vector<std::string> out;
    if (isObject()) {
        out.reserve(m_json->size());
        for (const auto& member : m_json->items())
            out.push_back(member.key());
    }
    return out;
}

Result<std::int64_t> JsonView::integer(std::int64_t minimum, std::int64_t maximum) const
{
    const auto refuse
        = [&](const char* code, const char* message) { return error(code, message, wholeNumber(minimum, maximum)); };
    std::int64_t value = 0;
    if (m_json->is_number_unsigned()) {
        if (m_json->get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX))
            return refuse("json.range", "the number is out of range");
        value = m_json->get<std::int64_t>();
    } else if (m_json->is_number_integer()) {
        value = m_json->get<std::int64_t>();
    } else if (m_json->is_number_float()) {
        const double real = m_json->get<double>();
        if (!std::isfinite(real) || std::trunc(real) != real)
            return refuse("json.type", "not a whole number");
        // 2^63 itself is a double, the largest int64 is not: compare before converting.
        if (real < -0x1p63 || real >= 0x1p63)
            return refuse("json.range", "the number is out of range");
        value = static_cast<std::int64_t>(real);
    } else {
        return refuse("json.type", "not a number");
    }
    if (value < minimum || value > maximum)
        return refuse("json.range", "the number is out of range");
    return value;
}

Result<double> JsonView::real() const
{
    if (!isNumber())
        return error("json.type", "not a number", "a number");
    const double value = m_json->get<double>();
    if (!std::isfinite(value))
        return error("json.type", "not a finite number", "a number");
    return value;
}

Result<std::string> JsonView::string() const
{
    if (!isString())
        return error("json.type", "not a string", "a string");
    return m_json->get_ref<const std::string&>();
}

Result<bool> JsonView::boolean() const
{
    if (!isBoolean())
        return error("json.type", "neither true nor false", "true or false");
    return m_json->get<bool>();
}

const std::string& JsonView::pointer() const
{
    return m_pointer;
}

const std::string& JsonView::file() const
{
    return m_document->file;
}

Error JsonView::error(std::string code, std::string message, std::string expected) const
{
    return {std::move(code), std::move(message), {m_document->file, m_pointer}, describe(*m_json), std::move(expected)};
}

const Json& JsonView::json() const
{
    return *m_json;
}

} // namespace kvw
