// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

#include <string>

namespace kvw {

/// The keys and values of one kind of layer.
struct AttentionShape
{
    Stated heads;
    Stated keyWidth; ///< elements of a head
    Stated valueWidth;
};

/// Heads and widths as the family states or implies them. Assumptions lead to the group `group`. Errors:
/// import.missing_field, import.inconsistent, those of the JSON reader.
Result<AttentionShape> readAttentionShape(const HfReading& reading, const std::string& group);
/// The shape of sliding layers where they have one of their own (swa_* fields, attention_other_setting).
Result<AttentionShape> slidingShape(const HfReading& reading, AttentionShape shape);
/// The shape of full layers beside sliding ones where they have one of their own (global_head_dim,
/// num_global_key_value_heads).
Result<AttentionShape> globalShape(const HfReading& reading, AttentionShape shape);

/// Keys and values that grow by `growth`.
LayerState attentionState(LayerGroup group, const AttentionShape& shape, const GrowthLaw& growth);

} // namespace kvw
