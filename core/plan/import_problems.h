// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"

#include <string>
#include <string_view>

namespace kvw {

/// True for an assumption that is a remark of the importer or of the library about the model: a doubt, a default that
/// was taken, something of the file that a planner should look at.
bool isImportRemark(const Assumption& assumption);

/// The plan field that a remark of the importer is about: the one that the remark names; else the one that was read
/// from the remark's place in the file (by its source); else the one that remarks of this kind are about. Always a
/// field of this plan, as long as it has a layer group or the remark is not about one.
std::string fieldOfRemark(const Plan& plan, std::string_view id, const std::string& path, const std::string& place);

/// The remarks as problems of the plan, each leading to its field. A default that was taken is a note, what the
/// importer could not vouch for a warning.
Diagnostics importProblems(const Plan& plan);

} // namespace kvw
