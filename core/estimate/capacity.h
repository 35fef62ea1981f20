// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "estimate/estimate.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kvw {

/// How many sequences of one length fit at the same time, each of them that long and none sharing anything.
struct LengthCapacity
{
    std::int64_t length = 0;
    std::optional<Quantity> blocksEach; ///< of one sequence, by the engine's rule
    std::optional<Quantity> heldBlocks; ///< of the pool, those that are never given away
    std::optional<Quantity> usableBlocks; ///< of the pool, without those that are never given away
    std::optional<Quantity> engineSequences; ///< ⌊usable blocks ÷ blocks each⌋
    std::optional<Quantity> engineRatio; ///< the same before it is cut
    std::optional<Quantity> idealSequences; ///< ⌊available on all ranks ÷ ideal need of one⌋
    std::optional<Quantity> idealRatio; ///< the same before it is cut
    std::string missing; ///< why engineSequences is absent; empty when it is there

    /// Share of the usable blocks that so many sequences take; nothing without a pool.
    std::optional<double> shareOf(std::int64_t sequences) const;
};

/// The capacity of the plan if its configured maximum were `length`, exactly by the engine's rules. Errors as
/// estimate().
Result<LengthCapacity> capacityAt(const Plan& plan, std::int64_t length);

/// Lengths for a table: powers of two from 1,024 (or less, where the longest is less) up to the longest sequence that
/// the plan knows of, that one and the configured maximum; ascending.
std::vector<std::int64_t> capacityLengths(const Plan& plan);

/// A change of one field and what it does to the capacity at the configured maximum.
struct LimitMove
{
    std::string title;
    std::string path; ///< of the field
    std::string value; ///< as setField() takes it
    std::int64_t sequences = 0;
};
/// Changes that a planner would think of first, of those that change the figure. Empty without a pool.
std::vector<LimitMove> limitMoves(const Plan& plan);

/// Ideal bytes of the planned sequences when each has so many tokens, by layer group, [group][length]. Errors:
/// estimate.overflow; estimate.not_stated without element type.
Result<std::vector<std::vector<std::int64_t>>> bytesOverTokens(const Plan& plan, std::span<const std::int64_t> lengths);

} // namespace kvw
