// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// Reads an object of a library: each member that may be there is named with where it goes, and no other is taken.
class LibraryReader
{
public:
    LibraryReader& text(const char* name, std::string& out);
    LibraryReader& maybeText(const char* name, std::string& out);
    LibraryReader& maybeTexts(const char* name, std::vector<std::string>& out);
    LibraryReader& count(const char* name, std::int64_t& out, std::int64_t least, std::int64_t most);
    LibraryReader& maybeCount(
        const char* name, std::optional<std::int64_t>& out, std::int64_t least, std::int64_t most);
    LibraryReader& maybeReal(const char* name, std::optional<double>& out);
    /// A member that somebody else reads.
    LibraryReader& other(const char* name);

    /// Errors: library.format when it is no object, library.unknown_field, library.missing_field, json.type,
    /// json.range.
    Result<void> read(const JsonView& view) const;

private:
    struct Member
    {
        const char* name;
        bool required;
        std::function<Result<void>(const JsonView&)> read;
    };

    std::vector<Member> m_members;
};

/// The list of a library document whose "format" is `format`, schema version 1.
/// Errors: library.format, library.unknown_field.
Result<JsonView> libraryList(
    const JsonDocument& document, std::string_view format, std::string_view list, std::size_t most);

} // namespace kvw
