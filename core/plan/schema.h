// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

namespace kvw {

/// The JSON Schema (draft 2020-12) of plan files, made from the field table: what planFromJson takes. It cannot say
/// what lies between fields (unique ids in a list), only what each may hold. Ends with a line feed.
std::string planSchemaJson();

} // namespace kvw
