// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kvw {

/// Where something was found: a file and a place in it. Empty parts are unknown.
struct Location
{
    std::string file; ///< path or display name of the file
    std::string at; ///< JSON pointer ("/text_config/num_hidden_layers"), plan path, or "line 3, column 7"

    bool operator==(const Location&) const = default;
};

/// A failure as a value: what went wrong, where, what was found and what was expected.
///
/// `code` is stable and meant for scripts ("json.duplicate_key", "plan.schema_version"); the other parts are for
/// people.
struct Error
{
    std::string code;
    std::string message;
    Location where {};
    std::string found {};
    std::string expected {};

    /// One sentence with every known part, ready to print.
    std::string text() const;
};

/// The text, cut to what a person reads when it is very long: a file can put megabytes into a name.
std::string shortened(const std::string& text);

/// A value or an Error. C++20 has no std::expected; this is the little of it that is needed.
///
/// REQUIRES: value() only when ok(), error() only when !ok() (checked: std::get throws on misuse, which is a bug).
template <typename T>
class [[nodiscard]] Result
{
public:
    Result(T value)
        : m_state(std::in_place_index<0>, std::move(value))
    {}
    Result(Error error)
        : m_state(std::in_place_index<1>, std::move(error))
    {}

    bool ok() const { return m_state.index() == 0; }
    explicit operator bool() const { return ok(); }
    const T& value() const& { return std::get<0>(m_state); }
    T& value() & { return std::get<0>(m_state); }
    T&& value() && { return std::get<0>(std::move(m_state)); }
    const T& operator*() const& { return value(); }
    T& operator*() & { return value(); }
    const T* operator->() const { return &value(); }
    T* operator->() { return &value(); }
    const Error& error() const { return std::get<1>(m_state); }

private:
    std::variant<T, Error> m_state;
};

template <>
class [[nodiscard]] Result<void>
{
public:
    Result() = default;
    Result(Error error)
        : m_error(std::move(error))
    {}

    bool ok() const { return !m_error; }
    explicit operator bool() const { return ok(); }
    const Error& error() const { return *m_error; }

private:
    std::optional<Error> m_error;
};

} // namespace kvw
