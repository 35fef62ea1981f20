// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"

namespace kvw {

/// "No engine (shape only)": what the tensors hold, and nothing that an engine adds.
///
/// It has no sharding rule, so it refuses per-rank figures. For predictions and live runs it lays out one rank with one
/// pool per layer group, each with room for the planned sequences: an arrangement for running, not an engine's.
class NoEngine final : public EngineRules
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
