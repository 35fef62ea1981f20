// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

namespace kvw {

/// What a layer of the family's mixer keeps for each sequence, however long: a matrix per head that is overwritten in
/// place, and the last inputs of a short convolution (kernel − 1 of them, as vLLM and MLX keep; transformers keeps one
/// more). Shapes are unsharded; heads are what tensor parallelism divides. The convolution's inputs have the model's
/// element type, the matrix the one that the file states for it, else the model's; neither follows the cache's.
/// Shapes: vLLM's mamba_utils and each class's configuration file.
/// REQUIRES family.mixer != Mixer::None and that model.dtype is read. Errors: import.missing_field,
/// import.inconsistent, import.unsupported, those of the JSON reader.
Result<LayerState> readMixerState(const HfReading& reading);

} // namespace kvw
