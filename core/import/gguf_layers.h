// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/gguf_arch.h"
#include "import/gguf_fields.h"
#include "model/model_spec.h"

namespace kvw {

/// Adds the layer groups that llama.cpp would make caches for to `model`, with provenance, assumptions and diagnostics.
/// Errors: import.missing_field, import.inconsistent, import.unsupported, gguf.value_*.
Result<void> addGgufLayerGroups(const GgufFields& fields, const GgufArch& arch, ModelSpec& model);

} // namespace kvw
