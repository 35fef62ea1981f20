// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"

#include <string>
#include <string_view>

namespace kvw {

/// True for what may be the id of an element: letters, digits, '-' and '_', at most 64 of them.
bool isElementId(std::string_view id);

/// Adds an element to a list of the plan: "tenants", "worksheet.groups", "worksheet.groups.full.tensors". An empty
/// `like` makes a new one with the table's defaults; else it is a copy of the element with that id, with the sources of
/// its fields. Returns the new element's path. Errors: plan.unknown_field, plan.id (malformed, or taken), plan.range
/// (the list is full); the plan is unchanged then.
Result<std::string> addElement(Plan& plan, std::string_view list, std::string_view id, std::string_view like = {});

/// Removes the element at "tenants.acme", "worksheet.groups.full" or "worksheet.groups.full.tensors.k", with the
/// sources and assumptions of its fields. Error: plan.unknown_field; the plan is unchanged then.
Result<void> removeElement(Plan& plan, std::string_view path);

/// An id that is not taken in the list, made from `stem`: "tenant", "tenant2", "tenant3" … REQUIRES that the list
/// exists and `stem` is an id.
std::string freeElementId(const Plan& plan, std::string_view list, std::string_view stem);

} // namespace kvw
