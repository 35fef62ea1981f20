// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"

namespace kvw {

/// vLLM, tensor parallel, with ranks that share the tokens of a sequence (DCP); no pipeline or data parallelism yet.
///
/// Models whose layers form one cache group, with default settings, are sized by the closed form in vllm.cpp; all
/// others by the engine's own steps (vllm_spec, vllm_groups, vllm_sizing), with the figures of vllm_figures. Which rule
/// changed with which release is the table at Rules (vllm_generation.h). The rules were read in vllm-project/vllm, and
/// in neuralmagic/vllm@017e9f44 (upstream main of 2026-08-17), whose sizing code was run:
/// - page of a layer: block tokens × KV heads on the rank × (K width + V width) × bytes; a latent is one vector, never
///   divided; index keys of latent models are a cache of their own, 132 bytes for 128 elements;
/// - KV heads on a rank: max(1, heads ÷ TP), so heads are kept more than once when TP exceeds them;
/// - groups, blocks beside recurrent state, pages of one size: groupLayers(), modelOf();
/// - blocks: ⌊available ÷ bytes per block⌋, the smallest of all ranks; the null block is one of them;
/// - blocks per request: blocksPerRequest() of every group, summed; tokens in flight by batchesInFlight();
/// - concurrency as printed: blocks ÷ blocks per request, in doubles;
/// - tokens as printed: up to 0.20 ⌊blocks ÷ groups⌋ × smallest block; from 0.21 on trunc(concurrency × L);
/// - start-up check: blocks per request × bytes per block ≤ available, else refused.
/// Predictions and runs (layout()) cover models of one group without index keys.
class Vllm final : public EngineRules
{
public:
    std::string_view name() const override;
    std::string_view title() const override;
    EngineSizing size(const Plan& plan, const std::vector<GroupShape>& shape, PlanInputs& inputs) const override;
    Result<std::vector<std::int64_t>> plannedBlocks(const Plan& plan, PlanInputs& inputs) const override;
    Result<PoolLayout> layout(const Plan& plan, const std::vector<std::int64_t>& blocks) const override;
    CacheBehaviour behaviour(const Plan& plan) const override;
    std::int64_t defaultMaxBatchedTokens() const override;
    std::int64_t defaultMaxSequences() const override;
    Diagnostics diagnose(const Plan& plan) const override;
};

} // namespace kvw
