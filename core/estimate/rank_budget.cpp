// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "estimate/rank_budget.h"

namespace kvw {

std::vector<BudgetPart> rankBudget(const Plan& plan, const EngineSizing& sizing, const PlanInputs& inputs)
{
    std::vector<BudgetPart> out;
    const auto add = [&](const char* id, const char* title, const Quantity& bytes) {
        if (bytes.ok())
            out.push_back({id, title, named(bytes, title, Unit::Byte)});
    };
    if (plan.loaded.weightBytes && !sizing.ranks.empty()) {
        const Quantity ranks
            = plan.deployment.tp ? inputs.number("deployment.tp", "tensor-parallel ranks") : constant(1);
        add("weights", "weights on the rank", ceilDivide(inputs.number("loaded.weightBytes"), ranks));
    }
    if (plan.budget.activationBytes)
        add("activation", "activation peak", inputs.number("budget.activationBytes"));
    if (plan.budget.otherBytes)
        add("other", "other", inputs.number("budget.otherBytes"));
    if (sizing.poolBytes && sizing.poolBytes->ok()) {
        add("pool", "pool", *sizing.poolBytes);
        if (sizing.availableBytes && sizing.availableBytes->ok())
            add("remainder", "left over by the division into blocks", *sizing.availableBytes - *sizing.poolBytes);
    }
    if (!plan.deployment.memoryBytes)
        return out;
    const Quantity memory = inputs.number("deployment.memoryBytes");
    if (plan.budget.utilization && !plan.budget.kvBytesPerRank)
        add("outside", "not for the engine", memory - truncate(scale(memory, inputs.number("budget.utilization"))));
    std::vector<Quantity> known;
    for (const BudgetPart& part : out)
        known.push_back(part.bytes);
    const Quantity rest = memory - sum(known);
    if (rest.ok() && rest.integer() != 0)
        add("unaccounted", "not accounted for", rest);
    return out;
}

} // namespace kvw
