// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kvw {

// Edits of whole layer groups. Each leaves the plan as it was when it is refused. What a field said about its source
// stays with it; the layers of a group that was split or merged are the user's.

/// A copy of the group, right behind it, with the sources of its fields. Which layers it has is not stated: those are
/// taken. Returns the new id. Errors: plan.unknown_field, plan.range (no room for one more).
Result<std::string> duplicateGroup(Plan& plan, std::string_view group);

/// Moves the last `layers` of the group into a new one right behind it that keeps the same state. Where the group says
/// which layers it has, both say it afterwards. Returns the new id. Errors: plan.unknown_field, plan.range (one of the
/// two would have no layer; no room for one more), plan.layers (the layers that are listed are not as many).
Result<std::string> splitGroup(Plan& plan, std::string_view group, std::int64_t layers);
/// The same for the layers that are named, as ranges ("0-34:2"). Errors beside those: layers.syntax, plan.layers (the
/// group does not say which layers it has, or has others).
Result<std::string> splitGroupAt(Plan& plan, std::string_view group, std::string_view layers);

/// Makes one group of several, in the place and under the id of the first. REQUIRES nothing of the order in which they
/// are named. Groups that read the state of one of them read the whole. Errors: plan.unknown_field; plan.merge where
/// they are fewer than two, or keep different state, by the field that differs; plan.layers where a layer is in two of
/// them, or only some say which layers they have; plan.range for too many layers.
Result<void> mergeGroups(Plan& plan, std::span<const std::string> groups);

/// Moves the group to `position` in the order of the worksheet (0: first). Errors: plan.unknown_field, plan.range.
Result<void> moveGroup(Plan& plan, std::string_view group, std::size_t position);
/// The same for a tensor of a group.
Result<void> moveTensor(Plan& plan, std::string_view group, std::string_view tensor, std::size_t position);

/// Gives a tensor another id, and its sources and assumptions with it. Errors: plan.unknown_field, plan.id (malformed,
/// or taken).
Result<void> renameTensor(Plan& plan, std::string_view group, std::string_view tensor, std::string_view id);

/// Position of a group in the worksheet. Error: plan.unknown_field.
Result<std::size_t> groupPosition(const Plan& plan, std::string_view group);

} // namespace kvw
