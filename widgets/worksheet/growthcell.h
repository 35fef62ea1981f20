// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "model/growth.h"
#include "models/paste.h"
#include "plan/plan.h"

#include <QString>

namespace kvw::gui {

/// What a growth law sets in the tensor of `field`: only what that has otherwise.
FieldCells::Edits growthEdits(const Plan& plan, const QString& field, const GrowthLaw& law);
/// True for what can only be a law: a number, or nothing, sets the law's own number.
bool isGrowthLaw(const QString& text);

} // namespace kvw::gui
