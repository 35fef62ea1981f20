// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kvw::worker {

/// Reads the members of one JSON object and keeps the first error, so that a reader says only what the members are.
/// The document must outlive it.
class ObjectReader
{
public:
    explicit ObjectReader(const JsonView& view);

    static constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

    std::int64_t integer(const char* key, std::int64_t minimum = 0, std::int64_t maximum = most);
    double real(const char* key, double minimum = 0);
    bool boolean(const char* key);
    std::string string(const char* key);
    /// A name out of several: `read` gives its value, or nothing for a name that is none.
    template <typename T, typename Read>
    T choice(const char* key, Read read)
    {
        const std::string name = string(key);
        const std::optional<T> value = read(std::string_view(name));
        if (!value && ok())
            fail(m_view.find(key)->error("protocol.format", "there is no such choice"));
        return value.value_or(T {});
    }
    /// Elements of a list; empty when it is none.
    std::vector<JsonView> list(const char* key);
    std::vector<std::string> strings(const char* key);
    /// A member that must be there, whatever it is.
    std::optional<JsonView> member(const char* key);
    /// A member that may be absent or null.
    std::optional<JsonView> optional(const char* key);

    bool ok() const { return !m_error; }
    void fail(Error error);
    /// Takes the error of something inside, if it has one.
    void include(const Result<void>& inner);
    /// The value, or its error is kept and a default returned.
    template <typename T>
    T take(Result<T> value)
    {
        if (value)
            return std::move(value).value();
        fail(value.error());
        return T {};
    }
    /// The first error; protocol.unknown_field for a member that nobody asked for.
    Result<void> finish();
    /// finish(), or else the value.
    template <typename T>
    Result<T> finish(T value)
    {
        if (const Result<void> read = finish(); !read)
            return read.error();
        return value;
    }
    /// finish() without looking for unknown members.
    Result<void> finishOpen() const;

private:
    JsonView m_view;
    std::set<std::string> m_known {};
    std::optional<Error> m_error {};
};

} // namespace kvw::worker
