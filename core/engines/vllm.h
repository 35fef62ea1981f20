// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"

namespace kvw {

/// vLLM, for models whose layers form one cache group (every layer keeps the same kind of state), tensor parallel only.
///
/// Rules (read in vllm-project/vllm, and in neuralmagic/vllm@017e9f44, upstream main of 2026-08-17, whose sizing code
/// was run):
/// - page of a layer: block tokens × KV heads on the rank × (K width + V width) × bytes; a latent is one head, never
/// divided;
/// - KV heads on a rank: max(1, heads ÷ TP), so heads are kept more than once when TP exceeds them;
/// - blocks: ⌊available ÷ bytes per block⌋, bytes per block = sum of the layers' pages; the null block is one of them;
/// - blocks per request at length L: ⌈L ÷ block⌉; for sliding layers ⌈min(window − 1 + F, L) ÷ block⌉ + 1 with F the
/// tokens in
///   flight: one batch up to 0.24, two (asynchronous scheduling) from 0.25 on;
/// - concurrency as printed: blocks ÷ blocks per request, in doubles;
/// - tokens as printed: up to 0.20 blocks × block; from 0.21 on trunc(concurrency × L);
/// - start-up check: blocks per request × bytes per block ≤ available, else refused; the largest length is a block
/// multiple. PP, DP and models with several groups are refused here.
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
