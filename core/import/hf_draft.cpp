// SPDX-FileCopyrightText: 2026 KV Workbench authors
// SPDX-License-Identifier: Apache-2.0

#include "import/hf_draft.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvw {

namespace {

constexpr std::int64_t mostDrafts = 64;

void note(const HfReading& reading, const DraftCount& drafts, std::string_view what)
{
    const std::string& pointer = drafts.layers.source.at;
    const std::string name = pointer.substr(pointer.rfind('/') + 1);
    reading.note("import.draft_layers",
        fmt::format("{} = {}: the state of draft layers {}.", name, drafts.layers.value, what), name);
}

} // namespace

Result<DraftCount> readDraftCount(const HfReading& reading)
{
    const HfFields& fields = reading.fields;
    const Result<std::optional<bool>> used = fields.flag("use_mtp");
    if (!used)
        return used.error();
    if (!used->value_or(true))
        return DraftCount {};
    const Result<std::optional<Stated>> modules = fields.integer({"num_mtp_modules"}, 0, mostDrafts);
    if (!modules)
        return modules.error();
    if (*modules) {
        const Result<std::optional<Stated>> each = fields.integer({"mtp_transformer_layers"}, 0, mostDrafts);
        if (!each)
            return each.error();
        Stated layers = **modules;
        if (*each) {
            layers.value *= (*each)->value;
            layers.source.note = "× mtp_transformer_layers";
        }
        return DraftCount {layers, true};
    }
    const Result<std::optional<Stated>> stated = fields.integer(
        {"num_nextn_predict_layers", "mtp_num_hidden_layers", "mtp_num_layers", "num_mtp_layers"}, 0, mostDrafts);
    if (!stated)
        return stated.error();
    return *stated ? DraftCount {**stated, true} : DraftCount {};
}

Result<void> addDraftGroups(
    const HfReading& reading, const DraftCount& drafts, const std::vector<LayerState>& states, std::int64_t first)
{
    LayerGroups groups;
    for (std::size_t i = 0; i < states.size(); ++i) {
        LayerState state = states[i];
        state.group.id = "draft";
        state.group.name = "Draft layers: " + state.group.name;
        state.group.readsGroup.clear();
        state.group.use = GroupUse::Speculation;
        state.sources["countsWhen"] = drafts.layers.source;
        const std::int64_t layer = std::min(first, mostLayers - static_cast<std::int64_t>(states.size()));
        if (const Result<void> added = groups.add(layer + static_cast<std::int64_t>(i), state, reading.fields); !added)
            return added;
    }
    groups.finish(reading.model, drafts.layers.source);
    note(reading, drafts, "counts only while speculation is on");
    return {};
}

void noteUnknownDrafts(const HfReading& reading, const DraftCount& drafts)
{
    note(reading, drafts, "is not stated; it is not counted");
}

} // namespace kvw
