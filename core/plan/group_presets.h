// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "plan/plan.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvw {

/// A number that a preset needs, and where a group's present tensors may say it already.
struct PresetNumber
{
    std::string_view id; ///< "window"
    std::string_view title; ///< "Window"
    Unit unit = Unit::None;
    std::int64_t minimum = 1;
    std::int64_t maximum = 1;
    std::int64_t usual = 1; ///< taken where nothing carries over: a usual value, and an assumption then
    TensorRole role = TensorRole::Key; ///< of the tensor that says it
    std::string_view field {}; ///< the tensor's field that says it: "heads", "limit"; empty: none does
};

/// A usual way for layers to keep state, by which a group can be retyped.
struct GroupPreset
{
    std::string_view id; ///< "sliding", "mamba2"
    std::string_view title; ///< "Sliding window"
    LayerKind kind = LayerKind::Full;
    std::string_view keeps; ///< one sentence: the tensors that it sets, and how they grow
    std::span<const PresetNumber> numbers;
    /// The tensors, from the numbers in their order. None: the group reads another's state.
    std::vector<StateTensor> (*tensors)(std::span<const std::int64_t> numbers) = nullptr;

    bool readsOther() const { return tensors == nullptr; }
};

/// Full attention, sliding window, chunked, MLA (plain, sparse), compressed, linear attention, Mamba 1 and 2, cross
/// attention to an encoder and to images, and reading another group's state.
std::span<const GroupPreset> groupPresets();
/// The preset of that id, or null.
const GroupPreset* groupPreset(std::string_view id);

/// The numbers that the preset would start from in this group, in the preset's order.
struct PresetValue
{
    std::int64_t value = 0;
    std::string carriedFrom; ///< the plan field that says it; empty: the preset's usual value
};
/// REQUIRES that the group is in the plan.
std::vector<PresetValue> presetValues(const Plan& plan, std::string_view group, const GroupPreset& preset);

/// What retypeGroup() shall make of a group.
struct Retyping
{
    std::string preset; ///< id
    std::map<std::string, std::int64_t> numbers {}; ///< by id; one that is not there is as presetValues() has it
    std::string readsGroup {}; ///< of the preset "shared"
};

/// Gives the group the kind and the tensors of a preset. Layers, which they are, place and stage stay; of the tensors
/// what the preset has too: heads, widths and element types with their sources. A usual value that nobody stated is an
/// assumption of the plan. The name is kept only where somebody entered it. The plan is unchanged when it is refused:
/// plan.unknown_field (no such group or preset, or number), plan.range (a number), plan.reads (the group that is read
/// is none, or this group's own state is read by another).
Result<void> retypeGroup(Plan& plan, std::string_view group, const Retyping& retyping);

} // namespace kvw
