// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "units/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

using Json = nlohmann::json;

/// Caps that every JSON reader works under. A file beyond a cap is refused with the place where it was reached.
struct JsonLimits
{
    std::size_t bytes = std::size_t {64} << 20;
    std::size_t depth = 64; ///< objects and arrays inside one another
    std::size_t values = 4'000'000; ///< numbers, strings, literals, objects and arrays together
};

/// A JSON document that was read whole: its tree, where it came from and the SHA-256 of its bytes.
struct JsonDocument
{
    std::shared_ptr<const Json> root;
    std::string file; ///< display name for errors
    std::string sha256; ///< lower-case hex
};

/// Reads JSON text: by Boost's parser, and where that meets anything amiss again through nlohmann's SAX interface,
/// which decides. Refused, with line and column or JSON pointer: syntax errors, anything after the value, a cap that is
/// exceeded, a key that appears twice in one object, invalid UTF-8. Bare NaN, Infinity and -Infinity become doubles
/// that are not finite; whoever uses the field refuses them (JsonView::integer(), real()). Error codes: json.syntax,
/// json.depth, json.size, json.values, json.duplicate_key.
Result<JsonDocument> parseJson(std::string_view text, std::string file, const JsonLimits& limits = {});
/// The same for a file; also io.open, io.read. At most limits.bytes + 1 bytes are read.
Result<JsonDocument> readJsonFile(const std::string& path, const JsonLimits& limits = {});

/// A value inside a document together with its JSON pointer, for typed access with located errors.
/// The document must outlive the view.
class JsonView
{
public:
    JsonView(const JsonDocument& document);

    bool isObject() const;
    bool isArray() const;
    bool isNull() const;
    bool isNumber() const;
    bool isString() const;
    bool isBoolean() const;
    /// Member of an object, or nothing; also nothing when this is not an object.
    std::optional<JsonView> find(std::string_view key) const;
    /// find(), but null counts as absent.
    std::optional<JsonView> findValue(std::string_view key) const;
    /// Element of an array. REQUIRES isArray() and index < size().
    JsonView at(std::size_t index) const;
    /// Elements of an array or members of an object; 0 otherwise.
    std::size_t size() const;
    /// Keys of an object, in order; empty otherwise.
    std::vector<std::string> keys() const;

    /// A whole number in [minimum, maximum]; doubles with an integral value count. Error json.type or json.range.
    Result<std::int64_t> integer(std::int64_t minimum = INT64_MIN, std::int64_t maximum = INT64_MAX) const;
    /// A finite number. Error json.type.
    Result<double> real() const;
    Result<std::string> string() const;
    Result<bool> boolean() const;

    /// "/text_config/layer_types/3"; "" for the root.
    const std::string& pointer() const;
    const std::string& file() const;
    /// An error about this value: file, pointer, a short print of what was found.
    Error error(std::string code, std::string message, std::string expected = {}) const;
    const Json& json() const;

private:
    JsonView(const Json& json, const JsonDocument& document, std::string pointer);

    const Json* m_json;
    const JsonDocument* m_document;
    std::string m_pointer;
};

} // namespace kvw
