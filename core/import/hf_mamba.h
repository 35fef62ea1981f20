// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

namespace kvw {

/// What layers of Mamba (1 or 2, by the family's mixer) keep; readMixerState() says how. Errors as there.
Result<LayerState> readMambaState(const HfReading& reading);

} // namespace kvw
