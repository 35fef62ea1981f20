// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "plan/field_table.h"

#include "plan/choices.h"
#include "units/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kvw {

namespace {

template <typename... Cases>
struct Overload : Cases...
{
    using Cases::operator()...;
};
template <typename... Cases>
Overload(Cases...) -> Overload<Cases...>;

/// How many single edits part two words, for "did you mean".
std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

Error unknownField(Plan& plan, std::string_view path)
{
    constexpr std::size_t longestGuess = 200; // what is longer is no slip of the finger
    std::string best;
    std::size_t bestDistance = path.size() > longestGuess ? 0 : path.size() / 2 + 1;
    forEachField(plan, [&](const FieldReference& reference) {
        const std::size_t distance = editDistance(path, reference.path);
        if (distance < bestDistance) {
            bestDistance = distance;
            best = reference.path;
        }
    });
    Error error {"plan.unknown_field", "there is no such field in this plan", {{}, std::string(path)}};
    if (!best.empty())
        error.message += fmt::format("; did you mean {}?", best);
    return error;
}

std::optional<FieldReference> findIn(
    const FieldTable& table, void* object, std::string_view whole, std::string_view rest)
{
    for (const Field& field : table.fields) {
        if (field.path == rest)
            return FieldReference {&field, field.slot(object), std::string(whole)};
    }
    for (const Collection& collection : table.collections) {
        if (!rest.starts_with(collection.path) || rest.size() <= collection.path.size()
            || rest[collection.path.size()] != '.')
            continue;
        const std::string_view below = rest.substr(collection.path.size() + 1);
        const std::size_t dot = below.find('.');
        if (dot == std::string_view::npos)
            return std::nullopt;
        for (std::size_t i = 0; i < collection.size(object); ++i) {
            void* element = collection.at(object, i);
            if (*collection.id(element) == below.substr(0, dot))
                return findIn(*collection.elements, element, whole, below.substr(dot + 1));
        }
    }
    return std::nullopt;
}

void visitAll(const FieldTable& table, void* object, const std::string& prefix,
    const std::function<void(const FieldReference&)>& visit)
{
    for (const Field& field : table.fields)
        visit({&field, field.slot(object), prefix + std::string(field.path)});
    for (const Collection& collection : table.collections) {
        for (std::size_t i = 0; i < collection.size(object); ++i) {
            void* element = collection.at(object, i);
            visitAll(*collection.elements, element,
                fmt::format("{}{}.{}.", prefix, collection.path, *collection.id(element)), visit);
        }
    }
}

std::string withUnit(const Field& field, std::int64_t value)
{
    if (isByteUnit(field.unit))
        return format(Bytes(value));
    const std::string_view unit = unitName(field.unit);
    return grouped(value) + (unit.empty() ? "" : " ") + std::string(unit);
}

Error rangeError(const FieldReference& reference, std::string found)
{
    const Field& field = *reference.field;
    return Error {"plan.range", "the value is outside the field's range", {{}, reference.path}, std::move(found),
        field.unit == Unit::Ratio ? fmt::format("{} to {}, or a percentage: {} % to {} %", field.minimum, field.maximum,
            100 * field.minimum, 100 * field.maximum)
            : field.maximum == INT64_MAX ? withUnit(field, field.minimum) + " or more"
                                         : withUnit(field, field.minimum) + " to " + withUnit(field, field.maximum)};
}

/// "8 192 tokens" as "8,192": the unit that a field shows may be typed with the number, and groups may be parted by
/// spaces.
std::string plainNumber(const Field& field, std::string_view text)
{
    const std::string_view unit = unitName(field.unit);
    while (!text.empty() && text.back() == ' ')
        text.remove_suffix(1);
    for (const std::string_view word : {unit, unit.substr(0, unit.size() - (unit.ends_with('s') ? 1 : 0))}) {
        if (word.empty() || !text.ends_with(word))
            continue;
        const std::string_view number = text.substr(0, text.size() - word.size());
        if (!number.empty() && (number.back() == ' ' || (number.back() >= '0' && number.back() <= '9'))) {
            text = number;
            break;
        }
    }
    std::string out(text);
    for (const std::string_view space : {"\xc2\xa0", "\xe2\x80\xaf"}) { // no-break, and narrow no-break
        for (std::size_t at = out.find(space); at != std::string::npos; at = out.find(space))
            out.replace(at, space.size(), " ");
    }
    const auto digit = [&](std::size_t i) { return i < out.size() && out[i] >= '0' && out[i] <= '9'; };
    for (std::size_t i = 1; i + 1 < out.size(); ++i) {
        if (out[i] == ' ' && digit(i - 1) && digit(i + 1))
            out[i] = ',';
    }
    return out;
}

Result<std::int64_t> wholeNumber(const FieldReference& reference, std::string_view text)
{
    const Field& field = *reference.field;
    Result<std::int64_t> value = 0;
    if (field.unit == Unit::Byte) {
        const Result<Bytes> bytes = parseBytes(plainNumber(field, text));
        value = bytes ? Result<std::int64_t>(bytes->value) : Result<std::int64_t>(bytes.error());
    } else {
        value = parseCount(plainNumber(field, text));
    }
    if (!value && value.error().code == "number.range")
        return rangeError(reference, std::string(text));
    if (!value) {
        return Error {"plan.type", "not a value for this field", {{}, reference.path}, fmt::format("\"{}\"", text),
            value.error().expected};
    }
    if (*value < field.minimum || *value > field.maximum)
        return rangeError(reference, std::string(text));
    return value;
}

Error notClearable(const FieldReference& reference)
{
    return Error {"plan.not_clearable", "this field always has a value", {{}, reference.path}, "\"\""};
}

Result<void> assignChoice(const FieldReference& reference, std::uint8_t* choice, std::string_view text)
{
    const std::span<const std::string_view> names = reference.field->choices;
    if (text.empty() && !names[0].empty())
        return notClearable(reference);
    std::string expected;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == text) {
            *choice = static_cast<std::uint8_t>(i);
            return {};
        }
        if (!names[i].empty())
            expected += (expected.empty() ? "" : ", ") + std::string(names[i]);
    }
    return Error {
        "plan.choice", "not one of the field's choices", {{}, reference.path}, fmt::format("\"{}\"", text), expected};
}

/// True when the text can be saved: JSON holds nothing but UTF-8.
bool isUtf8(std::string_view text)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const unsigned char first = byte(i);
        const std::size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
        if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || text.size() - i <= more)
            return false;
        for (std::size_t k = 1; k <= more; ++k) {
            if ((byte(i + k) & 0xc0) != 0x80)
                return false;
        }
        // Longer forms than needed, halves of surrogate pairs, beyond the last character.
        const unsigned char second = more > 0 ? byte(i + 1) : 0x80;
        if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90)
            || (first == 0xf4 && second >= 0x90))
            return false;
        i += more + 1;
    }
    return true;
}

} // namespace

Result<FieldReference> findField(Plan& plan, std::string_view path)
{
    if (std::optional<FieldReference> found = findIn(planFields(), &plan, path, path))
        return *found;
    return unknownField(plan, path);
}

void forEachField(const Plan& plan, const std::function<void(const FieldReference&)>& visit)
{
    // Slots are for reading here; the table knows only the writable form.
    visitAll(planFields(), const_cast<Plan*>(&plan), {}, visit);
}

std::vector<std::pair<std::string, const Field*>> fieldPaths()
{
    std::vector<std::pair<std::string, const Field*>> out;
    const auto add = [&](const auto& self, const FieldTable& table, const std::string& prefix) -> void {
        for (const Field& field : table.fields)
            out.emplace_back(prefix + std::string(field.path), &field);
        for (const Collection& collection : table.collections)
            self(self, *collection.elements, fmt::format("{}{}.<{}>.", prefix, collection.path, collection.title));
    };
    add(add, planFields(), {});
    return out;
}

std::string fieldRange(const Field& field)
{
    switch (field.type) {
    case FieldType::Text:
        return "text";
    case FieldType::Choice: {
        std::string out;
        for (const std::string_view name : field.choices) {
            if (!name.empty())
                out += (out.empty() ? "" : ", ") + std::string(name);
        }
        return out;
    }
    case FieldType::Real:
        return fmt::format("a number, {} to {}", field.minimum, field.maximum);
    case FieldType::Integer:
    case FieldType::Count:
        break;
    }
    const char* kind = isByteUnit(field.unit) ? "a size" : "a whole number";
    return field.maximum == INT64_MAX
        ? fmt::format("{}, {} or more", kind, withUnit(field, field.minimum))
        : fmt::format("{}, {} to {}", kind, withUnit(field, field.minimum), withUnit(field, field.maximum));
}

std::string_view fieldTypeName(FieldType type)
{
    static constexpr std::array<std::string_view, 5> names {"text", "integer", "count", "real", "choice"};
    return names[static_cast<std::size_t>(type)];
}

bool isStated(const FieldSlot& slot)
{
    return std::visit(Overload {
                          [](const std::string* text) { return !text->empty(); },
                          [](const std::optional<std::int64_t>* value) { return value->has_value(); },
                          [](const std::int64_t*) { return true; },
                          [](const std::optional<double>* value) { return value->has_value(); },
                          [](const std::uint8_t* choice) { return *choice != 0; },
                      },
        slot);
}

std::string fieldText(const Field& field, const FieldSlot& slot)
{
    return std::visit(
        Overload {
            [](const std::string* text) { return *text; },
            [](const std::optional<std::int64_t>* value) {
                return *value ? fmt::format("{}", **value) : std::string();
            },
            [](const std::int64_t* value) { return fmt::format("{}", *value); },
            [](const std::optional<double>* value) { return *value ? fmt::format("{}", **value) : std::string(); },
            [&](const std::uint8_t* choice) {
                return *choice < field.choices.size() ? std::string(field.choices[*choice]) : std::string();
            },
        },
        slot);
}

std::string fieldDisplay(const Field& field, const FieldSlot& slot)
{
    const std::string text = fieldText(field, slot);
    if (text.empty())
        return "not stated";
    if (field.type == FieldType::Choice)
        return std::string(choiceTitle(field.choices, *std::get<std::uint8_t*>(slot)));
    if (field.type != FieldType::Integer && field.type != FieldType::Count)
        return text;
    const std::int64_t value = std::visit(Overload {
                                              [](const std::optional<std::int64_t>* v) { return **v; },
                                              [](const std::int64_t* v) { return *v; },
                                              [](const auto*) { return std::int64_t {0}; },
                                          },
        slot);
    return withUnit(field, value);
}

Result<void> assignField(const FieldReference& reference, std::string_view text)
{
    return std::visit(Overload {
                          [&](std::string* value) -> Result<void> {
                              if (!isUtf8(text))
                                  return Error {"plan.type", "the text is not UTF-8", {{}, reference.path}};
                              *value = text;
                              return {};
                          },
                          [&](std::optional<std::int64_t>* value) -> Result<void> {
                              if (text.empty()) {
                                  value->reset();
                                  return {};
                              }
                              const Result<std::int64_t> parsed = wholeNumber(reference, text);
                              if (!parsed)
                                  return parsed.error();
                              *value = *parsed;
                              return {};
                          },
                          [&](std::int64_t* value) -> Result<void> {
                              if (text.empty())
                                  return notClearable(reference);
                              const Result<std::int64_t> parsed = wholeNumber(reference, text);
                              if (!parsed)
                                  return parsed.error();
                              *value = *parsed;
                              return {};
                          },
                          [&](std::optional<double>* value) -> Result<void> {
                              if (text.empty()) {
                                  value->reset();
                                  return {};
                              }
                              const Result<double> parsed = parseReal(text);
                              if (!parsed) {
                                  return Error {"plan.type", "not a value for this field", {{}, reference.path},
                                      parsed.error().found, parsed.error().expected};
                              }
                              if (*parsed < static_cast<double>(reference.field->minimum)
                                  || *parsed > static_cast<double>(reference.field->maximum))
                                  return rangeError(reference, std::string(text));
                              *value = *parsed;
                              return {};
                          },
                          [&](std::uint8_t* choice) { return assignChoice(reference, choice, text); },
                      },
        reference.slot);
}

namespace {

/// The name of a choice that is given as people read it ("mutual TLS subject"); any other text as it is.
std::string_view choiceName(const Field& field, std::string_view text)
{
    const std::span<const std::string_view> titles = choiceTitles(field.choices);
    const auto found = std::find(titles.begin(), titles.end(), text);
    return text.empty() || found == titles.end() ? text
                                                 : field.choices[static_cast<std::size_t>(found - titles.begin())];
}

} // namespace

Result<void> setField(Plan& plan, std::string_view path, std::string_view text)
{
    const Result<FieldReference> reference = findField(plan, path);
    if (!reference)
        return reference.error();
    Result<void> assigned = assignField(*reference, choiceName(*reference->field, text));
    if (!assigned)
        return assigned;
    const std::string key(path);
    if (text.empty())
        plan.provenance.remove(key);
    else
        plan.provenance.set(key, Source {Source::Kind::User, "entered", key});
    std::erase_if(plan.assumptions, [&](const Assumption& assumption) { return assumption.path == key; });
    return {};
}

} // namespace kvw
