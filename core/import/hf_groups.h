// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

namespace kvw {

/// Adds the layer groups of a configuration to its model, with provenance, assumptions and diagnostics. REQUIRES that
/// the model's dtype and maximumPositions are read. Errors: import.unsupported, import.missing_field,
/// import.inconsistent, those of the JSON reader.
Result<void> addLayerGroups(const HfReading& reading);

} // namespace kvw
