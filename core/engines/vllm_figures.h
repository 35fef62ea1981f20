// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"

namespace kvw::vllm {

/// Whether a plan needs the sizing of several kinds of layers: it has more than one cache per layer or more than one
/// kind, states a setting that decides batches, blocks or the length, or shares the tokens of a sequence over ranks.
bool needsGroups(const Plan& plan);

/// The sizing of a plan with caches of any kinds, as figures with their derivations. Fills `out`, whose name, version
/// and rules are set.
///
/// The lines from ideal to engine need, summed over the kinds of layers, for n layers, S sequences, T tensor-parallel
/// ranks of which D share the tokens of a sequence:
/// - replication: what more than one rank keeps
/// - in_flight: tokens in flight beyond the window, rounding of the shares of D ranks, draft rows of convolutions
/// - record_layout: scales and other bytes that the engine stores with an entry
/// - page_rounding: the unused end of the last block
/// - spare_blocks: one block more, since a window may begin inside one
/// - state_slots: further states of one request
/// - page_padding: pages made as large as the largest
/// - padding_layers: places in cache groups that no layer takes
void sizeGroups(const Plan& plan, const std::vector<GroupShape>& shape, PlanInputs& inputs, EngineSizing& out);

} // namespace kvw::vllm
