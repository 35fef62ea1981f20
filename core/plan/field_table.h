// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"
#include "units/result.h"
#include "units/unit.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kvw {

/// Where a field's value lives. Empty text, an empty optional and choice 0 are "not stated".
using FieldSlot
    = std::variant<std::string*, std::optional<std::int64_t>*, std::int64_t*, std::optional<double>*, std::uint8_t*>;

enum class FieldType : std::uint8_t {
    Text,
    Integer, ///< may be not stated
    Count, ///< an integer that is always stated
    Real,
    Choice,
};

/// One field: what it is called, what it may hold, how to reach it. The one table serves JSON, JSON Schema, --set,
/// worksheet columns, undo names, diagnostics and help.
struct Field
{
    std::string_view path; ///< last part for fields of collections: "layers"
    FieldType type = FieldType::Text;
    Unit unit = Unit::None;
    std::int64_t minimum = 0; ///< Integer and Count; for Real the range is [minimum, maximum] too
    std::int64_t maximum = INT64_MAX;
    /// Choice: names by value, the first may be "" for not stated; as people read them: choiceTitle() (plan/choices.h).
    std::span<const std::string_view> choices {};
    std::string_view title {};
    std::string_view help {}; ///< one or two sentences; the help id is the path
    FieldSlot (*slot)(void* object) = nullptr;
};

struct Collection;

/// The fields of one kind of object, and the collections inside it.
struct FieldTable
{
    std::span<const Field> fields;
    std::span<const Collection> collections;
};

/// A list of objects of one kind, each with an id that is unique in the list: "tenants", "worksheet.groups".
struct Collection
{
    std::string_view path;
    std::string_view title; ///< of one element: "tenant"
    const FieldTable* elements;
    std::size_t maximumSize;
    std::size_t (*size)(const void* object);
    void* (*at)(void* object, std::size_t index);
    std::string* (*id)(void* element);
    void* (*append)(void* object);
    void (*erase)(void* object, std::size_t index);
};

/// The table of a plan.
const FieldTable& planFields();

/// A field found by its path in one plan.
struct FieldReference
{
    const Field* field = nullptr;
    FieldSlot slot {};
    std::string path; ///< whole: "worksheet.groups.full.layers"
};

/// Finds "deployment.tp", "tenants.acme.sharingGroup", "worksheet.groups.full.tensors.k.heads". Errors:
/// plan.unknown_field with the nearest names.
Result<FieldReference> findField(Plan& plan, std::string_view path);

/// Calls `visit` for every field of the plan in the table's order.
void forEachField(const Plan& plan, const std::function<void(const FieldReference&)>& visit);

/// Every field of any plan with its path, "<tenant>" standing for the id of one: "tenants.<tenant>.sharingGroup".
std::vector<std::pair<std::string, const Field*>> fieldPaths();
/// What the field may hold, for people: "a size, 0 B or more", "full, sliding, chunked …".
std::string fieldRange(const Field& field);
std::string_view fieldTypeName(FieldType type); ///< "text", "integer", "count", "real", "choice"

bool isStated(const FieldSlot& slot);
/// The value as --set would read it back; "" when not stated.
std::string fieldText(const Field& field, const FieldSlot& slot);
/// The value for people: units, groups of three, titles of choices, "not stated".
std::string fieldDisplay(const Field& field, const FieldSlot& slot);

/// Sets a field from text (6.51GiB, 32k; a choice's name or title; "" clears) and records the user as its source.
/// Errors: plan.unknown_field, plan.type, plan.range, plan.choice, plan.not_clearable; the plan is unchanged then.
Result<void> setField(Plan& plan, std::string_view path, std::string_view text);
/// The same without recording a source, for readers.
Result<void> assignField(const FieldReference& reference, std::string_view text);

} // namespace kvw
