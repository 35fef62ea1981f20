// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/library_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::size_t mostTexts = 1000;

std::function<Result<void>(const JsonView&)> textInto(std::string& out)
{
    return [&out](const JsonView& view) -> Result<void> {
        Result<std::string> read = view.string();
        if (!read)
            return read.error();
        out = std::move(*read);
        return {};
    };
}

/// `Count`: a whole number, or one that may be absent.
template <typename Count>
std::function<Result<void>(const JsonView&)> countInto(Count& out, std::int64_t least, std::int64_t most)
{
    return [&out, least, most](const JsonView& view) -> Result<void> {
        const Result<std::int64_t> read = view.integer(least, most);
        if (!read)
            return read.error();
        out = *read;
        return {};
    };
}

} // namespace

LibraryReader& LibraryReader::text(const char* name, std::string& out)
{
    m_members.push_back({name, true, textInto(out)});
    return *this;
}

LibraryReader& LibraryReader::maybeText(const char* name, std::string& out)
{
    m_members.push_back({name, false, textInto(out)});
    return *this;
}

LibraryReader& LibraryReader::maybeTexts(const char* name, std::vector<std::string>& out)
{
    m_members.push_back({name, false, [&out](const JsonView& view) -> Result<void> {
                             if (!view.isArray() || view.size() > mostTexts)
                                 return view.error("library.format", "not a list of texts", "an array of texts");
                             for (std::size_t i = 0; i < view.size(); ++i) {
                                 Result<std::string> read = view.at(i).string();
                                 if (!read)
                                     return read.error();
                                 out.push_back(std::move(*read));
                             }
                             return {};
                         }});
    return *this;
}

LibraryReader& LibraryReader::count(const char* name, std::int64_t& out, std::int64_t least, std::int64_t most)
{
    m_members.push_back({name, true, countInto(out, least, most)});
    return *this;
}

LibraryReader& LibraryReader::maybeCount(
    const char* name, std::optional<std::int64_t>& out, std::int64_t least, std::int64_t most)
{
    m_members.push_back({name, false, countInto(out, least, most)});
    return *this;
}

LibraryReader& LibraryReader::maybeReal(const char* name, std::optional<double>& out)
{
    m_members.push_back({name, false, [&out](const JsonView& view) -> Result<void> {
                             const Result<double> read = view.real();
                             if (!read)
                                 return read.error();
                             if (*read <= 0)
                                 return view.error("json.range", "not more than nothing", "a positive number");
                             out = *read;
                             return {};
                         }});
    return *this;
}

LibraryReader& LibraryReader::other(const char* name)
{
    m_members.push_back({name, false, {}});
    return *this;
}

Result<void> LibraryReader::read(const JsonView& view) const
{
    if (!view.isObject())
        return view.error("library.format", "not an entry", "an object");
    for (const std::string& key : view.keys()) {
        const auto known = std::find_if(
            m_members.begin(), m_members.end(), [&](const Member& member) { return key == member.name; });
        if (known == m_members.end())
            return view.find(key)->error("library.unknown_field", fmt::format("there is no field {}", key));
        if (!known->read)
            continue;
        if (const Result<void> read = known->read(*view.find(key)); !read)
            return read;
    }
    for (const Member& member : m_members) {
        if (member.required && !view.find(member.name))
            return view.error("library.missing_field", fmt::format("{} is not stated", member.name));
    }
    return {};
}

Result<JsonView> libraryList(
    const JsonDocument& document, std::string_view format, std::string_view list, std::size_t most)
{
    const JsonView view(document);
    const std::optional<JsonView> stated = view.find("format");
    const std::string wanted = fmt::format("an object with \"format\": \"{}\"", format);
    if (!stated)
        return view.error("library.format", "this is not a library", wanted);
    if (const Result<std::string> text = stated->string(); !text || *text != format)
        return stated->error("library.format", "this is another format", wanted);
    const std::optional<JsonView> version = view.find("schemaVersion");
    if (!version || !version->isNumber() || !version->integer(1, 1))
        return (version ? *version : view)
            .error("library.format", "this program reads another schema version of libraries", "\"schemaVersion\": 1");
    for (const std::string& key : view.keys()) {
        if (key != "format" && key != "schemaVersion" && key != list)
            return view.find(key)->error("library.unknown_field", fmt::format("there is no field {}", key));
    }
    const std::optional<JsonView> entries = view.find(list);
    if (!entries || !entries->isArray() || entries->size() > most)
        return (entries ? *entries : view)
            .error("library.format", "not a list", fmt::format("\"{}\": an array of at most {} entries", list, most));
    return *entries;
}

} // namespace kvw
