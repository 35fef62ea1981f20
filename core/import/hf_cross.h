// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_attention.h"

namespace kvw {

/// What a layer keeps of the sequence that it reads beside or instead of its own: keys and values of the encoder's or
/// the image's tokens, written once. The longest such sequence that the file states goes to the model (encoderTokens,
/// imageTokens). REQUIRES family.crossRule != CrossRule::None. Errors: those of the JSON reader.
Result<LayerState> readCrossState(const HfReading& reading, const AttentionShape& shape);

} // namespace kvw
