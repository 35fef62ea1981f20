// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "engines/engine_rules.h"
#include "engines/vllm_model.h"

#include <string>
#include <vector>

namespace kvw::vllm {

/// A number that the engine's code fixes, or that its rule gives without a formula of its own.
Quantity ruleInput(const std::string& name, std::int64_t value, Unit unit, const char* at, std::string note = {});

/// The layers of one spec as figures. All of one layer on one rank, for one sequence, unless it says otherwise.
struct Member
{
    std::size_t spec = 0;
    std::string name; ///< of the worksheet's group
    Quantity layers;
    Quantity cacheGroups; ///< groups whose first layer has this spec
    Quantity idealWhole; ///< bytes of one sequence by the tensors, all heads
    Quantity idealRank; ///< the same, heads on the rank
    Quantity copies; ///< ranks that hold a token
    Quantity entry; ///< bytes of one stored entry by the tensors; of state: of one state
    Quantity record; ///< the same as the engine stores it
    Quantity perBlock; ///< stored entries of one block
    Quantity covered; ///< entries that the blocks must hold
    Quantity whole; ///< blocks for them
    Quantity blocks; ///< blocks of one request
    Quantity page;
    bool state = false;
};

/// What the figures of members are made from. Holds references: for one computation.
struct MemberContext
{
    const Plan& plan;
    const std::vector<GroupShape>& shape;
    PlanInputs& inputs;
    const PlanModel& model;
    const Sizing& sizing;
    Quantity tp;
    Quantity length; ///< configured maximum; without value where it is not stated
};

/// The figures of every spec of the model, in their order.
std::vector<Member> membersOf(const MemberContext& context);
/// Tokens of a block of the spec, after pages were made to fit together.
Quantity memberBlock(const MemberContext& context, std::size_t spec);
/// Ranks that share the tokens of a sequence.
Quantity contextRanksOf(PlanInputs& inputs);

} // namespace kvw::vllm
