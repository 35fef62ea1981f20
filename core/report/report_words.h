// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"
#include "report/document.h"

#include <string>
#include <string_view>

namespace kvw {

// How the report says what it says: one wording for all sections.

/// "◇ bf16" where the field was not stated but assumed, else the text as it is.
std::string marked(const Plan& plan, std::string_view path, const std::string& text);
bool isAssumed(const Plan& plan, std::string_view path);

/// A field's title by its path, "Cache element type" for "cache.elementType"; the path where there is no such field.
std::string fieldTitle(std::string_view path);
/// The name of a tenant, or its id.
std::string tenantName(const Plan* plan, const std::string& id);
/// The name of a layer group, or its id.
std::string groupName(const Plan* plan, const std::string& id);

/// "2026-11-30 18:09 UTC" for "2026-11-30T18:09:02Z"; other texts as they are.
std::string stampText(const std::string& iso);
/// "run 1" for "run1".
std::string runText(const std::string& id);
/// A share with one decimal: "1.4 %".
std::string percentText(double share);
/// "1 sequence", "12 sequences".
std::string counted(std::int64_t count, std::string_view one, std::string_view more);

/// Where a figure is from, without the paths of fields.
std::string sourceForReaders(const Source& source);

/// Every text of the document with apostrophes as printers set them.
void setTypographically(Document& document);

} // namespace kvw
