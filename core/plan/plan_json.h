// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/json.h"
#include "plan/plan.h"
#include "units/file.h"

#include <string>

namespace kvw {

constexpr int planSchemaVersion = 1;

/// The plan as JSON text (.kvplan), from the field table: nested by the dots of the paths, collections as arrays of
/// objects with "id", fields that are not stated left out. Ends with a line feed; the same plan always gives the same
/// text.
std::string planToJson(const Plan& plan);

/// Reads what planToJson writes. Refused, with JSON pointer: another format, another schema version (by name, before
/// anything else is read), unknown fields, wrong types, values out of range, ids that are missing, malformed or used
/// twice. Error codes: plan.format, plan.schema_version, plan.unknown_field, plan.type, plan.range, plan.choice,
/// plan.id.
Result<Plan> planFromJson(const JsonDocument& document);

/// Reads a plan file. Errors: those of readJsonFile and planFromJson.
Result<Plan> loadPlan(const std::string& path);
/// Saves atomically: on failure the old file stays as it was. Errors: those of writeFileAtomically.
Result<void> savePlan(
    const Plan& plan, const std::string& path, const FileOperations& operations = systemFileOperations());

/// Layer groups as a plan's worksheet has them: an array of objects with "id". Errors: those of planFromJson.
Result<std::vector<LayerGroup>> groupsFromJson(const JsonView& view);

/// True when the document says it is a plan, whatever its version.
bool looksLikePlan(const JsonDocument& document);

} // namespace kvw
