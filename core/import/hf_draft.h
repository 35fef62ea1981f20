// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "import/hf_reading.h"

#include <vector>

namespace kvw {

/// Draft layers (multi-token prediction) that a file states.
struct DraftCount
{
    Stated layers; ///< 0: none
    bool stated = false;
};

/// How many draft layers there are: num_mtp_modules × mtp_transformer_layers, num_nextn_predict_layers or
/// mtp_num_hidden_layers. Errors: those of the JSON reader.
Result<DraftCount> readDraftCount(const HfReading& reading);

/// Adds draft layers to the model as groups that count only while speculation is on. `states`: what each of them keeps;
/// `first`: number of the first, after the trunk's.
Result<void> addDraftGroups(
    const HfReading& reading, const DraftCount& drafts, const std::vector<LayerState>& states, std::int64_t first);

/// Says that there are draft layers whose state is not known.
void noteUnknownDrafts(const HfReading& reading, const DraftCount& drafts);

} // namespace kvw
